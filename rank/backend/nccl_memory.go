package backend

import (
	"errors"
	"fmt"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/bench"
	"busbar/internal/notice"
	"busbar/rank/exit"
)

// Room implements backend.
func (b *ncclBackend) Room() (float64, notice.MemoryLimit, error) {
	if b.l.Simulated() {
		return b.w.Memory.HostRoom(0)
	}
	free, _, err := b.l.gpu.Memory()
	if err != nil {
		return 0, notice.MemoryLimit{}, err
	}
	return b.w.Memory.DeviceRoom("the memory of GPU "+b.l.ranks[b.l.h.Rank].UUID, free)
}

// Ready implements Backend: the buffers become known to the communicator where that is asked for.
func (b *ncclBackend) Ready() error {
	if err := b.register(b.comm.Comm); err != nil {
		return exit.With(exit.Environment, fmt.Errorf("--register %s: %w", b.l.h.Options.GPU.Register, err))
	}
	return nil
}

// ncclBuffers are the memory of this rank's GPU in which cases lie.
type ncclBuffers struct {
	l     *ncclLibrary
	mover *cudart.Mover  // fills and compares it
	area  cudart.Pointer // the input and, from a page of its own, the output of the case in hand
	bytes int64

	registered nccl.Registration
}

// Reserve implements backend.
func (b *ncclBuffers) Reserve(bytes int64) (err error) {
	if err := b.release(); err != nil {
		return err
	}
	want := max(PageBytes, bytes)
	if b.l.h.Options.GPU.Alloc == "nccl" {
		var p uint64
		p, err = b.l.nccl.MemAlloc(want)
		b.area = cudart.Pointer(p)
	} else {
		b.area, err = b.l.gpu.Alloc(want)
	}
	if err != nil {
		b.area = 0
		return err
	}
	b.bytes = want
	return nil
}

// register makes the memory known to a communicator where that is asked for.
func (b *ncclBuffers) register(comm *nccl.Comm) (err error) {
	if r := b.l.h.Options.GPU.Register; r == "buffer" || r == "window" {
		b.registered, err = comm.Register(uint64(b.area), b.bytes, r == "window")
	}
	return err
}

func (b *ncclBuffers) release() error {
	if b.area == 0 {
		return nil
	}
	err := b.registered.Close()
	b.registered = nccl.Registration{}
	if b.l.h.Options.GPU.Alloc == "nccl" {
		err = errors.Join(err, b.l.nccl.MemFree(uint64(b.area)))
	} else {
		err = errors.Join(err, b.l.gpu.Free(b.area))
	}
	b.area, b.bytes = 0, 0
	return err
}

// deviceMemory is a stretch of a GPU's memory.
type deviceMemory struct {
	mover *cudart.Mover
	at    cudart.Pointer
	n     int64
}

func (m deviceMemory) Len() int64 { return m.n }

func (m deviceMemory) Set(b byte) error {
	if m.n == 0 {
		return nil
	}
	return m.mover.Set(m.at, m.n, b)
}

func (m deviceMemory) Fill(table []byte, first int64) error {
	if m.n == 0 {
		return nil
	}
	return m.mover.Fill(m.at, m.n, table, first)
}

func (m deviceMemory) Differs(from, to int64, table []byte, first int64, near bench.Near) (int64, error) {
	at, err := m.mover.Differs(m.at+cudart.Pointer(from), to-from, table, first, cudart.Near(near))
	if err != nil || at < 0 {
		return -1, err
	}
	return from + at, nil
}

func (m deviceMemory) Way() bench.Way {
	if used, _ := m.mover.Kernels(); used {
		return bench.Kernels
	}
	return bench.Pinned
}

func (m deviceMemory) Read(at int64, dst []byte) error { return m.mover.Read(m.at, at, dst) }
