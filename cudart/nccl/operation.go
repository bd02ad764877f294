//go:build cgo

package nccl

/*
#include "call.h"

static const char *cuda_name(const struct busbar_cuda *c, int code, int text)
{
	const char *found = NULL;
	if (text)
		c->error_string(code, &found);
	else
		c->error_name(code, &found);
	return found ? found : text ? "unknown error" : "CUDA_ERROR";
}
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"

	"busbar/cudart"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
)

// Operation is a prepared operation. It is used by one thread.
type Operation struct {
	c        *Comm
	function string
	cuda     *C.struct_busbar_cuda
	prepared C.struct_busbar_nccl_prepared
	notes    []string
}

// OpSpec is one operation to be measured, on device memory that must live until Operation.Close.
type OpSpec struct {
	operation.Spec
	Send, Recv uint64 // device addresses

	Stream unsafe.Pointer // CUstream
	Cuda   unsafe.Pointer // *struct busbar_cuda (cudart/cuda.h): the driver's functions

	// Sync brings the ranks together before a batch; nil for nothing. What it returns is its own library's.
	Sync        loop.Step
	SyncContext unsafe.Pointer

	// With Graph of g > 0, the loop issues launches of a CUDA graph of g operations (or groups, with Aggregate),
	// captured on first use: operations 0 to g-1, so g should be a multiple of Slots.
	Graph int
}

// The constants of the two sides are the same.
var _ = [1]struct{}{}[(int(coll.AllToAllV)-C.BUSBAR_ALL_TO_ALL_V)|(IDBytes-C.sizeof_nccl_id)|
	(interruptedCode-C.BUSBAR_INTERRUPTED)|(cudaCode-C.BUSBAR_CUDA_CODE)]

// types and reductions are NCCL's numbers.
var (
	types = map[coll.DataType]C.int{coll.Int8: C.NCCL_INT8, coll.UInt8: C.NCCL_UINT8, coll.Int32: C.NCCL_INT32,
		coll.UInt32: C.NCCL_UINT32, coll.Int64: C.NCCL_INT64, coll.UInt64: C.NCCL_UINT64,
		coll.Float16: C.NCCL_FLOAT16, coll.BFloat16: C.NCCL_BFLOAT16, coll.Float32: C.NCCL_FLOAT32,
		coll.Float64: C.NCCL_FLOAT64, coll.Float8E4M3: C.NCCL_FLOAT8E4M3, coll.Float8E5M2: C.NCCL_FLOAT8E5M2}
	reductions = map[coll.RedOp]C.int{coll.Sum: C.NCCL_SUM, coll.Prod: C.NCCL_PROD, coll.Min: C.NCCL_MIN,
		coll.Max: C.NCCL_MAX, coll.Avg: C.NCCL_AVG, coll.MulSum: C.BUSBAR_PRE_MUL_SUM}
)

// Prepare makes an operation ready: all arguments are bound, nothing is sent. It is local to the rank. The error is an
// *operation.UnsupportedError if this library or the driver lacks a function for it, else an *Error. Whether the
// library has it for the type, the reduction and the GPU shows when it is first issued (Error.Unsupported).
func (c *Comm) Prepare(s OpSpec) (*Operation, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	o := &Operation{c: c, function: functions[s.Collective], cuda: (*C.struct_busbar_cuda)(s.Cuda)}
	if s.Op == coll.MulSum && c.l.t.op_create == nil {
		return nil, c.l.lacks("ncclRedOpCreatePreMulSum")
	}
	if s.Graph > 0 && C.busbar_nccl_has_graphs(o.cuda) == 0 {
		return nil, operation.Unsupported("the CUDA driver is too old to capture graphs (they need CUDA 11.4)")
	}
	spec := C.struct_busbar_nccl_spec{
		kind: C.int(s.Collective), _type: types[s.Type], op: reductions[s.Op], root: C.int(s.RootRank()),
		rank: C.int(c.rank), ranks: C.int(c.size), bytes: C.int64_t(s.Type.Size()),
		send: C.uint64_t(s.Send), recv: C.uint64_t(s.Recv), count: C.int64_t(s.Count),
		slots: C.int64_t(max(1, s.Slots)), send_stride: C.int64_t(s.SendStride), recv_stride: C.int64_t(s.RecvStride),
		aggregate: C.int(max(1, s.Aggregate)), graph: C.int(max(0, s.Graph)),
		stream: s.Stream, cuda: o.cuda, sync: C.busbar_step(s.Sync), sync_context: s.SyncContext,
	}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	sends, receives := s.Splits(c.rank, c.size, &pinned)
	spec.sends, spec.receives = (*C.int64_t)(sends), (*C.int64_t)(receives)
	if rc := C.busbar_nccl_prepare(c.c, &spec, &o.prepared); rc != 0 {
		return nil, c.check("preparing "+o.function, rc)
	}
	if o.prepared.operation == nil {
		return nil, c.l.lacks(o.function)
	}
	o.describe(s)
	return o, nil
}

func (o *Operation) describe(s OpSpec) {
	wanted := o.function
	o.function = C.GoString(o.prepared.function)
	switch {
	case s.Collective == coll.SendRecv || s.Collective == coll.AllToAllV:
	case o.prepared.grouped != 0:
		o.notes = append(o.notes, "by grouped "+o.function+": the library has no "+wanted)
	case s.Collective == coll.AllToAll || s.Collective == coll.Gather || s.Collective == coll.Scatter:
		o.notes = append(o.notes, "by "+o.function)
	}
	if s.Op == coll.MulSum {
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

// Notes describe how the operation runs if NCCL has several ways.
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

// Close frees what Prepare made, except the buffers; the operation must not be running. Closing twice does nothing.
func (o *Operation) Close() error {
	if o.prepared.operation == nil {
		return nil
	}
	rc := C.busbar_nccl_release(o.prepared.operation)
	o.prepared.operation = nil
	return o.Error(int(rc))
}
