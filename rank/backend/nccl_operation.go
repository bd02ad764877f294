package backend

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/operation"
	"busbar/internal/result"
)

// Prepare implements bench.Backend.
func (b *ncclBackend) Prepare(c coll.Case) (bench.Operation, error) {
	if lost := bench.LostAverage(c); lost != nil {
		return nil, &bench.UnsupportedError{Cause: lost}
	}
	if why := b.unsupported[reductionOf(c)]; why != "" {
		return nil, &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: why}}
	}
	send, recv, slots := b.Slots(c)
	if float64(b.bytes) < b.Memory(c) {
		return nil, &bench.MemoryError{Needed: int64(min(b.Memory(c), math.MaxInt64/2)),
			Err: errSmallBuffers}
	}
	inputs, outputs := b.area, b.area+cudart.Pointer(b.first(send, slots))
	if c.Placement == coll.InPlace {
		inputs, send = outputs, recv
	}
	in, out := b.views(c)
	spec := b.spec(c, inputs+cudart.Pointer(in.at), outputs+cudart.Pointer(out.at))
	spec.Slots, spec.SendStride, spec.RecvStride = slots, send, recv
	spec.Aggregate, spec.Graph = b.aggregate, b.graph
	spec.Sync, spec.SyncContext = b.barrier.Step, b.barrier.Context
	b.comm.guard(b.l.h) // there may be others: of groups
	o, err := b.bind(spec)
	if err != nil {
		return nil, err
	}
	o.of = c
	if b.aggregate > 1 || b.graph > 0 {
		spec.Aggregate, spec.Graph = 1, 0
		if o.single, err = b.bind(spec); err != nil {
			return nil, errors.Join(err, o.Close())
		}
		o.single.of = c
	}
	for i := range int64(slots) {
		place := func(base cudart.Pointer, stride int64, e extent) bench.Memory {
			return deviceMemory{b.mover, base + cudart.Pointer(i*stride+e.at), e.n}
		}
		o.slots = append(o.slots, bench.Buffers{Send: place(inputs, send, in), Recv: place(outputs, recv, out)})
	}
	return o, nil
}

// spec is a case at these addresses.
func (b *ncclBackend) spec(c coll.Case, send, recv cudart.Pointer) nccl.OpSpec {
	return nccl.OpSpec{Spec: operation.Spec{Case: c}, Send: uint64(send), Recv: uint64(recv),
		Stream: b.stream.Pointer(), Cuda: b.l.driver.Table()}
}

func (b *ncclBackend) bind(spec nccl.OpSpec) (*ncclOperation, error) {
	op, err := b.comm.Prepare(spec)
	if err != nil {
		return nil, unsupported(err)
	}
	l, err := loop.New(op.Steps(), bench.MaxBatches)
	if err != nil {
		return nil, errors.Join(err, op.Close())
	}
	l.KeepInStep()
	return &ncclOperation{b: b, op: op, loop: l, graphed: spec.Graph > 0}, nil
}

// ncclOperation is one prepared case.
type ncclOperation struct {
	b       *ncclBackend
	of      coll.Case
	op      *nccl.Operation
	loop    *loop.Loop
	slots   []bench.Buffers
	single  *ncclOperation // nil where one operation is issued at a time anyway
	graphed bool           // it is a CUDA graph
}

func (o *ncclOperation) Buffers() []bench.Buffers { return o.slots }

func (o *ncclOperation) Notes() []string {
	notes := o.op.Notes()
	if o.b.paths != nil && o.b.graph > 0 {
		notes = append(notes, "the path is that of the operation outside the graph")
	}
	if o.b.l.shared(o.b.w.Names) {
		notes = append(notes, "ranks share a GPU")
	}
	return notes
}

// Single implements bench.Aggregator.
func (o *ncclOperation) Single() bench.Operation {
	if o.single == nil {
		return o
	}
	return o.single
}

// Profile implements bench.Profiler: a range named after the case where an NVTX tool listens, and the driver's own
// profiler range with --profile-range.
func (o *ncclOperation) Profile(on bool) error {
	l := o.b.l
	if on {
		l.nvtx.Push(o.of.String())
	} else {
		l.nvtx.Pop()
	}
	switch {
	case !l.h.Options.Profile:
		return nil
	case on:
		return l.driver.ProfilerStart()
	}
	return l.driver.ProfilerStop()
}

// Run implements bench.Operation.
func (o *ncclOperation) Run(batches, n int) (bench.Stamps, error) {
	s, err := o.b.run(o.loop, batches, n, ncclCalls{
		failed:  o.op.Error,
		issued:  func() bool { return !o.graphed },
		refused: func() bool { return o.b.lacksFloat8(o.of) },
	})
	o.b.unsupported.remember(o.of, err)
	return s, err
}

