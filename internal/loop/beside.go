//go:build cgo

package loop

/*
#include <stdlib.h>
#include "loop.h"

static busbar_step beside_issue(void) { return busbar_beside_issue; }
static busbar_step beside_wait(void) { return busbar_beside_wait; }
static busbar_step beside_sync(void) { return busbar_beside_sync; }

static struct busbar_beside *beside_new(busbar_step sync, void *context)
{
	struct busbar_beside *b = calloc(1, sizeof *b);
	if (b) {
		b->sync = sync;
		b->sync_context = context;
	}
	return b;
}

// one of issue and start is NULL, with its wait
static void beside_add(struct busbar_beside *b, busbar_step issue, busbar_step wait, void *context, void *start,
	void *finish, void *async)
{
	struct busbar_beside_part *p = &b->part[b->n++];
	p->issue = issue;
	p->wait = wait;
	p->context = context;
	p->async.start = (int (*)(void *))start;
	p->async.wait = (int (*)(void *))finish;
	p->async.context = async;
}
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
	b := &Beside{C.beside_new(C.busbar_step(sync), context), parts}
	if b.c == nil {
		return nil, errors.New("loop: no memory for operations beside each other")
	}
	for _, p := range parts {
		C.beside_add(b.c, C.busbar_step(p.Issue), C.busbar_step(p.Wait), p.Context, unsafe.Pointer(p.Async.Start),
			unsafe.Pointer(p.Async.Wait), p.Async.Context)
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
