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
)

// hostBackend is what backends on host memory have in common: the buffers are the world's, and a library knows of none.
type hostBackend struct {
	Layout
	h         *Host
	w         *World
	aggregate int // operations issued together
}

func newHostBackend(h *Host, w *World, m Method) hostBackend {
	return hostBackend{Layout: m.Layout, h: h, w: w, aggregate: max(1, m.Aggregate)}
}

// Reserve implements backend.
func (b *hostBackend) Reserve(bytes int64) error { return b.w.Area.Reserve(bytes) }

// Ready implements backend.
func (b *hostBackend) Ready() error { return nil }

// hostPlace is where a case's buffers lie.
type hostPlace struct {
	send, recv             unsafe.Pointer
	slots                  int
	sendStride, recvStride int64
	views                  []bench.Buffers // of each slot
}

// errSmallBuffers is the error of a case for which too little was reserved.
var errSmallBuffers = errors.New("the buffers of this world are smaller")

// place lays a case out in the world's buffers.
func (b *hostBackend) place(c coll.Case) (hostPlace, error) {
	send, recv, slots := b.Slots(c)
	area := b.w.Area.buffer
	if need := b.Layout.Memory(c); float64(len(b.w.Area.bytes())) < need {
		return hostPlace{}, &bench.MemoryError{Needed: int64(min(need, math.MaxInt64/2)), Err: errSmallBuffers}
	}
	first := b.first(send, slots)
	inputs, outputs := area.Bytes()[:first], area.Bytes()[first:]
	p := hostPlace{send: area.Pointer(), recv: unsafe.Add(area.Pointer(), first), slots: slots,
		sendStride: send, recvStride: recv}
	for i := range int64(slots) {
		p.views = append(p.views, b.views(c, inputs[i*send:(i+1)*send], outputs[i*recv:(i+1)*recv]))
	}
	return p, nil
}

// views are the input and the output of this rank within one slot. In place there is one buffer, and MPI says where in
// it a rank's own share lies.
func (l Layout) views(c coll.Case, send, recv []byte) bench.Buffers {
	s := int64(c.Type.Size())
	in, out := c.SendCount(l.Rank)*s, c.RecvCount(l.Rank)*s
	if c.Placement != coll.InPlace {
		return bench.Buffers{Send: bench.Host(send[:in]), Recv: bench.Host(recv[:out])}
	}
	share := int64(l.Rank) * c.Count * s
	root := l.Rank == c.Root
	v := bench.Buffers{Send: bench.Host(recv[:in]), Recv: bench.Host(recv[:out])}
	switch {
	case c.Collective == coll.AllGather, c.Collective == coll.Gather && root:
		v.Send = bench.Host(recv[share : share+in])
	case c.Collective == coll.Scatter && root:
		v.Recv = bench.Host(recv[share : share+out])
	}
	return v
}

// hostWords are a library's own words for types and reductions.
type hostWords[T, O any] struct {
	library string
	types   map[coll.DataType]T
	ops     map[coll.RedOp]O
}

// word is a type or reduction of a library, numbered from 1; its String is busbar's word for it.
type word interface {
	~int
	fmt.Stringer
}

// wordsOf pairs a library's types and reductions, each from the first to the last, with those of the same name.
func wordsOf[T, O word](library string, firstType, lastType T, firstOp, lastOp O) hostWords[T, O] {
	w := hostWords[T, O]{
		library: library,
		types:   byName(coll.ParseDataType, firstType, lastType),
		ops:     byName(coll.ParseRedOp, firstOp, lastOp),
	}
	w.ops[0] = 0 // of what reduces nothing
	return w
}

// byName is for tables that are made as the program starts: a name that nobody knows is a mistake in it.
func byName[K comparable, W word](parse func(string) (K, error), first, last W) map[K]W {
	all := map[K]W{}
	for w := first; w <= last; w++ {
		known, err := parse(w.String())
		if err != nil {
			panic(err)
		}
		all[known] = w
	}
	return all
}

// lacks is the error of a case for which the library has no word.
func (w hostWords[T, O]) lacks(c coll.Case) error {
	if _, ok := w.types[c.Type]; !ok {
		return &bench.UnsupportedError{Cause: notice.NotSupported{Library: w.library, What: c.Type.String()}}
	}
	if _, ok := w.ops[c.Op]; !ok {
		return &bench.UnsupportedError{Cause: notice.NotSupported{Library: w.library, What: c.Op.String()}}
	}
	return nil
}

// hostCall is a library's operation with its arguments bound.
type hostCall interface {
	Steps() loop.Steps
	Notes() []string
	Close() error
	// failed is the error of a step that failed; the library may have to be told.
	failed(*loop.StepError) error
}

// prepare makes the operation of a case, and where several are issued together a single one beside it. bind makes the
// library's for a number issued together.
func (b *hostBackend) prepare(p hostPlace, bind func(aggregate int) (hostCall, error)) (bench.Operation, error) {
	o, err := b.operation(bind, b.aggregate)
	if err != nil {
		return nil, err
	}
	if b.aggregate > 1 {
		if o.single, err = b.operation(bind, 1); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	o.slots = p.views
	return o, nil
}

func (b *hostBackend) operation(bind func(int) (hostCall, error), aggregate int) (*hostOperation, error) {
	call, err := bind(aggregate)
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
