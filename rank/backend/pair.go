package backend

import (
	"errors"
	"fmt"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/rank/launch"
)

// Dimension is a backend in this rank's group of one dimension of a world (coll.Division.Dimensions).
type Dimension struct {
	Backend
	*World
}

// Pair is a world divided in two ways at once. Its cases are operations of both dimensions, or of one.
type Pair interface {
	bench.Backend
	Close() error
}

// besides is a prepared operation that can run beside another one. The error of beside is an *UnsupportedError (of
// bench) where the library has none that returns before it is done.
type besides interface {
	bench.Operation
	bench.Noter
	beside() (loop.Part, error)
	failedWith(*loop.StepError) error
}

func (o *hostOperation) beside() (loop.Part, error) {
	a, err := o.call.Async()
	return loop.Part{Async: a}, err
}

func (b *hostBackend) host() *Host { return b.h }

func (o *hostOperation) failedWith(step *loop.StepError) error { return o.call.failed(step) }

func (o *ncclOperation) beside() (loop.Part, error) { return loop.Part{Steps: o.op.Steps()}, nil }

func (o *ncclOperation) failedWith(step *loop.StepError) error { return o.op.Error(step.Code) }

// NewPair makes a backend of both dimensions, whose communicators exist. The ranks of whole start the operations of a
// case together, those of the first dimension before those of the second. Collective over whole.
func NewPair(whole *World, of [2]Dimension) (Pair, error) {
	barrier, err := NewBarrier(whole.Group)
	if err != nil {
		return nil, err
	}
	p := &pair{whole: whole, of: of, barrier: barrier}
	first, ok := of[0].Backend.(*ncclBackend)
	if !ok {
		p.h, p.run = of[0].Backend.(interface{ host() *Host }).host(), p.runOnHost
		return p, nil
	}
	n := &ncclPair{p, 0}
	p.h = first.l.h
	p.run = n.runOnGPU
	return n, n.renumber()
}

type pair struct {
	h       *Host
	whole   *World
	of      [2]Dimension
	barrier *launch.Barrier
	run     func(o *pairOperation, batches, n int) (bench.Stamps, error)
}

// pairOperation is the operations of a case.
type pairOperation struct {
	*pair
	dims   []int // of each part
	parts  []besides
	beside *loop.Beside
	loop   *loop.Loop
	views  []bench.Buffers
	notes  []string
}

// Prepare implements bench.Backend.
func (p *pair) Prepare(c coll.Case) (bench.Operation, error) {
	o := &pairOperation{pair: p, dims: c.Groups.Measured()}
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
		if of.Count == 0 {
			return &bench.UnsupportedError{Cause: notice.TooSmall{Ranks: of.World}}
		}
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
		view.Of = &bench.Part{Name: names[k].Name + " " + of.Collective.String(), Case: of, Rank: o.of[k].Rank}
		o.views, o.notes = append(o.views, view), append(o.notes, part.Notes()...)
	}
	if len(o.views) == 2 {
		o.views[0].Beside = &o.views[1]
		o.notes = append(o.notes, fmt.Sprintf("the time is that of both operations; size and bandwidths are those of %s",
			o.views[0].Of.Name))
	}
	var err error
	if o.beside, err = loop.NewBeside(bound, o.barrier.Step, o.barrier.Context); err == nil {
		o.loop, err = loop.New(o.beside.Steps(), bench.MaxBatches)
	}
	return err
}

// Close closes what the pair has of its own.
func (p *pair) Close() error { return p.barrier.Close() }

func (o *pairOperation) Buffers() []bench.Buffers { return o.views[:1] }

func (o *pairOperation) Notes() []string { return o.notes }

func (o *pairOperation) Run(batches, n int) (bench.Stamps, error) { return o.run(o, batches, n) }

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

func (p *pair) runOnHost(o *pairOperation, batches, n int) (bench.Stamps, error) {
	p.h.Watch.Attach(o.loop, nil)
	s, err := o.loop.Run(batches, n)
	var step *loop.StepError
	switch {
	case !errors.As(err, &step):
	case step.Stage == loop.Sync:
		err = fmt.Errorf("barrier before a batch: %w", p.barrier.Failed(step.Code))
	default:
		err = o.parts[o.beside.Failed()].failedWith(step)
	}
	return bench.Stamps(s), err
}

// ncclPair can go on after a failed operation: the communicators of both dimensions are then made anew.
type ncclPair struct {
	*pair
	number int // by which a rank ends the operations of all ranks
}

// renumber gives both communicators a number in common, equal on all ranks. Collective.
func (p *ncclPair) renumber() error {
	n := int64(0)
	if p.whole.Rank == 0 {
		n = int64(p.h.nextCommunicator())
	}
	err := launch.Broadcast(p.whole.Group, &n)
	p.number = int(n)
	return err
}

func (p *ncclPair) backend(k int) *ncclBackend { return p.of[k].Backend.(*ncclBackend) }

// Prepare implements bench.Backend.
func (p *ncclPair) Prepare(c coll.Case) (bench.Operation, error) {
	p.h.Interrupts.guard(p.number, func() {
		p.backend(0).comm.Interrupt()
		p.backend(1).comm.Interrupt()
	})
	o, err := p.pair.Prepare(c)
	if err == nil {
		o.(*pairOperation).loop.KeepInStep()
	}
	return o, err
}

func (p *ncclPair) runOnGPU(o *pairOperation, batches, n int) (bench.Stamps, error) {
	last := p.backend(o.dims[len(o.dims)-1])
	s, err := p.backend(o.dims[0]).run(o.loop, batches, n, ncclCalls{
		failed: func(code int) error { return o.parts[o.beside.Failed()].failedWith(&loop.StepError{Code: code}) },
		issued: func() bool { return true },
		over:   func() error { return last.comm.AsyncError() },
	})
	var lost *bench.OperationError
	if errors.As(err, &lost) && lost.Status != "" {
		_ = last.comm.Abort() // as run does with the first one where others may be inside NCCL
	}
	return s, err
}

// Recover implements bench.Recoverer.
func (p *ncclPair) Recover() error {
	for k := range p.of {
		if err := p.backend(k).Recover(); err != nil {
			return err
		}
	}
	return p.renumber()
}
