//go:build cgo

package program

/*
#include <stdlib.h>
#include "program.h"

static int failed(struct program *p) { return atomic_load(&p->failed); }
static int computing(struct program *p) { return atomic_load(&p->computing); }
static uint64_t parts(struct program *p) { return atomic_load(&p->parts); }
static int communicating(struct program *p) { return atomic_load(&p->communicating); }
static busbar_step sync_step(void) { return program_sync; }
static busbar_step run_step(void) { return program_run; }
typedef int (*call)(void *context);
typedef int (*test_call)(void *context, int *done);
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"busbar/internal/loop"
)

// HostOp is an operation of a program on a host. With Async the library starts and completes it; without, Issue blocks
// until it is over, and the second thread calls it. The functions and their contexts stay the caller's, and must live
// until Host.Close.
type HostOp struct {
	Link
	Async   loop.Async
	Issue   loop.Step
	Context unsafe.Pointer // of Issue
}

// HostSpec is a program for a host.
type HostSpec struct {
	Segments []uint64 // units of work, as Crew.Calibrate counts them
	Ops      []HostOp // all by Async, or all by Issue
	// Interval is after how long while a segment computes the oldest operation that is on its way is tested, and once
	// it is done the next; 0: no call of the library is made while a segment computes. Of operations by Async only.
	Interval time.Duration
	// Sync brings the ranks together before a step, as in loop.Steps, with a context of its own; nil: nothing does.
	Sync        loop.Step
	SyncContext unsafe.Pointer
}

// Host is a program bound to the threads of a crew, and to operations of a library. One goroutine uses it, on the
// thread that may call the library; InHand alone may be called from any.
type Host struct {
	crew *Crew

	mu sync.Mutex // guards p against InHand after Close
	p  *C.struct_program
}

// NewHost prepares a program to run. It computes and sends nothing. The error is an unsupported part of the program, or
// a lack of memory or threads.
func NewHost(c *Crew, s HostSpec) (*Host, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("program: %w", err)
	}
	second := len(s.Ops) > 0 && s.Ops[0].Async.Start == nil
	if second {
		if rc := C.crew_second(c.c); rc != 0 {
			return nil, fmt.Errorf("program: the thread for operations that block cannot be started: %w",
				syscall.Errno(rc))
		}
	}
	h := &Host{crew: c, p: (*C.struct_program)(C.calloc(1, C.sizeof_struct_program))}
	if h.p == nil {
		return nil, errNoMemory
	}
	h.p.segment = (*C.struct_program_segment)(C.calloc(C.size_t(len(s.Segments)+1), C.sizeof_struct_program_segment))
	h.p.op = (*C.struct_program_op)(C.calloc(C.size_t(len(s.Ops)+1), C.sizeof_struct_program_op))
	if h.p.segment == nil || h.p.op == nil {
		h.Close()
		return nil, errNoMemory
	}
	h.p.crew, h.p.segments, h.p.ops = c.c, C.int(len(s.Segments)), C.int(len(s.Ops))
	h.p.interval, h.p.mode = C.int64_t(s.Interval), C.int(Overlapped)
	h.p.sync, h.p.sync_context = C.busbar_step(s.Sync), s.SyncContext
	if second {
		h.p.second = 1
	}
	for i, units := range s.Segments {
		h.segments()[i].units = C.uint64_t(units)
	}
	for i, o := range s.Ops {
		to := &h.ops()[i]
		to.after, to.before = C.int(o.After), C.int(o.Before)
		to.issue, to.context = C.busbar_step(o.Issue), o.Context
		to.async = C.struct_busbar_async{start: C.call(o.Async.Start), test: C.test_call(o.Async.Test),
			wait: C.call(o.Async.Wait), context: o.Async.Context}
	}
	C.program_link(h.p)
	return h, nil
}

var errNoMemory = errors.New("program: no memory")

// check returns an error for a program that can never run.
func (s HostSpec) check() error {
	links := make([]Link, len(s.Ops))
	for i, o := range s.Ops {
		async := o.Async.Start != nil && o.Async.Test != nil && o.Async.Wait != nil
		first := s.Ops[0].Async.Start != nil
		switch {
		case async == (o.Issue != nil):
			return fmt.Errorf("operation %d is to be either started, tested and waited for, or issued", i)
		case async != first:
			return fmt.Errorf("operation %d goes on in another way than operation 0", i)
		case !async && s.Interval > 0:
			return fmt.Errorf("operation %d blocks, and cannot be tested every %s", i, s.Interval)
		}
		links[i] = o.Link
	}
	return CheckLinks(len(s.Segments), links)
}

func (h *Host) segments() []C.struct_program_segment {
	return unsafe.Slice(h.p.segment, h.p.segments)
}

func (h *Host) ops() []C.struct_program_op { return unsafe.Slice(h.p.op, h.p.ops) }

// SetMode sets the mode of the next runs; the default is Overlapped.
func (h *Host) SetMode(m Mode) { h.p.mode = C.int(m) }

// Steps are the program as one operation of a loop: issuing it runs one step. The error code of a failed operation is
// that of the step, the first where several fail, and Failed identifies it. After that the program starts no operation
// in this step or a later one. Operations in flight remain in flight: their library decides whether they can be
// aborted.
func (h *Host) Steps() loop.Steps {
	s := loop.Steps{Issue: loop.Step(C.run_step()), Context: unsafe.Pointer(h.p)}
	if h.p.sync != nil {
		s.Sync = loop.Step(C.sync_step())
	}
	return s
}

// Failed is the operation whose error ended the program, and its library's code; -1 and 0 without a failure.
func (h *Host) Failed() (op, code int) {
	if code = int(C.failed(h.p)); code == 0 {
		return -1, 0
	}
	return int(h.p.failed_op), code
}

// InHand is the current activity of a program.
type InHand struct {
	Parts   uint64 // segments and operations that this step has begun; of the last step where none runs
	Segment int    // that is being computed; -1: none is
	Op      int    // whose library call is running, otherwise the oldest in flight; -1 without any
}

// InHand returns the current activity; from any goroutine.
func (h *Host) InHand() InHand {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.p == nil {
		return InHand{Segment: -1, Op: -1}
	}
	return InHand{uint64(C.parts(h.p)), int(C.computing(h.p)) - 1, int(C.communicating(h.p)) - 1}
}

// Spans are those of the last step.
func (h *Host) Spans() Spans {
	s := Spans{Step: spanOf(h.p.span), Segments: make([]Span, h.p.segments), Ops: make([]Span, h.p.ops)}
	for i, g := range h.segments() {
		s.Segments[i] = spanOf(g.span)
	}
	for i, o := range h.ops() {
		s.Ops[i] = spanOf(o.span)
	}
	return s
}

func spanOf(s C.struct_span) Span { return Span{int64(s.start), int64(s.end)} }

// Close frees the program, not the crew nor its operations; closing twice does nothing.
func (h *Host) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.p == nil {
		return
	}
	C.free(unsafe.Pointer(h.p.segment))
	C.free(unsafe.Pointer(h.p.op))
	C.free(unsafe.Pointer(h.p))
	h.p = nil
}
