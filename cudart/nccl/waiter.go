//go:build cgo

package nccl

/*
#include <stdlib.h>
#include "nccl.h"
*/
import "C"

import (
	"unsafe"

	"busbar/cudart"
)

// Waiter waits for a stream that has other work beside operations of a communicator: as an operation's own wait does,
// it asks the stream, and now and then the communicator, and can be interrupted.
type Waiter struct {
	c *Comm
	w *C.struct_busbar_nccl_waiter // C memory
}

// Waiter makes one for a stream; cuda is the table of the driver's functions.
func (c *Comm) Waiter(cuda, stream unsafe.Pointer) (*Waiter, error) {
	if err := c.ready(); err != nil {
		return nil, err
	}
	w := &Waiter{c: c, w: (*C.struct_busbar_nccl_waiter)(C.calloc(1, C.sizeof_struct_busbar_nccl_waiter))}
	*w.w = C.struct_busbar_nccl_waiter{c: c.c, cuda: (*C.struct_busbar_cuda)(cuda), stream: C.cuda_stream(stream)}
	return w, nil
}

// Wait is the wait function of a program of package cudart.
func (w *Waiter) Wait() cudart.Wait {
	cuda := w.w.cuda
	return cudart.Wait{Call: unsafe.Pointer(C.busbar_nccl_wait), Context: unsafe.Pointer(w.w),
		Error: func(code int) error { return w.c.stepError(cuda, "the operations of a step", code) }}
}

// Close frees it; closing twice, or nil, does nothing.
func (w *Waiter) Close() {
	if w != nil {
		C.free(unsafe.Pointer(w.w))
		w.w = nil
	}
}
