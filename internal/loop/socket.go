//go:build cgo

package loop

/*
#include <stdlib.h>
#include "socket.h"

static int (*barrier_step(void))(void *, uint64_t) { return busbar_socket_barrier_step; }

static struct busbar_socket_barrier *new_barrier(int count, int first, int pause)
{
	struct busbar_socket_barrier *b = calloc(1, sizeof *b + (size_t)count * sizeof b->sockets[0]);
	if (b) {
		b->count = count;
		b->first = first;
		b->pause = pause;
	}
	return b;
}

static void set_socket(struct busbar_socket_barrier *b, int i, int socket) { b->sockets[i] = socket; }
*/
import "C"

import (
	"errors"
	"time"
	"unsafe"
)

// SocketBarrier is a barrier over connected stream sockets, as a step whose error code is the system's. The caller
// keeps the sockets open.
type SocketBarrier struct {
	c *C.struct_busbar_socket_barrier
}

// NewSocketBarrier makes a barrier of the sockets to all others, on the first rank, or of the one socket to the first.
// An error of a socket is returned after the pause.
func NewSocketBarrier(sockets []int, first bool, pause time.Duration) (SocketBarrier, error) {
	collects := C.int(0)
	if first {
		collects = 1
	}
	b := C.new_barrier(C.int(len(sockets)), collects, C.int(pause.Milliseconds()))
	if b == nil {
		return SocketBarrier{}, errors.New("out of memory")
	}
	for i, s := range sockets {
		C.set_socket(b, C.int(i), C.int(s))
	}
	return SocketBarrier{b}, nil
}

// Step is the C function.
func (SocketBarrier) Step() Step { return Step(unsafe.Pointer(C.barrier_step())) }

// Context is the context of the step.
func (b SocketBarrier) Context() unsafe.Pointer { return unsafe.Pointer(b.c) }

// Free ends the barrier.
func (b SocketBarrier) Free() { C.free(unsafe.Pointer(b.c)) }
