//go:build cgo

package gloo

/*
#include "call.h"
*/
import "C"

import (
	"runtime"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
)

// Operation is a prepared operation. It is used by one thread.
type Operation struct {
	c        *Context
	function string
	prepared C.struct_busbar_gloo_prepared
	notes    []string
}

// The constants of the two sides are the same.
var _ = [1]struct{}{}[(int(coll.AllToAllV)-C.BUSBAR_ALL_TO_ALL_V)|(int(coll.Float64)-C.BUSBAR_FLOAT64)|
	(int(coll.Avg)-C.BUSBAR_AVG)|(int(Failed)-C.BUSBAR_GLOO_FAILED)|(int(Interrupted)-C.BUSBAR_GLOO_INTERRUPTED)]

// Prepare makes an operation ready: all arguments are bound, nothing is sent. It is local to the rank. The error is an
// *Error.
func (c *Context) Prepare(s operation.Host) (*Operation, error) { return c.prepare(s, 0) }

// prepare lets a test set how many bytes reduce_scatter sends at once.
func (c *Context) prepare(s operation.Host, segment int64) (*Operation, error) {
	spec := C.struct_busbar_gloo_spec{
		kind: C.int(s.Collective), _type: C.int(s.Type), op: C.int(s.Op), root: C.int(s.RootRank()),
		aggregate: C.int(max(1, s.Aggregate)), send: s.Send, recv: s.Recv, count: C.int64_t(s.Count),
		slots: C.int64_t(max(1, s.Slots)), send_stride: C.int64_t(s.SendStride), recv_stride: C.int64_t(s.RecvStride),
		segment: C.int64_t(segment), sync: c.sync, sync_context: c.syncContext,
	}
	if s.Placement == coll.InPlace {
		spec.in_place = 1
	}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	sends, receives := s.Splits(c.rank, c.size, &pinned)
	spec.sends, spec.receives = (*C.int64_t)(sends), (*C.int64_t)(receives)
	o := &Operation{c: c, function: functions[s.Collective], notes: notes(s.Case)}
	var e C.error_text
	if rc := C.call_prepare(c.l.t, c.c, &spec, &o.prepared, &e); rc != 0 {
		return nil, errorOf("preparing "+o.function, &e)
	}
	return o, nil
}

// notes describe how an operation runs if it is not the function of its name.
func notes(c coll.Case) (all []string) {
	inPlace := c.Placement == coll.InPlace
	switch {
	case c.Collective == coll.AllReduce:
		all = append(all, "by Gloo's ring")
	case c.Collective == coll.ReduceScatter:
		all = append(all, "busbar's own ring over Gloo's buffers: Gloo has no reduce_scatter")
	case c.Collective == coll.SendRecv:
		all = append(all, "by Gloo's unbound buffers")
	case c.Collective == coll.Reduce && inPlace:
		all = append(all, "Gloo leaves partial results in the buffers of all ranks")
	case c.Collective == coll.Reduce:
		all = append(all, "ranks other than the root reduce into memory that busbar adds")
	case (c.Collective == coll.Gather || c.Collective == coll.Scatter) && inPlace:
		all = append(all, "Gloo copies the root's own share onto itself")
	}
	if c.Collective.Reduces() {
		all = append(all, "the loops that reduce are busbar's, as Gloo leaves them to its caller")
	}
	if c.Op == coll.Avg {
		all = append(all, "avg = sum and a division by busbar")
	}
	return all
}

// Steps are the C functions for the timed loop: the operation blocks, so there is nothing to wait for. An error code of
// sync is that of its own library; that of issue is Error's.
func (o *Operation) Steps() loop.Steps {
	step := func(f C.busbar_step) loop.Step { return loop.Step(unsafe.Pointer(f)) }
	return loop.Steps{Issue: step(o.prepared.issue), Sync: step(o.prepared.sync),
		Context: unsafe.Pointer(o.prepared.operation)}
}

// Notes describe how the operation runs if it is not the function of its name.
func (o *Operation) Notes() []string { return o.notes }

// Error turns the code of an issue (loop.StepError) into an *Error; nil for 0.
func (o *Operation) Error(code int) error {
	if code == 0 {
		return nil
	}
	var e C.error_text
	C.call_last_error(o.c.l.t, o.c.c, &e)
	return errorOf(o.function, &e)
}

// Close frees what Prepare made, except the buffers; closing twice does nothing.
func (o *Operation) Close() {
	if o.prepared.operation != nil {
		C.call_release(o.c.l.t, o.prepared.operation)
		o.prepared.operation = nil
	}
}
