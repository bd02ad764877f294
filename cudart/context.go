//go:build cgo

package cudart

/*
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
)

// Context is the primary context of a device: the one that NCCL's own runtime uses too. All that is made with it is
// used by threads for which it is current; a caller locks its goroutine to the OS thread.
type Context struct {
	d       *Driver
	ordinal int
	device  C.cuda_device
	c       C.cuda_context
}

// Open retains the primary context of a device and makes it current on the calling OS thread.
func (d *Driver) Open(ordinal int) (*Context, error) {
	c := &Context{d: d, ordinal: ordinal}
	err := d.check("cuDeviceGet", C.call_device_get(d.t, &c.device, C.int(ordinal)))
	if err == nil {
		err = d.check("cuDevicePrimaryCtxRetain", C.call_context_retain(d.t, &c.c, c.device))
	}
	if err != nil {
		return nil, fmt.Errorf("GPU %d: %w", ordinal, err)
	}
	if err := c.MakeCurrent(); err != nil {
		return nil, errors.Join(fmt.Errorf("GPU %d: %w", ordinal, err), c.release())
	}
	return c, nil
}

// Ordinal is the device's number among those that this process may use.
func (c *Context) Ordinal() int { return c.ordinal }

// MakeCurrent makes the context that of the calling OS thread.
func (c *Context) MakeCurrent() error {
	return c.check("cuCtxSetCurrent", C.call_context_set(c.d.t, c.c))
}

// Close leaves the context, on the calling thread, and releases it; closing twice does nothing. What was made with it
// is closed before.
func (c *Context) Close() error {
	if c.c == nil {
		return nil
	}
	return errors.Join(c.check("cuCtxSetCurrent", C.call_context_set(c.d.t, nil)), c.release())
}

func (c *Context) release() error {
	c.c = nil
	return c.check("cuDevicePrimaryCtxRelease_v2", C.call_context_release(c.d.t, c.device))
}

// Memory returns the free and total memory of the device, in bytes.
func (c *Context) Memory() (free, total int64, err error) {
	var f, t C.size_t
	err = c.check("cuMemGetInfo_v2", C.call_memory_info(c.d.t, &f, &t))
	return int64(f), int64(t), err
}

// Alloc allocates device memory, aligned to 256 bytes, with undefined content. 0 bytes have their own address. If
// memory is short, the error is an *Error whose IsOutOfMemory is true.
func (c *Context) Alloc(bytes int64) (Pointer, error) {
	var p C.cuda_pointer
	err := c.check("cuMemAlloc_v2", C.call_memory_alloc(c.d.t, &p, C.size_t(max(1, bytes))))
	return Pointer(p), err
}

// Free frees memory of Alloc, after all work of the device; it does nothing for 0.
func (c *Context) Free(p Pointer) error {
	if p == 0 {
		return nil
	}
	return c.check("cuMemFree_v2", C.call_memory_free(c.d.t, C.cuda_pointer(p)))
}

func (c *Context) check(op string, rc C.result) error { return c.d.check(op, rc) }
