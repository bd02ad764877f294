//go:build cgo

// Package loop is the timed loop of busbar: in C, and only here. A backend hands it C functions; batches fill a
// preallocated array with clock readings, and nothing of the Go runtime runs inside or between the batches of a call.
//
// It knows nothing of collectives or libraries: an error code of a step comes back as it is.
package loop

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#include <stdlib.h>
#include <string.h>
#include "loop.h"

static int nothing(void *context, uint64_t i) { (void)context; (void)i; return 0; }
static busbar_step nothing_step(void) { return nothing; }
static uint64_t reached(const struct busbar_loop *l) { return l->reached; }
static int stage(const struct busbar_loop *l) { return l->stage; }
static int broken(const struct busbar_loop *l) { return l->broken; }
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// Step is a C function, of type busbar_step unless noted otherwise (loop.h).
type Step unsafe.Pointer

// Steps are the C functions of one operation and their context. Wait may be nil (Issue blocks), Sync may be nil
// (nothing to bring together). Context is C memory and stays the backend's.
type Steps struct {
	Issue, Wait, Sync Step
	Context           unsafe.Pointer
}

// Async are the C functions of an operation that goes on by itself once it has been started (struct busbar_async of
// loop.h), and their context.
type Async struct {
	Start, Test, Wait Step
	Context           unsafe.Pointer
}

// Stage is a stage of the loop.
type Stage int

// The stages.
const (
	Idle Stage = iota
	Sync
	Issue
	Wait
)

func (s Stage) String() string {
	switch s {
	case Sync:
		return "synchronising the ranks"
	case Issue:
		return "issuing"
	case Wait:
		return "waiting for completion"
	}
	return "between operations"
}

// StepError is the error code of a step; the backend interprets it.
type StepError struct {
	Code  int
	Stage Stage // in which it was returned
	At    uint64
}

func (e *StepError) Error() string {
	return fmt.Sprintf("operation %d: error code %d while %s", e.At, e.Code, e.Stage)
}

// Loop runs batches of one operation. Only Position and Broken may be called while a batch runs.
type Loop struct {
	c *C.struct_busbar_loop

	mu     sync.Mutex // guards stamps against use after Close
	stamps *C.int64_t
	room   int // for the stamps of n batches
}

// New makes a loop over steps, with room for the stamps of that many batches in one call.
func New(s Steps, batches int) (*Loop, error) {
	if s.Issue == nil {
		return nil, fmt.Errorf("loop: no function that issues the operation")
	}
	batches = max(batches, 1)
	l := &Loop{c: (*C.struct_busbar_loop)(C.calloc(1, C.sizeof_struct_busbar_loop)), room: batches}
	l.stamps = (*C.int64_t)(C.calloc(C.size_t(3*batches), 8))
	if l.c == nil || l.stamps == nil {
		l.Close()
		return nil, fmt.Errorf("loop: no memory for the stamps of %d batches", batches)
	}
	// Touched now, so that no page fault falls into a timed operation.
	C.memset(unsafe.Pointer(l.stamps), 1, C.size_t(3*batches)*8)
	l.c.issue, l.c.wait, l.c.sync = C.busbar_step(s.Issue), C.busbar_step(s.Wait), C.busbar_step(s.Sync)
	l.c.context = s.Context
	return l, nil
}

// Close frees the loop; closing twice does nothing.
func (l *Loop) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	C.free(unsafe.Pointer(l.c))
	C.free(unsafe.Pointer(l.stamps))
	l.c, l.stamps = nil, nil
}

// Position returns the current operation and its stage; for a watchdog, from any goroutine.
func (l *Loop) Position() (operation uint64, stage Stage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c == nil {
		return 0, Idle
	}
	return uint64(C.reached(l.c)), Stage(C.stage(l.c))
}

// KeepInStep makes a failing call of Run take part in the syncs of its remaining batches before it returns, so that no
// rank waits alone. Meanwhile another goroutine must stop the other ranks; Broken reports when.
func (l *Loop) KeepInStep() { l.c.in_step = 1 }

// Broken reports whether a step has returned an error. Any goroutine may call it.
func (l *Loop) Broken() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.c != nil && C.broken(l.c) != 0
}

// Stamps are clock readings of each batch in nanoseconds of CLOCK_MONOTONIC_RAW: before its first operation was
// issued, when that was issued, and when all were done. The slices are C memory and live until the next call or Close.
type Stamps struct{ Start, Issued, End []int64 }

// Run runs batches of n operations: each batch after a sync, its operations back to back, with one wait. New sets the
// maximum number of batches. Batches of one time each operation alone.
func (l *Loop) Run(batches, n int) (Stamps, error) {
	if batches < 1 || batches > l.room || n < 1 {
		return Stamps{}, fmt.Errorf("loop: %d batches of %d operations, with room for %d batches", batches, n, l.room)
	}
	s := unsafe.Slice((*int64)(unsafe.Pointer(l.stamps)), 3*l.room)
	t := Stamps{s[:batches], s[l.room : l.room+batches], s[2*l.room : 2*l.room+batches]}
	at := func(x []int64) *C.int64_t { return (*C.int64_t)(unsafe.Pointer(&x[0])) }
	rc := C.busbar_run(l.c, C.uint64_t(batches), C.uint64_t(n), at(t.Start), at(t.Issued), at(t.End))
	return t, l.failed(rc)
}

func (l *Loop) failed(rc C.int) error {
	if rc == 0 {
		return nil
	}
	at, _ := l.Position()
	return &StepError{Code: int(rc), Stage: Stage(l.c.failed), At: at}
}

// Now reads the clock of the stamps.
func Now() int64 { return int64(C.busbar_now()) }

// Nothing is a step that does nothing, to measure the loop itself.
func Nothing() Step { return Step(C.nothing_step()) }