// ncclCalls describe a loop over NCCL's operations.
type ncclCalls struct {
	failed  func(code int) error // of an issue or a wait
	issued  func() bool          // an issue that failed was that of an operation
	refused func() bool          // every rank's library refuses such an operation before it issues anything; may be nil
	over    func() error         // called if all went well; may be nil
}

// run runs a loop of this backend's. If an operation fails, it makes the other ranks leave theirs.
func (b *ncclBackend) run(l *loop.Loop, batches, n int, c ncclCalls) (bench.Stamps, error) {
	h, number := b.l.h, b.l.h.Interrupts.current()
	h.Watch.Attach(l, func() { h.PassOn(number) })
	s, err := l.Run(batches, n)
	var step *loop.StepError
	switch {
	case err == nil: // a wait asks the communicator only while its stream is busy
		err = b.comm.AsyncError()
		if err == nil && c.over != nil {
			err = c.over()
		}
		if err == nil {
			return bench.Stamps(s), nil
		}
		return bench.Stamps(s), b.lost(number, err)
	case !errors.As(err, &step):
		return bench.Stamps(s), err
	}
	if step.Stage == loop.Sync { // MPI's own failure ends the run
		return bench.Stamps(s), fmt.Errorf("barrier before a batch: %w", b.barrier.Failed(step.Code))
	}
	err = c.failed(step.Code)
	if step.Stage == loop.Issue && c.refused != nil && c.refused() && b.pointStatus(err) == result.Unsupported {
		b.refused = true // no rank waits for another one
		return bench.Stamps(s), &bench.OperationError{Status: result.Unsupported, Err: err}
	}
	err = b.lost(number, err)
	if step.Stage == loop.Issue && c.issued() && err.(*bench.OperationError).Status != "" {
		// The others may be inside NCCL, connecting to this rank, where only the end of its sockets brings them out.
		_ = b.comm.Abort()
	}
	return bench.Stamps(s), err
}

// lost is the error of an operation that failed with all ranks alive; unless it was interrupted, it informs the others.
func (b *ncclBackend) lost(number int, err error) error {
	status := b.pointStatus(err)
	if status != "" {
		b.l.h.PassOn(number)
	}
	if status == result.OOM { // NCCL's own message may omit it
		err = fmt.Errorf("out of memory: %w", err)
	}
	return &bench.OperationError{Status: status, Err: err}
}

func (o *ncclOperation) Close() error {
	o.b.l.h.Watch.Attach(nil, nil)
	o.loop.Close()
	err := o.op.Close()
	if o.single != nil {
		err = errors.Join(err, o.single.Close())
	}
	return err
}

// shortMemory is how little free memory of a GPU makes a failure of NCCL one of memory, whatever its words.
const shortMemory = 256 << 20

// pointStatus is what becomes of a point whose operation failed with that error. NCCL has one code for all failures of
// CUDA, and its words are the last warning only: those of its allocators, or something later. With an error of CUDA
// they are never old, though they may be the same as before: NCCL warns of each.
func (b *ncclBackend) pointStatus(err error) result.Status {
	var lib *nccl.Error
	var cuda *cudart.Error
	switch {
	case errors.Is(err, nccl.ErrInterrupted):
		return ""
	case errors.As(err, &cuda) && cuda.IsOutOfMemory():
		return result.OOM
	case errors.As(err, &lib) && lib.Unsupported():
		return result.Unsupported
	case errors.As(err, &lib) && (lib.Cuda() || !b.l.old(lib.Last)) && (strings.Contains(lib.Last, "out of memory") ||
		strings.Contains(lib.Last, "Failed to CUDA ")):
		return result.OOM
	}
	if free, _, e := b.l.gpu.Memory(); e == nil && free < shortMemory && !b.l.Simulated() {
		return result.OOM
	}
	return result.Failed
}

// reduction is what decides whether a library has an operation.
type reduction struct {
	collective coll.Collective
	element    coll.DataType
	op         coll.RedOp
}

func reductionOf(c coll.Case) reduction { return reduction{c.Collective, c.Type, c.Op} }

// refusals are what a library has refused, with its reason, so that later cases of the same kind do not cost a
// communicator each.
type refusals map[reduction]string

// remember keeps the refusal of a case.
func (r refusals) remember(c coll.Case, err error) {
	var lost *bench.OperationError
	if errors.As(err, &lost) && lost.Status == result.Unsupported {
		r[reductionOf(c)] = lost.Error()
	}
}

// lacksFloat8 reports whether the case is one of float8 and the GPU of some rank is below compute capability 9.0. NCCL
// refuses a reduction then on every rank, before it issues anything: it compares the minimum over all ranks (minCompCap
// in enqueue.cc).
func (b *ncclBackend) lacksFloat8(c coll.Case) bool {
	older := func(r int) bool { return b.l.ranks[r].Major < 9 }
	return (c.Type == coll.Float8E4M3 || c.Type == coll.Float8E5M2) &&
		slices.ContainsFunc(b.w.Names, older)
}
