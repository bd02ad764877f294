//go:build cgo

package loop

/*
#include <stdlib.h>
#include "loop.h"

static busbar_step beside_issue(void) { return busbar_beside_issue; }
static busbar_step beside_wait(void) { return busbar_beside_wait; }
static busbar_step beside_sync(void) { return busbar_beside_sync; }
typedef int (*start_call)(void *context);
typedef int (*test_call)(void *context, int *done);
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Part is an operation that runs beside others: by Steps, whose Wait is not nil, or by Async.
type Part struct {
	Steps
	Async  Async
	Failed func(code int) error // the error of a step's code
}

// Beside is one or two operations that run at the same time, as one (struct busbar_beside of loop.h).
type Beside struct {
	c     *C.struct_busbar_beside
	parts []Part
}

// NewBeside binds the parts, all of one kind, in the order in which they start. sync brings the ranks of all of them
// together. The parts' contexts must live until Close.
func NewBeside(parts []Part, sync Step, context unsafe.Pointer) (*Beside, error) {
	b := &Beside{(*C.struct_busbar_beside)(C.calloc(1, C.sizeof_struct_busbar_beside)), parts}
	if b.c == nil {
		return nil, errors.New("loop: no memory for operations beside each other")
	}
	b.c.n, b.c.sync, b.c.sync_context = C.int(len(parts)), C.busbar_step(sync), context
	for i, p := range parts {
		b.c.part[i].issue, b.c.part[i].wait = C.busbar_step(p.Issue), C.busbar_step(p.Wait)
		b.c.part[i].context = p.Context
		b.c.part[i].async = C.struct_busbar_async{start: C.start_call(p.Async.Start), test: C.test_call(p.Async.Test),
			wait: C.start_call(p.Async.Wait), context: p.Async.Context}
	}
	return b, nil
}

// Steps are the functions of all parts as one operation.
func (b *Beside) Steps() Steps {
	s := Steps{Issue: Step(C.beside_issue()), Sync: Step(C.beside_sync()), Context: unsafe.Pointer(b.c)}
	if b.c.part[0].wait != nil {
		s.Wait = Step(C.beside_wait())
	}
	return s
}

// Failed returns the error of the code that ended a run, of the part whose step failed.
func (b *Beside) Failed(code int) error { return b.parts[b.c.failed].Failed(code) }

// Close frees it, not its parts; closing twice does nothing.
func (b *Beside) Close() {
	C.free(unsafe.Pointer(b.c))
	b.c = nil
}
