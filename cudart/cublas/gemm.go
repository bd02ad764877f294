//go:build cgo

package cublas

/*
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"busbar/cudart"
	"busbar/internal/loop"
)

// workspace is NVIDIA's recommendation for its newest GPUs, whose fastest kernels need the most.
const workspace = 32 << 20

const halfBytes = 2

// GEMM computes products of square half-precision matrices, summed in float32, on one stream.
type GEMM struct {
	l    *Library
	c    *cudart.Context
	g    *C.struct_busbar_cublas_gemm // C memory
	room cudart.Pointer               // cuBLAS' workspace, so that it allocates nothing by itself
}

// NewGEMM starts cuBLAS for a stream of a context; the matrices are made by Resize.
func (l *Library) NewGEMM(c *cudart.Context, s *cudart.Stream) (*GEMM, error) {
	g := &GEMM{l: l, c: c, g: (*C.struct_busbar_cublas_gemm)(C.calloc(1, C.sizeof_struct_busbar_cublas_gemm))}
	g.g.t = l.t
	err := check("cublasCreate_v2", C.cublas_create(l.t, &g.g.handle))
	if err == nil {
		err = check("cublasSetStream_v2", C.cublas_set_stream(l.t, g.g.handle, s.Pointer()))
	}
	if err == nil && l.t.set_workspace != nil {
		// the stream is set before: setting it takes the workspace away
		if g.room, err = c.Alloc(workspace); err == nil {
			err = check("cublasSetWorkspace_v2", C.cublas_set_workspace(l.t, g.g.handle, C.uint64_t(g.room), workspace))
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", l.info.Path, err), g.Close())
	}
	return g, nil
}

// Resize replaces the matrices by ones of n rows and columns; no work on them may be on the stream. fill
// writes a table of bytes into device memory, repeated.
func (g *GEMM) Resize(n int, fill func(p cudart.Pointer, bytes int64, table []byte) error) (err error) {
	if err := g.drop(); err != nil {
		return err
	}
	g.g.n = C.int(n)
	bytes := int64(n) * int64(n) * halfBytes
	table := numbers()
	for _, m := range []*C.cuda_pointer{&g.g.a, &g.g.b, &g.g.c} {
		p, err := g.c.Alloc(bytes)
		if err != nil {
			return fmt.Errorf("cannot allocate a %d x %d half-precision matrix: %w", n, n, err)
		}
		*m = C.cuda_pointer(p)
		if err := fill(p, bytes, table); err != nil {
			return err
		}
	}
	return nil
}

// numbers is a table of halves between -1 and 1 with all bits in use: a GPU takes more power for them than for zeros,
// and may have to lower its clock, as it has to in a training. Its length is prime, so that no two rows are alike.
func numbers() []byte {
	const length, smallest, exponents = 4093, 11, 4 // exponents of 2⁻⁴ to 2⁻¹
	table := make([]byte, 0, length*halfBytes)
	x := uint32(1)
	for range length {
		x = x*1664525 + 1013904223
		half := uint16(x>>16)&0x83FF | uint16(smallest+(x>>8)%exponents)<<10
		table = append(table, byte(half), byte(half>>8))
	}
	return table
}

// Work is the products in amounts of whole ones.
func (g *GEMM) Work() cudart.Work {
	return cudart.Work{Start: loop.Step(C.busbar_cublas_multiply), Context: unsafe.Pointer(g.g),
		Error: func(code int) error { return check("cublasGemmEx", C.int(code)) }}
}

// drop frees the matrices.
func (g *GEMM) drop() error {
	var errs []error
	for _, m := range []*C.cuda_pointer{&g.g.a, &g.g.b, &g.g.c} {
		errs = append(errs, g.c.Free(cudart.Pointer(*m)))
		*m = 0
	}
	return errors.Join(errs...)
}

// Close frees everything; no work may be on the stream. Closing twice, or nil, does nothing.
func (g *GEMM) Close() error {
	if g == nil || g.g == nil {
		return nil
	}
	var err error
	if g.g.handle != nil {
		err = check("cublasDestroy_v2", C.cublas_destroy(g.l.t, g.g.handle))
	}
	err = errors.Join(err, g.drop(), g.c.Free(g.room))
	C.free(unsafe.Pointer(g.g))
	g.g = nil
	return err
}
