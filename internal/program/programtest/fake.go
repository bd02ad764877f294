//go:build cgo

// Package programtest has operations that move no data, follow a script, and record their calls. Tests of package
// program cannot contain C themselves.
package programtest

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sched.h>

struct calls { pthread_mutex_t lock; uint64_t n, room; struct { char what; int op; pthread_t by; } *entries; };
struct fake {
	struct calls *calls;
	int op;
	int tests; // after so many an operation is done
	int tested;
	char fails; // the call that returns code: s, t, w, i
	int code;
	atomic_int held; // issue waits until it is 0
	int open_signals; // of the thread that issued
};

static void note(struct fake *f, char what)
{
	struct calls *c = f->calls;
	pthread_mutex_lock(&c->lock);
	if (c->n < c->room) {
		c->entries[c->n].what = what;
		c->entries[c->n].op = f->op;
		c->entries[c->n].by = pthread_self();
	}
	c->n++;
	pthread_mutex_unlock(&c->lock);
}
static int answer(struct fake *f, char what)
{
	note(f, what);
	return f->fails == what ? f->code : 0;
}
static int on_start(void *c)
{
	((struct fake *)c)->tested = 0;
	return answer(c, 's');
}
static int on_test(void *c, int *done)
{
	struct fake *f = c;
	*done = ++f->tested >= f->tests;
	return answer(f, 't');
}
static int on_wait(void *c) { return answer(c, 'w'); }
static int on_issue(void *c, uint64_t i)
{
	struct fake *f = c;
	sigset_t set;
	(void)i;
	if (!pthread_sigmask(SIG_SETMASK, NULL, &set))
		for (int s = 1; s < 32; s++)
			f->open_signals += s != SIGKILL && s != SIGSTOP && !sigismember(&set, s);
	note(f, 'b');
	while (atomic_load(&f->held))
		sched_yield();
	return answer(f, 'i');
}
static int on_sync(void *c, uint64_t i)
{
	(void)i;
	return answer(c, 'y');
}
static void *start_call(void) { return on_start; }
static void *test_call(void) { return on_test; }
static void *wait_call(void) { return on_wait; }
static void *issue_call(void) { return on_issue; }
static void *sync_call(void) { return on_sync; }
static struct calls *new_calls(uint64_t room)
{
	struct calls *c = calloc(1, sizeof *c);
	if (c && !(c->entries = calloc(room, sizeof *c->entries))) {
		free(c);
		return NULL;
	}
	if (c) {
		c->room = room;
		pthread_mutex_init(&c->lock, NULL);
	}
	return c;
}
static struct fake *new_fake(struct calls *c, int op, int tests)
{
	struct fake *f = calloc(1, sizeof *f);
	if (f) {
		f->calls = c;
		f->op = op;
		f->tests = tests;
	}
	return f;
}
static void set_fails(struct fake *f, char what, int code) { f->fails = what; f->code = code; }
static void hold(struct fake *f, int on) { atomic_store(&f->held, on); }
static char what(const struct calls *c, uint64_t k) { return c->entries[k].what; }
static int which(const struct calls *c, uint64_t k) { return c->entries[k].op; }
static int own_thread(const struct calls *c, uint64_t k) { return pthread_equal(c->entries[k].by, pthread_self()); }
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"busbar/internal/loop"
)

// Calls is what a group of fakes writes down.
type Calls struct {
	c     *C.struct_calls
	fakes []*Fake
}

// NewCalls has room for that many calls.
func NewCalls(room int) *Calls { return &Calls{c: C.new_calls(C.uint64_t(room))} }

// Fake is an operation that is done after so many tests, or when it is waited for, or, where it blocks, at once.
type Fake struct{ c *C.struct_fake }

// New makes the next operation, numbered from 0.
func (c *Calls) New(tests int) *Fake {
	f := &Fake{C.new_fake(c.c, C.int(len(c.fakes)), C.int(tests))}
	c.fakes = append(c.fakes, f)
	return f
}

// Async are its functions where it goes on by itself.
func (f *Fake) Async() loop.Async {
	return loop.Async{Start: loop.Step(C.start_call()), Test: loop.Step(C.test_call()), Wait: loop.Step(C.wait_call()),
		Context: unsafe.Pointer(f.c)}
}

// Issue is its function where it blocks.
func (f *Fake) Issue() (loop.Step, unsafe.Pointer) {
	return loop.Step(C.issue_call()), unsafe.Pointer(f.c)
}

// Sync is a function that brings ranks together.
func (f *Fake) Sync() (loop.Step, unsafe.Pointer) {
	return loop.Step(C.sync_call()), unsafe.Pointer(f.c)
}

// FailIn makes it return a code in start (s), test (t), wait (w), issue (i) or sync (y).
func (f *Fake) FailIn(what byte, code int) { C.set_fails(f.c, C.char(what), C.int(code)) }

// Hold makes its issue wait until it is called again with false; from any goroutine.
func (f *Fake) Hold(on bool) {
	held := C.int(0)
	if on {
		held = 1
	}
	C.hold(f.c, held)
}

// OpenSignals is how many signals the threads that issued it would have taken.
func (f *Fake) OpenSignals() int { return int(f.c.open_signals) }

// String is the calls so far in order: "s0 t0 w0", with b for a blocking call that begins and i for one that ends.
// Calls on another thread than this one are in brackets.
func (c *Calls) String() string {
	var b strings.Builder
	for k := range uint64(min(c.c.n, c.c.room)) {
		s := fmt.Sprintf("%c%d", byte(C.what(c.c, C.uint64_t(k))), int(C.which(c.c, C.uint64_t(k))))
		if C.own_thread(c.c, C.uint64_t(k)) == 0 {
			s = "(" + s + ")"
		}
		b.WriteString(" " + s)
	}
	return strings.TrimSpace(b.String())
}

// Clear forgets the calls so far.
func (c *Calls) Clear() { c.c.n = 0 }

// Close frees everything.
func (c *Calls) Close() {
	for _, f := range c.fakes {
		C.free(unsafe.Pointer(f.c))
	}
	C.free(unsafe.Pointer(c.c.entries))
	C.free(unsafe.Pointer(c.c))
}
