package backend

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/operation"
	"busbar/rank/launch"
)

// hostBackend is what backends on host memory have in common: the buffers are the world's, and a library knows of none.
type hostBackend struct {
	Layout
	h         *Host
	w         *World
	aggregate int // operations issued together
	library   string
	bind      func(operation.Host) (hostCall, error) // binds an operation of the library
}

func newHostBackend(h *Host, w *World, m Method, library string) hostBackend {
	m.Layout.front = true
	return hostBackend{Layout: m.Layout, h: h, w: w, aggregate: max(1, m.Aggregate), library: library}
}

// Reserve implements backend.
func (b *hostBackend) Reserve(bytes int64) error { return b.w.Area.Reserve(bytes) }

// Ready implements backend.
func (b *hostBackend) Ready() error { return nil }

// HostScratch is what libraries allocate beside the buffers, as a share of them: Open MPI's all_reduce takes a vector
// of the message's size for one of its algorithms.
const HostScratch = 0.5

// Room implements backend.
func (b *hostBackend) Room() (most float64, limit notice.MemoryLimit, err error) {
	return b.w.Memory.HostRoom(HostScratch)
}

// errSmallBuffers is the error of a case for which too little was reserved.
var errSmallBuffers = errors.New("the buffers of this world are smaller")

// hostCall is a library's operation with its arguments bound.
type hostCall interface {
	Steps() loop.Steps
	// Async are its functions if the library can run it in the background. The error is an *UnsupportedError of bench
	// where it cannot.
	Async() (loop.Async, error)
	Notes() []string
	Close() error
	// failed is the error of a step that failed; the library may need to handle it.
	failed(*loop.StepError) error
}

// lacks is the error of a type or reduction that the libraries on hosts do not have.
func (b *hostBackend) lacks(t coll.DataType, op coll.RedOp) error {
	what := op.String()
	switch {
	case t > coll.Float64:
		what = t.String()
	case op <= coll.Avg:
		return nil
	}
	return &bench.UnsupportedError{Cause: notice.NotSupported{Library: b.library, What: what}}
}

// unsupported turns a binding's error of an operation that its library lacks into bench's.
func unsupported(err error) error {
	var lacks *operation.UnsupportedError
	if errors.As(err, &lacks) {
		return &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: lacks.Reason}}
	}
	return err
}

// Prepare implements bench.Backend: it makes the operation of a case in the world's buffers, and where several are
// issued together a single one beside it.
func (b *hostBackend) Prepare(c coll.Case) (bench.Operation, error) {
	if err := b.lacks(c.Type, c.Op); err != nil {
		return nil, err
	}
	send, recv, slots := b.Slots(c)
	area := b.w.Area.bytes()
	if need := b.Layout.Memory(c); float64(len(area)) < need {
		return nil, &bench.MemoryError{Needed: int64(min(need, math.MaxInt64/2)), Err: errSmallBuffers}
	}
	inputs, outputs := area, area[b.first(send, slots):]
	spec := operation.Host{Send: unsafe.Pointer(unsafe.SliceData(inputs)),
		Recv: unsafe.Pointer(unsafe.SliceData(outputs)),
		Spec: operation.Spec{Case: c, Slots: slots, SendStride: send, RecvStride: recv, Aggregate: b.aggregate}}
	o, err := b.operation(spec)
	if err != nil {
		return nil, err
	}
	if b.aggregate > 1 {
		spec.Aggregate = 1
		if o.single, err = b.operation(spec); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	for i := range int64(slots) {
		o.slots = append(o.slots, b.buffers(c, inputs[i*send:], outputs[i*recv:]))
	}
	return o, nil
}

// buffers are the input and the output of this rank within one slot.
func (b *hostBackend) buffers(c coll.Case, send, recv []byte) bench.Buffers {
	if c.Placement == coll.InPlace {
		send = recv
	}
	in, out := b.views(c)
	return bench.Buffers{Send: bench.Host(send[in.at : in.at+in.n]), Recv: bench.Host(recv[out.at : out.at+out.n])}
}

func (b *hostBackend) operation(spec operation.Host) (*hostOperation, error) {
	call, err := b.bind(spec)
	if err != nil {
		return nil, err
	}
	l, err := loop.New(call.Steps(), bench.MaxBatches)
	if err != nil {
		return nil, errors.Join(err, call.Close())
	}
	return &hostOperation{call: call, loop: l, watch: b.h.Watch}, nil
}

// hostOperation is one prepared case.
type hostOperation struct {
	call   hostCall
	loop   *loop.Loop
	watch  Watch
	slots  []bench.Buffers
	single *hostOperation // nil where one operation is issued at a time anyway
}

func (o *hostOperation) Buffers() []bench.Buffers { return o.slots }

func (o *hostOperation) Notes() []string { return o.call.Notes() }

// Single implements bench.Aggregator.
func (o *hostOperation) Single() bench.Operation {
	if o.single == nil {
		return o
	}
	return o.single
}

// Run implements bench.Operation.
func (o *hostOperation) Run(batches, n int) (bench.Stamps, error) {
	o.watch.Attach(o.loop, nil)
	s, err := o.loop.Run(batches, n)
	var step *loop.StepError
	if errors.As(err, &step) {
		err = o.call.failed(step)
	}
	return bench.Stamps(s), err
}

func (o *hostOperation) Close() error {
	o.watch.Attach(nil, nil)
	o.loop.Close()
	err := o.call.Close()
	if o.single != nil {
		err = errors.Join(err, o.single.Close())
	}
	return err
}

// NewBarrier binds a barrier of these ranks as a step of the timed loop, for loops over something else than MPI.
func NewBarrier(group launch.Comm) (*launch.Barrier, error) {
	b, ok := group.(launch.LoopBarrier)
	if !ok {
		return nil, fmt.Errorf("the ranks have no barrier for the timed loop: %T lacks it", group)
	}
	return b.NewBarrier()
}

// HostArea is the host memory of a world's buffers: the input of the case in hand and, from a page of its own on, its
// output. The backends that measure on host memory have it in turn, as one case is in hand at a time: what they compare
// by are the same pages.
type HostArea struct{ buffer *loop.Buffer }

// Reserve makes the area that large at least. An error leaves it as it was.
func (a *HostArea) Reserve(bytes int64) error {
	had := int64(len(a.bytes()))
	if a.buffer != nil && had >= bytes {
		return nil
	}
	if err := a.Free(); err != nil {
		return err
	}
	grown, err := loop.AllocBuffer(bytes)
	if err != nil && had > 0 {
		if before, again := loop.AllocBuffer(had); again == nil {
			a.buffer = before
		}
		return err
	}
	a.buffer = grown
	return err
}

// bytes is the area as it is now; none before the first reserve.
func (a *HostArea) bytes() []byte {
	if a.buffer == nil {
		return nil
	}
	return a.buffer.Bytes()
}

// Free gives the memory back.
func (a *HostArea) Free() error {
	err := a.buffer.Free()
	a.buffer = nil
	return err
}
