//go:build cgo

// Package looptest has C steps that write down how the loop calls them; tests of package loop cannot hold C themselves.
package looptest

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

typedef int (*step)(void *, uint64_t);
struct log { uint64_t calls, room; uint64_t fail_at; int fail_code; struct { char what; uint64_t i; } *entries; };

static int note(struct log *l, char what, uint64_t i)
{
	if (l->calls < l->room) {
		l->entries[l->calls].what = what;
		l->entries[l->calls].i = i;
	}
	l->calls++;
	struct timespec pause = {0, 100000};
	nanosleep(&pause, NULL);
	return l->calls == l->fail_at ? l->fail_code : 0;
}
static int on_issue(void *c, uint64_t i) { return note(c, 'i', i); }
static int on_wait(void *c, uint64_t i) { return note(c, 'w', i); }
static int on_sync(void *c, uint64_t i) { return note(c, 's', i); }
static int on_start(void *c) { return note(c, 'a', 0); }
static int on_finish(void *c) { return note(c, 'f', 0); }
static void *start_step(void) { return (void *)on_start; }
static void *finish_step(void) { return (void *)on_finish; }
static step issue_step(void) { return on_issue; }
static step wait_step(void) { return on_wait; }
static step sync_step(void) { return on_sync; }
static struct log *new_log(uint64_t room)
{
	struct log *l = calloc(1, sizeof *l);
	if (l && !(l->entries = calloc(room, sizeof *l->entries))) {
		free(l);
		l = NULL;
	}
	if (l)
		l->room = room;
	return l;
}
static void free_log(struct log *l) { free(l->entries); free(l); }
static char what(const struct log *l, uint64_t k) { return l->entries[k].what; }
static uint64_t which(const struct log *l, uint64_t k) { return l->entries[k].i; }
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"busbar/internal/loop"
)

// Log is the context of steps that write down their calls; each call takes a tenth of a millisecond.
type Log struct{ c *C.struct_log }

// New makes a log with room for that many calls.
func New(room int) *Log { return &Log{C.new_log(C.uint64_t(room))} }

// FailAt lets call number n (from 1) return an error code.
func (l *Log) FailAt(n, code int) {
	l.c.fail_at, l.c.fail_code = C.uint64_t(n), C.int(code)
}

// Steps are the log's steps; wait and sync are left out unless asked for.
func (l *Log) Steps(wait, sync bool) loop.Steps {
	s := loop.Steps{Issue: loop.Step(C.issue_step()), Context: unsafe.Pointer(l.c)}
	if wait {
		s.Wait = loop.Step(C.wait_step())
	}
	if sync {
		s.Sync = loop.Step(C.sync_step())
	}
	return s
}

// Async are the log's steps of an operation that is started (a) and finished (f).
func (l *Log) Async() loop.Async {
	return loop.Async{Start: loop.Step(C.start_step()), Wait: loop.Step(C.finish_step()), Context: unsafe.Pointer(l.c)}
}

// Calls are the calls so far in order: "s0 i0 i1 w2".
func (l *Log) Calls() string {
	var b strings.Builder
	for k := range uint64(l.c.calls) {
		fmt.Fprintf(&b, " %c%d", byte(C.what(l.c, C.uint64_t(k))), uint64(C.which(l.c, C.uint64_t(k))))
	}
	return strings.TrimSpace(b.String())
}

// Close frees the log.
func (l *Log) Close() { C.free_log(l.c) }
