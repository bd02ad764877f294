//go:build cgo

package loop

/*
#include <stdlib.h>
#include "socket.h"

static int (*barrier_step(void))(void *, uint64_t) { return busbar_socket_barrier_step; }

static struct busbar_socket_barrier *new_barrier(int parent, int count, int pause)
{
	struct busbar_socket_barrier *b = calloc(1, sizeof *b + (size_t)count * sizeof b->children[0]);
	if (b) {
		b->parent = parent;
		b->count = count;
		b->pause = pause;
	}
	return b;
}

static void set_child(struct busbar_socket_barrier *b, int i, int socket) { b->children[i] = socket; }
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

// NewSocketBarrier makes a barrier of the sockets of a tree: to the parent, -1 on the first rank, and to the children.
// An error of a socket is returned after the pause.
func NewSocketBarrier(parent int, children []int, pause time.Duration) (SocketBarrier, error) {
	b := C.new_barrier(C.int(parent), C.int(len(children)), C.int(pause.Milliseconds()))
	if b == nil {
		return SocketBarrier{}, errors.New("out of memory")
	}
	for i, s := range children {
		C.set_child(b, C.int(i), C.int(s))
	}
	return SocketBarrier{b}, nil
}

// Step is the C function.
func (SocketBarrier) Step() Step { return Step(unsafe.Pointer(C.barrier_step())) }

// Context is the context of the step.
func (b SocketBarrier) Context() unsafe.Pointer { return unsafe.Pointer(b.c) }

// Free ends the barrier.
func (b SocketBarrier) Free() { C.free(unsafe.Pointer(b.c)) }
