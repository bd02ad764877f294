package backend

import (
	"fmt"
	"unsafe"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/step"
	"busbar/mpi"
)

var _ Trainer = (*mpiBackend)(nil)

// Progress implements Trainer; whether MPI lets a second thread call it is asked where one is wanted.
func (b *mpiBackend) Progress() []step.Progress { return step.Ways() }

// Train implements Trainer.
//
// All operations of a step are on the communicator of the world, from whichever thread: MPI forbids that two threads
// are in collectives of one communicator at the same time, and here no two are. The barrier is over on this rank
// before the step gives the second thread its first operation, the step ends when the second thread is done with its
// last one, and what ranks tell each other is told between steps. So every rank begins the same collectives in the
// same order, and one of them calls MPI at a time.
func (b *mpiBackend) Train(c Computing, p *step.Plan) (Training, error) {
	if level := b.h.MPI.Info().ThreadLevel; p.Point.Progress == step.Thread && level < mpi.ThreadSerialized {
		return nil, &bench.UnsupportedError{Cause: notice.ProgressUnsupported{
			Library: b.h.MPI.Info().Name, Progress: "thread", Why: fmt.Sprintf("its thread level is %s", level),
		}}
	}
	if b.barrier == nil {
		var err error
		if b.barrier, err = NewBarrier(b.w.Group); err != nil {
			return nil, err
		}
	}
	return b.bindPlan(c.(*hostComputing), p, b.barrier, func(c coll.Case, at unsafe.Pointer) (stepCall, error) {
		if err := mpiWords.lacks(c); err != nil {
			return nil, err
		}
		call, err := b.bind(mpi.OpSpec{Kind: mpiKinds[c.Collective], Type: mpiWords.types[c.Type],
			Op:      mpiWords.ops[c.Op],
			InPlace: true, Recv: at, Count: c.Count})
		if err != nil {
			return nil, err
		}
		return call.(mpiCall), nil
	})
}

// Async implements stepCall.
func (c mpiCall) Async() (loop.Async, error) {
	a, err := c.Operation.Async()
	return a, mpiUnsupported(err)
}
