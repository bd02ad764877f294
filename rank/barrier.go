package main

import (
	"errors"
	"unsafe"

	"busbar/internal/loop"
	"busbar/mpi"
	"busbar/rank/launch"
)

// barrier is MPI's barrier as a step of the loop, for loops over something else than MPI.
type barrier struct {
	step    loop.Step
	context unsafe.Pointer

	op  *mpi.Operation
	one *loop.Buffer
}

func newBarrier(group launch.Comm) (*barrier, error) {
	one, err := loop.AllocBuffer(pageBytes)
	if err != nil {
		return nil, err
	}
	op, err := launch.MPIComm(group).Prepare(mpi.OpSpec{Kind: mpi.AllReduce, Type: mpi.Float32, Op: mpi.Sum, InPlace: true, Recv: one.Pointer(), Count: 1})
	if err != nil {
		return nil, errors.Join(err, one.Free())
	}
	steps := op.Steps()
	return &barrier{step: steps.Sync, context: steps.Context, op: op, one: one}, nil
}

func (b *barrier) close() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.op.Close(), b.one.Free())
}
