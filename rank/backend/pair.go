package backend

import (
	"errors"
	"fmt"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/rank/launch"
)

// besides is a prepared operation that can run beside another one. The error of beside is an *UnsupportedError (of
// bench) where the library has none that returns before it is done.
type besides interface {
	bench.Operation
	bench.Noter
	beside() (loop.Part, error)
}

func (o *hostOperation) beside() (loop.Part, error) {
	a, err := o.call.Async()
	return loop.Part{Async: a, Failed: func(code int) error { return o.call.failed(&loop.StepError{Code: code}) }}, err
}

func (o *ncclOperation) beside() (loop.Part, error) {
	return loop.Part{Steps: o.op.Steps(), Failed: o.op.Error}, nil
}

// Pair is a world divided in two ways at once. Its cases are operations of both dimensions, or of one.
type Pair struct {
	h       *Host
	whole   *World
	of      [2]Backend     // in this rank's groups
	nccl    []*ncclBackend // of, if they are NCCL's
	ranks   [2]int         // this rank in them
	barrier *launch.Barrier
	number  int // NCCL: by which a rank ends the operations of all ranks
}

// NewPair makes a backend of those of this rank's groups, with its ranks in them. The ranks of whole start the
// operations of a case together, those of the first dimension before those of the second. Collective over whole.
func NewPair(whole *World, of [2]Backend, ranks [2]int) (p *Pair, err error) {
	p = &Pair{whole: whole, of: of, ranks: ranks}
	for _, b := range of {
		switch b := b.(type) {
		case *ncclBackend:
			p.h, p.nccl = b.l.h, append(p.nccl, b)
		case *mpiBackend:
			p.h = b.h
		}
	}
	if p.barrier, err = NewBarrier(whole.Group); err != nil {
		return nil, err
	}
	return p, p.renumber()
}

// renumber gives the communicators of both dimensions a number in common, equal on all ranks. Collective.
func (p *Pair) renumber() error {
	n := int64(0)
	if p.whole.Rank == 0 {
		n = int64(p.h.nextCommunicator())
	}
	err := launch.Broadcast(p.whole.Group, &n)
	p.number = int(n)
	return err
}

// pairOperation is the operations of a case.
type pairOperation struct {
	*Pair
	dims   []int // of each part
	parts  []besides
	beside *loop.Beside
	loop   *loop.Loop
	views  []bench.Buffers
	notes  []string
}

// Prepare implements bench.Backend.
func (p *Pair) Prepare(c coll.Case) (bench.Operation, error) {
	o := &pairOperation{Pair: p, dims: c.Groups.Measured()}
	if err := o.bind(c); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *pairOperation) bind(c coll.Case) error {
	var bound []loop.Part
	names := c.Groups.Division.Dimensions()
	for _, k := range o.dims {
		of := c.In(k)
		operation, err := o.of[k].Prepare(of)
		if err != nil {
			return err
		}
		part := operation.(besides)
		o.parts = append(o.parts, part)
		functions, err := part.beside()
		if err != nil {
			return err
		}
		bound = append(bound, functions)
		view := part.Buffers()[0]
		view.Of = &bench.Part{Name: names[k].Name + " " + of.Collective.String(), Case: of, Rank: o.ranks[k]}
		o.views, o.notes = append(o.views, view), append(o.notes, part.Notes()...)
		if o.nccl == nil {
			o.notes = append(o.notes, names[k].Name+" by MPI's non-blocking function")
		}
	}
	if len(o.views) == 2 {
		o.views[0].Beside = &o.views[1]
		o.notes = append(o.notes, fmt.Sprintf("the time is that of both operations; size and bandwidth are those of %s",
			o.views[0].Of.Name))
	}
	var err error
	if o.beside, err = loop.NewBeside(bound, o.barrier.Step, o.barrier.Context); err != nil {
		return err
	}
	if o.loop, err = loop.New(o.beside.Steps(), bench.MaxBatches); err != nil || o.nccl == nil {
		return err
	}
	o.loop.KeepInStep()
	o.h.Interrupts.guard(o.number, func() {
		for _, b := range o.nccl {
			b.comm.Interrupt()
		}
	})
	return nil
}

// Close closes what the pair has of its own.
func (p *Pair) Close() error { return p.barrier.Close() }

func (o *pairOperation) Buffers() []bench.Buffers { return o.views[:1] }

func (o *pairOperation) Notes() []string { return o.notes }

// Profile implements bench.Profiler, where the library has one.
func (o *pairOperation) Profile(on bool) error {
	if p, ok := o.parts[0].(bench.Profiler); ok {
		return p.Profile(on)
	}
	return nil
}

// Run implements bench.Operation.
func (o *pairOperation) Run(batches, n int) (bench.Stamps, error) {
	if o.nccl != nil {
		last := o.nccl[o.dims[len(o.dims)-1]]
		s, err := o.nccl[o.dims[0]].run(o.loop, batches, n, ncclCalls{failed: o.beside.Failed,
			issued: func() bool { return true },
			over:   last.comm.AsyncError})
		var lost *bench.OperationError
		if errors.As(err, &lost) && lost.Status != "" {
			_ = last.comm.Abort() // as run does with the first one where others may be inside NCCL
		}
		return s, err
	}
	o.h.Watch.Attach(o.loop, nil)
	s, err := o.loop.Run(batches, n)
	var step *loop.StepError
	switch {
	case !errors.As(err, &step):
	case step.Stage == loop.Sync:
		err = fmt.Errorf("barrier before a batch: %w", o.barrier.Failed(step.Code))
	default:
		err = o.beside.Failed(step.Code)
	}
	return bench.Stamps(s), err
}

func (o *pairOperation) Close() (err error) {
	o.h.Watch.Attach(nil, nil)
	if o.loop != nil {
		o.loop.Close()
	}
	if o.beside != nil {
		o.beside.Close()
	}
	for _, part := range o.parts {
		err = errors.Join(err, part.Close())
	}
	o.parts = nil
	return err
}

// Recover implements bench.Recoverer: NCCL's communicators of both dimensions are made anew.
func (p *Pair) Recover() error {
	first, second := p.nccl[0], p.nccl[1]
	err := second.abort() // before the first one connects: an operation that hangs may occupy the GPU
	for _, next := range []func() error{first.abort, first.Recover, second.Recover, p.renumber} {
		if err == nil {
			err = next()
		}
	}
	return err
}
