//go:build cgo

package nccl

/*
#include <stdlib.h>
#include "call.h"

static const char *cuda_name(const struct busbar_cuda *c, int code, int text)
{
	const char *found = NULL;
	if (text)
		c->error_string(code, &found);
	else
		c->error_name(code, &found);
	return found ? found : text ? "an error that the driver has no text for" : "CUDA_ERROR";
}
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"busbar/cudart"
	"busbar/internal/loop"
)

// Operation is a prepared operation. It is used by one thread.
type Operation struct {
	c        *Comm
	function string
	cuda     *C.struct_busbar_cuda
	prepared C.struct_busbar_nccl_prepared
	notes    []string
}

// The constants of the two sides are the same.
var _ = [1]struct{}{}[(int(SendRecv)-C.BUSBAR_SEND_RECV)|(int(Float8E5M2)-1-C.NCCL_FLOAT8E5M2)|(int(BFloat16)-1-C.NCCL_BFLOAT16)|
	(int(Min)-1-C.NCCL_MIN)|(int(PreMulSum)-1-C.BUSBAR_PRE_MUL_SUM)|(IDBytes-C.sizeof_nccl_id)|
	(interruptedCode-C.BUSBAR_INTERRUPTED)|(cudaCode-C.BUSBAR_CUDA_CODE)]

// Prepare makes an operation ready: all arguments are bound, nothing is sent. It is local to the rank. The error is an
// *UnsupportedError if NCCL or this library does not have the operation, else an *Error. Whether the library has it for
// the type, the reduction and the GPU shows when it is first issued (Error.Unsupported).
func (c *Comm) Prepare(s OpSpec) (*Operation, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	if s.Cuda == nil {
		return nil, errors.New("nccl: an operation needs the table of the CUDA driver (OpSpec.Cuda)")
	}
	o := &Operation{c: c, function: s.Kind.String(), cuda: (*C.struct_busbar_cuda)(s.Cuda)}
	if err := o.supported(s); err != nil {
		return nil, err
	}
	spec := C.struct_busbar_nccl_spec{
		kind: C.int(s.Kind), _type: C.int(s.Type - 1), root: C.int(s.Root),
		rank: C.int(c.rank), ranks: C.int(c.size), bytes: C.int64_t(s.Type.Size()),
		send: C.uint64_t(s.Send), recv: C.uint64_t(s.Recv), count: C.int64_t(s.Count),
		slots: C.int64_t(max(1, s.Slots)), send_stride: C.int64_t(s.SendStride), recv_stride: C.int64_t(s.RecvStride),
		aggregate: C.int(max(1, s.Aggregate)), graph: C.int(max(0, s.Graph)), event_batches: C.int64_t(s.Events),
		stream: s.Stream, cuda: o.cuda, sync: C.busbar_step(s.Sync), sync_context: s.SyncContext,
	}
	if s.Algorithms != "" {
		spec.algorithms = C.CString(s.Algorithms)
		defer C.free(unsafe.Pointer(spec.algorithms))
	}
	if s.Kind.reduces() {
		spec.op = C.int(s.Op - 1)
	}
	switch rc := C.busbar_nccl_prepare(c.c, &spec, &o.prepared); {
	case rc >= cudaCode: // of events
		return nil, o.Error(int(rc))
	case rc != 0:
		return nil, c.check("preparing "+o.function, rc)
	}
	if o.prepared.operation == nil {
		if s.Algorithms != "" {
			return nil, c.l.lacks(o.function + " with a choice of algorithms")
		}
		return nil, c.l.lacks(o.function)
	}
	o.describe(s)
	return o, nil
}

// supported refuses what NCCL does not have.
func (o *Operation) supported(s OpSpec) error {
	elements := int64(1)
	if s.Kind.shared() {
		elements = int64(o.c.size)
	}
	switch {
	case s.Kind < AllReduce || s.Kind > SendRecv:
		return unsupported("NCCL has no operation %s", s.Kind)
	case !s.Type.valid():
		return unsupported("NCCL has no type %s", s.Type)
	case s.Kind.reduces() && (s.Op < Sum || s.Op > PreMulSum):
		return unsupported("%s needs a reduction, and %s is none", s.Kind, s.Op)
	case s.Kind.reduces() && s.Op == PreMulSum && o.c.l.t.op_create == nil:
		return o.c.l.lacks("ncclRedOpCreatePreMulSum")
	case (s.Kind == AllToAll || s.Kind == SendRecv) && s.Send == s.Recv && s.Count > 0:
		return unsupported("%s cannot work in place: it would send what it has just received", s.Kind)
	case s.Kind.rooted() && (s.Root < 0 || s.Root >= o.c.size):
		return fmt.Errorf("nccl: root %d of %s is none of %d ranks", s.Root, s.Kind, o.c.size)
	case s.Count < 0 || s.Count > math.MaxInt64/s.Type.Size()/elements:
		return unsupported("%d elements of %s for each of %d ranks are more than 2⁶³ bytes", s.Count, s.Type, elements)
	case s.Graph > 0 && C.busbar_nccl_has_graphs(o.cuda) == 0:
		return unsupported("the CUDA driver is too old to capture graphs (they need CUDA 11.4)")
	}
	return nil
}

func (o *Operation) describe(s OpSpec) {
	o.function = C.GoString(o.prepared.function)
	switch s.Kind {
	case AllToAll, Gather, Scatter:
		how := "by " + o.function
		if o.prepared.grouped != 0 {
			how = "by grouped " + o.function + ": the library has no " + s.Kind.String()
		}
		o.notes = append(o.notes, how)
	}
	if s.Kind.reduces() && s.Op == PreMulSum {
		o.notes = append(o.notes, fmt.Sprintf("premulsum = every rank's input times %d, summed", PreMulFactor))
	}
	if s.Graph > 0 {
		o.notes = append(o.notes, fmt.Sprintf("a CUDA graph of %d operations for each launch",
			s.Graph*max(1, s.Aggregate)))
	}
}

// Steps are the C functions for the timed loop. Issue puts the operation onto the stream; wait polls the stream, and
// now and then the communicator's state, until all is done, something failed, or Interrupt was called; sync is the
// spec's. An error code of sync is that of its own library; those of the others are Error's.
func (o *Operation) Steps() loop.Steps {
	step := func(f C.busbar_step) loop.Step { return loop.Step(unsafe.Pointer(f)) }
	return loop.Steps{Issue: step(o.prepared.issue), Wait: step(o.prepared.wait), Sync: step(o.prepared.sync),
		Context: unsafe.Pointer(o.prepared.operation)}
}

// Times are the device's times of the batches since the last call, in seconds; nil without OpSpec.Events. The stream's
// work must have been waited for.
func (o *Operation) Times() ([]float64, error) {
	var ms *C.float
	var batches C.int64_t
	if err := o.Error(int(C.busbar_nccl_times(o.prepared.operation, &ms, &batches))); err != nil || batches == 0 {
		return nil, err
	}
	times := make([]float64, batches)
	for i, t := range unsafe.Slice(ms, batches) {
		times[i] = float64(t) / 1e3
	}
	return times, nil
}

// Notes say how the operation is done where there is more than one way.
func (o *Operation) Notes() []string { return o.notes }

// Error turns the code of an issue or a wait (loop.StepError) into an *Error, a *cudart.Error or ErrInterrupted; nil
// for 0.
func (o *Operation) Error(code int) error { return o.c.stepError(o.cuda, o.function, code) }

func (c *Comm) stepError(cuda *C.struct_busbar_cuda, function string, code int) error {
	if code < cudaCode || code >= interruptedCode {
		return c.check(function, C.int(code))
	}
	number := C.int(code - cudaCode)
	return &cudart.Error{Op: function + " on its stream", Code: int(number),
		Name: C.GoString(C.cuda_name(cuda, number, 0)), Text: C.GoString(C.cuda_name(cuda, number, 1))}
}

// Close gives back what Prepare made, except the buffers; it must not run any more. Closing twice does nothing.
func (o *Operation) Close() error {
	if o.prepared.operation == nil {
		return nil
	}
	rc := C.busbar_nccl_release(o.prepared.operation)
	o.prepared.operation = nil
	return o.Error(int(rc))
}
