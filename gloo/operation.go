//go:build cgo

package gloo

/*
#include "call.h"
*/
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"busbar/internal/loop"
)

// Operation is a prepared operation. It is used by one thread.
type Operation struct {
	c        *Context
	function string
	prepared C.struct_busbar_gloo_prepared
	notes    []string
}

// The constants of the two sides are the same.
var _ = [1]struct{}{}[(int(SendRecv)-C.BUSBAR_SEND_RECV)|(int(Float64)-C.BUSBAR_FLOAT64)|(int(Avg)-C.BUSBAR_AVG)|
	(int(BCube)-C.BUSBAR_GLOO_BCUBE)|(int(Failed)-C.BUSBAR_GLOO_FAILED)|(int(Interrupted)-C.BUSBAR_GLOO_INTERRUPTED)]

// Prepare makes an operation ready: all arguments are bound, nothing is sent. It is local to the rank. The error is an
// *UnsupportedError if Gloo does not have the operation, else an *Error.
func (c *Context) Prepare(s OpSpec) (*Operation, error) { return c.prepare(s, 0) }

// prepare lets a test say how many bytes reduce_scatter sends at once.
func (c *Context) prepare(s OpSpec, segment int64) (*Operation, error) {
	if err := s.supported(c.size); err != nil {
		return nil, err
	}
	spec := C.struct_busbar_gloo_spec{
		kind: C.int(s.Kind), _type: C.int(s.Type), op: C.int(s.Op), root: C.int(s.Root), algorithm: C.int(s.Algorithm),
		aggregate: C.int(max(1, s.Aggregate)), send: s.Send, recv: s.Recv, count: C.int64_t(s.Count),
		slots: C.int64_t(max(1, s.Slots)), send_stride: C.int64_t(s.SendStride), recv_stride: C.int64_t(s.RecvStride),
		segment: C.int64_t(segment), sync: C.busbar_step(s.Sync), sync_context: s.SyncContext,
	}
	if s.InPlace {
		spec.in_place = 1
	}
	o := &Operation{c: c, function: s.Kind.String()}
	var e C.error_text
	if rc := C.call_prepare(c.l.t, c.c, &spec, &o.prepared, &e); rc != 0 {
		return nil, errorOf("preparing "+o.function, &e)
	}
	o.describe(s)
	return o, nil
}

// supported refuses what Gloo does not have.
func (s OpSpec) supported(ranks int) error {
	unsupported := func(format string, args ...any) error {
		return &UnsupportedError{Reason: fmt.Sprintf(format, args...)}
	}
	elements := int64(1)
	if s.Kind.shared() {
		elements = int64(ranks)
	}
	switch {
	case s.Kind < AllReduce || s.Kind > SendRecv:
		return unsupported("Gloo has no operation %s", s.Kind)
	case !s.Type.valid():
		return unsupported("Gloo has no type %s", s.Type)
	case s.Kind.reduces() && (s.Op < Sum || s.Op > Avg):
		return unsupported("%s needs a reduction, and %s is none", s.Kind, s.Op)
	case s.InPlace && (s.Kind == AllToAll || s.Kind == SendRecv):
		return unsupported("%s cannot work in place: it would send what it has just received", s.Kind)
	case s.Algorithm < Ring || s.Algorithm > BCube:
		return unsupported("Gloo has no algorithm %s", s.Algorithm)
	case s.Kind.rooted() && (s.Root < 0 || s.Root >= ranks):
		return fmt.Errorf("gloo: root %d of %s is none of %d ranks", s.Root, s.Kind, ranks)
	case s.Count < 0 || s.Count > math.MaxInt64/s.Type.Size()/elements:
		return unsupported("%d elements of %s for each of %d ranks are more than 2⁶³ bytes", s.Count, s.Type, elements)
	}
	return nil
}

func (o *Operation) describe(s OpSpec) {
	note := func(format string, args ...any) { o.notes = append(o.notes, fmt.Sprintf(format, args...)) }
	switch s.Kind {
	case AllReduce:
		note("by Gloo's %s", s.Algorithm)
	case ReduceScatter:
		note("busbar's own ring over Gloo's buffers: Gloo has no reduce_scatter")
	case SendRecv:
		note("by Gloo's unbound buffers")
	case Reduce:
		if s.InPlace {
			note("Gloo leaves partial results in the buffers of all ranks")
		} else {
			note("ranks other than the root reduce into memory that busbar adds")
		}
	case Gather, Scatter:
		if s.InPlace {
			note("Gloo copies the root's own share onto itself")
		}
	}
	if s.Kind.reduces() {
		note("the loops that reduce are busbar's, as Gloo wants them from its caller")
		if s.Op == Avg {
			note("avg = sum and a division by busbar")
		}
	}
}

// Steps are the C functions for the timed loop: the operation blocks, so there is nothing to wait for. An error code of
// sync is that of its own library; that of issue is Error's.
func (o *Operation) Steps() loop.Steps {
	step := func(f C.busbar_step) loop.Step { return loop.Step(unsafe.Pointer(f)) }
	return loop.Steps{Issue: step(o.prepared.issue), Sync: step(o.prepared.sync),
		Context: unsafe.Pointer(o.prepared.operation)}
}

// Notes say how the operation is done where that is not simply the function of its name.
func (o *Operation) Notes() []string { return o.notes }

// Scratch is how many bytes the operation has beside its buffers.
func (o *Operation) Scratch() int64 { return int64(o.prepared.scratch) }

// Error turns the code of an issue (loop.StepError) into an *Error; nil for 0.
func (o *Operation) Error(code int) error {
	if code == 0 {
		return nil
	}
	var e C.error_text
	C.call_last_error(o.c.l.t, o.c.c, &e)
	return errorOf(o.function, &e)
}

// Close gives back what Prepare made, except the buffers; closing twice does nothing.
func (o *Operation) Close() {
	if o.prepared.operation != nil {
		C.call_release(o.c.l.t, o.prepared.operation)
		o.prepared.operation = nil
	}
}
