//go:build cgo

package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
)

// guard is the number of bytes behind each slot of a buffer that no operation may touch.
const guard = 64

// trial is one case on one rank: buffers that are filled, and compared byte by byte after the operation.
type trial struct {
	coll.Case
	Rank  int
	Slots int // operations side by side, each on a place of its own in both buffers
	// Scratch: of an operation in place, what is not the result is the library's to use.
	Scratch bool
}

// Strides are the bytes from one slot to the next. In place there is one buffer, and it holds the larger of the two.
func (t trial) Strides() (send, recv int64) {
	in, out := t.bytes()
	if t.Placement == coll.InPlace {
		out = max(in, out)
	}
	return in + guard, out + guard
}

func (t trial) bytes() (in, out int64) {
	size := int64(t.Type.Size())
	return t.SendCount(t.Rank) * size, t.RecvCount(t.Rank) * size
}

// Run allocates and fills the buffers, has operate do one operation on each slot, and compares. recv is nil where the
// rank has no output and the operation is not in place.
func (t trial) Run(operate func(send, recv unsafe.Pointer) error) error {
	a, b := t.Strides()
	send, err1 := loop.AllocBuffer(a * int64(t.Slots))
	recv, err2 := loop.AllocBuffer(b * int64(t.Slots))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	defer func() { _, _ = send.Free(), recv.Free() }()
	wantSend, wantRecv := t.fill(send.Bytes(), recv.Bytes())
	to := recv.Pointer()
	if t.RecvCount(t.Rank) == 0 && t.Placement != coll.InPlace {
		to = nil
	}
	if err := operate(send.Pointer(), to); err != nil {
		return err
	}
	t.disregardScratch(recv.Bytes(), wantRecv)
	if err := differ(send.Bytes(), wantSend); err != nil {
		return fmt.Errorf("rank %d: the input was changed: %w", t.Rank, err)
	}
	if err := differ(recv.Bytes(), wantRecv); err != nil {
		return fmt.Errorf("rank %d: the output: %w", t.Rank, err)
	}
	return nil
}

// inputAt is the byte at which the input of an operation in place lies in its slot.
func (t trial) inputAt() int64 {
	if t.Collective == coll.AllGather || t.Collective == coll.Gather && t.Rank == t.Root {
		return int64(t.Rank) * t.Count * int64(t.Type.Size())
	}
	return 0
}

// fill puts the inputs where the operation takes them, and something else everywhere else. It returns what the buffers
// must hold afterwards.
func (t trial) fill(send, recv []byte) (wantSend, wantRecv []byte) {
	poison(send)
	poison(recv)
	wantSend, wantRecv = bytes.Clone(send), bytes.Clone(recv)
	sendStride, recvStride := t.Strides()
	for slot := range t.Slots {
		a, b := int64(slot)*sendStride, int64(slot)*recvStride
		given := encode(t.Type, input(t.Case, t.Rank, slot))
		if t.Placement == coll.InPlace {
			copy(recv[b+t.inputAt():], given)
			copy(wantRecv[b+t.inputAt():], given)
		} else {
			copy(send[a:], given)
			copy(wantSend[a:], given)
		}
		copy(wantRecv[b:], encode(t.Type, output(t.Case, t.Rank, slot)))
	}
	return wantSend, wantRecv
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}

// disregardScratch sets the expected content of the library's own part to the actual one.
func (t trial) disregardScratch(got, want []byte) {
	in, out := t.bytes()
	if !t.Scratch || t.Placement != coll.InPlace || in <= out {
		return
	}
	_, stride := t.Strides()
	for slot := range t.Slots {
		b := int64(slot) * stride
		copy(want[b+out:b+in], got[b+out:])
	}
}

// differ shows the first bytes in which two buffers differ.
func differ(got, want []byte) error {
	for i := range got {
		if got[i] != want[i] {
			end := min(i+32, len(got))
			return fmt.Errorf("from byte %d of %d on it is\n%x, expected\n%x", i, len(got), got[i:end], want[i:end])
		}
	}
	return nil
}
