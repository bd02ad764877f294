//go:build cgo

package mpi

import (
	"errors"
	"iter"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
)

// allCases are collectives with each data type, reduction, placement and count, with different roots.
func allCases(world int, collectives []coll.Collective, types []coll.DataType, ops []coll.RedOp,
	counts ...int64) iter.Seq[coll.Case] {
	return func(yield func(coll.Case) bool) {
		for _, collective := range collectives {
			these := ops
			if !collective.Reduces() {
				these = []coll.RedOp{0}
			}
			for _, t := range types {
				for _, op := range these {
					for i, count := range counts {
						c := coll.Case{
							Collective: collective,
							Type:       t,
							Op:         op,
							Root:       (i + int(t)) % world,
							World:      world,
							Count:      count,
							Placement:  coll.OutOfPlace,
						}
						if collective == coll.AllToAllV {
							c.Imbalance = []coll.Imbalance{coll.Even, "spread:1", "hot:4", "zipf:8"}[i%4]
						}
						if !yield(c) {
							return
						}
						// No library has an alltoallv in place whose parts differ.
						if c.Placement = coll.InPlace; collective != coll.AllToAllV && !yield(c) {
							return
						}
					}
				}
			}
		}
	}
}

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
