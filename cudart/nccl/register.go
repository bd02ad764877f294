//go:build cgo

package nccl

/*
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"unsafe"

	"busbar/internal/operation"
)

// Registration is a buffer registered with NCCL; the zero value is none.
type Registration struct{ r *registration }

type registration struct {
	c      *Comm
	window C.int
	handle *unsafe.Pointer // C memory, which NCCL writes to when it is done
}

// Register registers a buffer that operations will use (ncclCommRegister), or, as a window, of one that all ranks
// register at once and that lies in memory from MemAlloc (ncclCommWindowRegister, symmetric). The buffer may be given
// back only after Close. The error is an *operation.UnsupportedError, also where NCCL accepts the buffer and then
// does nothing with it, or an *Error.
func (c *Comm) Register(p uint64, bytes int64, window bool) (Registration, error) {
	if err := c.ready(); err != nil {
		return Registration{}, err
	}
	r := &registration{c: c}
	function, there := "ncclCommRegister", c.l.t.buffer_register != nil && c.l.t.buffer_deregister != nil
	if window {
		r.window = 1
		function, there = "ncclCommWindowRegister", c.l.t.window_register != nil && c.l.t.window_deregister != nil
	}
	if !there {
		return Registration{}, c.l.lacks(function)
	}
	r.handle = (*unsafe.Pointer)(C.calloc(1, C.sizeof_uintptr_t))
	err := c.check(function, C.busbar_nccl_register(c.c, C.uint64_t(p), C.size_t(bytes), r.window, r.handle))
	if err != nil {
		return Registration{}, err // the handle stays: the library may still write to it
	}
	if *r.handle == nil {
		C.free(unsafe.Pointer(r.handle))
		return Registration{}, operation.Unsupported("%s accepted a buffer of %d bytes but did not register it: "+
			"windows need memory from ncclMemAlloc and GPUs that reach each other's memory, "+
			"NCCL_LOCAL_REGISTER=0 switches buffers off", function, bytes)
	}
	return Registration{r}, nil
}

// Close deregisters the buffer. Closing twice, the zero value, or after the communicator's end, does nothing.
func (r Registration) Close() error {
	if r.r == nil || r.r.handle == nil {
		return nil
	}
	defer func() {
		C.free(unsafe.Pointer(r.r.handle))
		r.r.handle = nil
	}()
	if r.r.c.ready() != nil {
		return nil
	}
	function := "ncclCommDeregister"
	if r.r.window != 0 {
		function = "ncclCommWindowDeregister"
	}
	return r.r.c.check(function, C.busbar_nccl_deregister(r.r.c.c, r.r.window, *r.r.handle))
}
