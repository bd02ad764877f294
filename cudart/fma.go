//go:build cgo

package cudart

/*
#include <stdlib.h>
#include "call.h"
#include "fma.h"
*/
import "C"

import (
	_ "embed"
	"errors"
	"unsafe"

	"busbar/internal/loop"
)

//go:embed work.ptx
var workText string

// One block of 128 threads is a warp for each of a multiprocessor's four schedulers, which is enough to multiply and
// add in every cycle, since each thread has eight chains that do not wait for each other. And it takes little of what
// a block of NCCL needs beside it: of 65,536 registers at most 4,096 (scripts/ptx.sh sees to it), where NCCL's
// largest blocks, 640 threads of 96, take 61,440. Those would have to wait for the end of a kernel that took more,
// and nothing could overlap. NCCL's symmetric kernels (512 threads of 128 registers) take all of them, so rank
// refuses to compute with this kernel beside them.
const (
	fmaBlocks  = 1 // of a multiprocessor
	fmaThreads = 128
)

// FMA computes with busbar's own kernel, which multiplies and adds in registers: it occupies multiprocessors but not
// memory. The driver compiles it for the device.
type FMA struct {
	c      *Context
	f      *C.struct_busbar_cuda_fma // C memory
	module C.cuda_module
	sink   Pointer
}

// NewFMA makes the kernel ready for a stream. The error is an *UnsupportedError where the driver lacks a function.
func (s *Stream) NewFMA() (f *FMA, err error) {
	c, d := s.c, s.c.d
	if !d.hasModules() {
		return nil, d.unsupported(moduleFunctions)
	}
	processors, err := d.attribute(attributeProcessors, c.device)
	if err != nil {
		return nil, err
	}
	f = &FMA{c: c, f: (*C.struct_busbar_cuda_fma)(C.calloc(1, C.sizeof_struct_busbar_cuda_fma))}
	*f.f = C.struct_busbar_cuda_fma{cuda: d.t, stream: s.s, blocks: C.uint(max(1, processors) * fmaBlocks),
		threads: fmaThreads}
	if f.module, err = c.loadModule(workText); err == nil {
		f.f.kernel, err = c.function(f.module, "busbar_fma")
	}
	if err == nil {
		f.sink, err = c.Alloc(4)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.f.sink = C.cuda_pointer(f.sink)
	return f, nil
}

// Work is the kernel in amounts of iterations; a start is one kernel.
func (f *FMA) Work() Work {
	return Work{Start: loop.Step(C.busbar_cuda_fma), Context: unsafe.Pointer(f.f),
		Error: func(code int) error { return f.c.check("cuLaunchKernel of busbar_fma", C.result(code)) }}
}

// Close gives the kernel back, which must not be on its stream any more; closing twice, or nil, does nothing.
func (f *FMA) Close() error {
	if f == nil || f.f == nil {
		return nil
	}
	err := errors.Join(f.c.Free(f.sink), f.c.unloadModule(f.module))
	C.free(unsafe.Pointer(f.f))
	f.f = nil
	return err
}
