//go:build cgo

package loop

/*
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

// By libc, not by a system call from Go: communication libraries patch these functions, to forget what they know of
// an address when it is given back.
static void *buffer_map(size_t n, int *error)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*error = errno;
	return p == MAP_FAILED ? NULL : p;
}
static int buffer_unmap(void *p, size_t n) { return munmap(p, n) == 0 ? 0 : errno; }
*/
import "C"

import (
	"fmt"
	"math"
	"os"
	"syscall"
	"unsafe"
)

// Buffer is memory for communication: outside Go's heap, aligned to a page, zero, and not yet touched, so that it lies
// near the CPU that fills it first.
type Buffer struct {
	p      unsafe.Pointer
	bytes  int64
	mapped C.size_t
}

// AllocBuffer allocates a buffer of that many bytes, 0 included. The error has the size and the reason. A lack of
// memory may only show when the pages are touched.
func AllocBuffer(bytes int64) (*Buffer, error) {
	page := int64(os.Getpagesize())
	if bytes < 0 || bytes > math.MaxInt64-page {
		return nil, fmt.Errorf("a buffer of %d bytes is impossible", bytes)
	}
	b := &Buffer{bytes: bytes, mapped: C.size_t(max(1, (bytes+page-1)/page) * page)}
	var number C.int
	if b.p = C.buffer_map(b.mapped, &number); b.p == nil {
		return nil, fmt.Errorf("no memory for a buffer of %d bytes: %w", bytes, syscall.Errno(number))
	}
	return b, nil
}

// Pointer is the start of the buffer; it is never nil before Free, even for 0 bytes.
func (b *Buffer) Pointer() unsafe.Pointer { return b.p }

// Bytes is the buffer as a slice, which must not be used after Free.
func (b *Buffer) Bytes() []byte { return unsafe.Slice((*byte)(b.p), b.bytes) }

// Free gives the memory back; freeing twice, or nil, does nothing.
func (b *Buffer) Free() error {
	if b == nil || b.p == nil {
		return nil
	}
	number := C.buffer_unmap(b.p, b.mapped)
	b.p, b.bytes = nil, 0
	if number != 0 {
		return fmt.Errorf("giving back a buffer: %w", syscall.Errno(number))
	}
	return nil
}
