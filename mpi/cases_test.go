//go:build cgo

package mpi

import (
	"errors"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
)

// inPlace is an operation in place on the buffer at an address.
func inPlace(c coll.Collective, t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) operation.Host {
	return operation.Host{Recv: at, Spec: operation.Spec{Case: coll.Case{Collective: c, Type: t, Op: op, Count: count,
		Placement: coll.InPlace}}}
}

// issueSteps runs steps n times; errorOf is the error of a code that a step returns.
func issueSteps(steps loop.Steps, n int, errorOf func(code int) error) error {
	l, err := loop.New(steps, 1)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.Run(1, n)
	if step := new(loop.StepError); errors.As(err, &step) {
		return errorOf(step.Code)
	}
	return err
}
