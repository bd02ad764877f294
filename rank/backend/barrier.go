package backend

import (
	"errors"
	"unsafe"

	"busbar/internal/loop"
	"busbar/mpi"
	"busbar/rank/launch"
)

// Barrier is MPI's barrier as a step of the loop, for loops over something else than MPI.
type Barrier struct {
	Step    loop.Step
	Context unsafe.Pointer

	op  *mpi.Operation
	one *loop.Buffer
}

// NewBarrier binds a barrier of these ranks.
func NewBarrier(group launch.Comm) (*Barrier, error) {
	one, err := loop.AllocBuffer(PageBytes)
	if err != nil {
		return nil, err
	}
	op, err := launch.MPIComm(group).Prepare(mpi.OpSpec{Kind: mpi.AllReduce, Type: mpi.Float32, Op: mpi.Sum,
		InPlace: true, Recv: one.Pointer(), Count: 1})
	if err != nil {
		return nil, errors.Join(err, one.Free())
	}
	steps := op.Steps()
	return &Barrier{Step: steps.Sync, Context: steps.Context, op: op, one: one}, nil
}

// Close gives up the barrier; of a nil one it does nothing.
func (b *Barrier) Close() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.op.Close(), b.one.Free())
}
