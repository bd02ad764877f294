//go:build cgo

package mpi

/*
#include "call.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
)

// Operation is a prepared operation. It is used by one thread.
type Operation struct {
	c        *Comm
	function string
	prepared C.struct_busbar_mpi_prepared
	notes    []string
	blocking string // why it cannot run in the background; "" if it can
}

// The constants of the two sides are the same.
var _ = [1]struct{}{}[(int(coll.AllToAllV)-C.BUSBAR_ALL_TO_ALL_V)|(int(coll.Float64)-C.BUSBAR_FLOAT64)|
	(int(coll.Avg)-C.BUSBAR_AVG)]

// Prepare makes an operation ready: all arguments are bound, nothing is sent. It is local to the rank. The error is
// an *operation.UnsupportedError if this MPI does not have the operation, else an *Error. MPI checks counts and roots
// when the operation runs.
func (c *Comm) Prepare(s operation.Host) (*Operation, error) {
	if err := quirk(c.m.info.Name, s.Spec); err != nil {
		return nil, err
	}
	spec := C.struct_busbar_mpi_spec{
		kind: C.int(s.Collective), _type: C.int(s.Type), op: C.int(s.Op), root: C.int(s.RootRank()),
		aggregate: C.int(max(1, s.Aggregate)), send: s.Send, recv: s.Recv, count: C.int64_t(s.Count),
		slots: C.int64_t(max(1, s.Slots)), send_stride: C.int64_t(s.SendStride), recv_stride: C.int64_t(s.RecvStride),
		int_max: C.int64_t(c.m.intMax),
	}
	if s.Placement == coll.InPlace {
		spec.in_place = 1
	}
	large := !c.m.noLarge && c.m.info.LargeCounts == "native"
	if s.Collective == coll.AllToAllV && s.Count > c.m.intMax && !large {
		return nil, operation.Unsupported("%s has no MPI_Alltoallv_c (MPI 4), which more than 2³¹ elements need",
			c.m.info.Name)
	}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	sends, receives := s.Splits(c.rank, c.size, &pinned)
	spec.sends, spec.receives = (*C.int64_t)(sends), (*C.int64_t)(receives)
	if c.m.noLarge {
		spec.no_large = 1
	}
	o := &Operation{c: c, function: functions[s.Collective]}
	if err := c.check("preparing "+o.function, C.call_prepare(c.m.t, c.c, &spec, &o.prepared)); err != nil {
		return nil, err
	}
	o.describe(s)
	if o.prepared.async.start == nil {
		o.blocking = o.onlyBlocking(s)
	}
	return o, nil
}

func (o *Operation) describe(s operation.Host) {
	p := o.prepared
	note := func(format string, args ...any) { o.notes = append(o.notes, fmt.Sprintf(format, args...)) }
	op := s.Op
	if op == coll.Avg {
		note("avg = sum and a division by busbar")
		op = coll.Sum
	}
	if p.own_op != 0 {
		note("%s %s by a user-defined operation", s.Type, op)
	}
	call := o.function
	switch {
	case s.Collective == coll.SendRecv && s.Placement == coll.InPlace:
		call = "MPI_Sendrecv_replace"
	case s.Collective == coll.ReduceScatter && p.parts > 1:
		call = "MPI_Reduce_scatter"
	}
	switch {
	case p.large != 0:
		note("count %d by %s_c", s.Count, call)
	case p.derived != 0:
		note("count %d as one element of a derived type", s.Count)
	case p.parts > 1:
		note("count %d in %d parts of up to %d elements by %s", s.Count, p.parts, p.part_count, call)
	}
}

// Steps are the C functions for the timed loop: the operation blocks, so there is nothing to wait for, and the ranks
// come together by MPI_Barrier.
func (o *Operation) Steps() loop.Steps {
	step := func(f C.busbar_step) loop.Step { return loop.Step(unsafe.Pointer(f)) }
	return loop.Steps{Issue: step(o.prepared.issue), Sync: step(o.prepared.sync), Context: o.prepared.context}
}

// Async are the C functions that start the operation, test it and wait for it, on the thread that called Init:
// MPI_Iallreduce, MPI_Iallgather, MPI_Ireduce_scatter_block, MPI_Test and MPI_Wait. All ranks start their operations
// in the same order, and one is done before it is started again. The error is an *operation.UnsupportedError where it
// cannot be started like that.
func (o *Operation) Async() (loop.Async, error) {
	a := o.prepared.async
	if a.start == nil {
		return loop.Async{}, operation.Unsupported("%s", o.blocking)
	}
	return loop.Async{Start: loop.Step(unsafe.Pointer(a.start)), Test: loop.Step(unsafe.Pointer(a.test)),
		Wait: loop.Step(unsafe.Pointer(a.wait)), Context: a.context}, nil
}

// onlyBlocking is the reason why an operation cannot be started and completed later; "" if it can.
func (o *Operation) onlyBlocking(s operation.Host) string {
	switch c := s.Collective; {
	case c != coll.AllReduce && c != coll.AllGather && c != coll.ReduceScatter:
		return "busbar has no non-blocking form of " + o.function
	case s.Op == coll.Avg:
		return fmt.Sprintf("an average by %s divides at its end and cannot run in the background", o.function)
	case o.prepared.parts > 1:
		return fmt.Sprintf("%s of %d elements takes %d calls of %s, which has no functions for counts above 2³¹: it "+
			"cannot run in the background", o.function, s.Count, o.prepared.parts, o.c.m.info.Name)
	}
	return "grouped operations cannot run in the background"
}

// Notes describe how the operation runs if it is not the MPI function of its name.
func (o *Operation) Notes() []string { return o.notes }

// Error turns the code of a step (loop.StepError) into an *Error; nil for 0.
func (o *Operation) Error(code int) error { return o.c.check(o.function, C.int(code)) }

// Close frees what Prepare made, except the buffers; closing twice does nothing. An operation in progress keeps its
// memory, as MPI may still use it.
func (o *Operation) Close() error {
	if o.prepared.operation != nil {
		C.call_release(o.c.m.t, o.prepared.operation)
		o.prepared.operation = nil
	}
	return nil
}
