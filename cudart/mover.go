//go:build cgo

package cudart

/*
#include "call.h"
#include "compare.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

const (
	defaultChunk = 64 << 20
	seedBytes    = 1 << 20 // what Fill sends from the host; the device copies it on
)

// Mover writes patterns into device memory and compares device memory with them. It uses two pinned chunks of host
// memory and its own stream: while it copies one chunk it compares the other. If the driver compiles busbar's kernels
// and a trial on this device confirms them, the kernels do both in place.
//
// Every method returns when its work is done. None waits for other streams: what wrote the memory must have been waited
// for. A Mover belongs to one thread, for which its context is current.
type Mover struct {
	c       *Context
	chunk   int64
	host    [2]unsafe.Pointer
	reached [2]*Event // the copy to a chunk has ended
	stream  *Stream
	kernels *kernels // nil: the chunks
	why     string   // why kernels are not used
}

// NewMover makes a mover with chunks of that many bytes; 0 is 64 MiB. It tries the kernels, which takes some tens of
// milliseconds the first time; see Kernels for the outcome.
func (c *Context) NewMover(chunk int64) (*Mover, error) {
	if chunk == 0 {
		chunk = defaultChunk
	}
	m := &Mover{c: c, chunk: chunk}
	err := m.allocate()
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	if m.kernels, err = m.tryKernels(); err != nil {
		m.why = err.Error()
	}
	return m, nil
}

func (m *Mover) allocate() (err error) {
	if m.stream, err = m.c.NewStream(); err != nil {
		return err
	}
	for i := range m.host {
		if m.reached[i], err = m.c.NewEvent(false); err != nil {
			return err
		}
		if err = m.c.check("cuMemHostAlloc", C.call_host_alloc(m.c.d.t, &m.host[i], C.size_t(m.chunk))); err != nil {
			return fmt.Errorf("%d bytes of pinned host memory: %w", m.chunk, err)
		}
	}
	return nil
}

// Kernels reports whether kernels on the device fill and compare, and if not, why.
func (m *Mover) Kernels() (used bool, why string) { return m.kernels != nil, m.why }

// Close gives the chunks back; closing twice does nothing.
func (m *Mover) Close() error {
	var errs []error
	if m.stream != nil && m.stream.s != nil {
		errs = append(errs, m.stream.Synchronize())
	}
	errs = append(errs, m.kernels.close())
	m.kernels = nil
	for i := range m.host {
		if m.host[i] != nil {
			errs = append(errs, m.c.check("cuMemFreeHost", C.call_host_free(m.c.d.t, m.host[i])))
			m.host[i] = nil
		}
		errs = append(errs, m.reached[i].Close())
	}
	return errors.Join(append(errs, m.stream.Close())...)
}

// Set writes one value into every byte.
func (m *Mover) Set(p Pointer, bytes int64, value byte) error {
	if bytes <= 0 {
		return nil
	}
	rc := C.call_set_bytes(m.c.d.t, C.cuda_pointer(p), C.uchar(value), C.size_t(bytes), m.stream.s)
	return m.end(m.c.check("cuMemsetD8Async", rc))
}

// end waits for all that was started, also where starting the next piece failed: nothing touches memory after a method
// has returned.
func (m *Mover) end(err error) error {
	late := m.stream.Synchronize()
	if err == nil {
		err = late
	}
	return err
}

// Fill writes a table, repeated, of which byte `first` comes first. A table longer than a chunk is an error.
func (m *Mover) Fill(p Pointer, bytes int64, table []byte, first int64) error {
	if err := m.fits(table, first); err != nil || bytes <= 0 {
		return err
	}
	if m.kernels.take(table) {
		return m.end(m.kernels.fill(p, bytes, table, first))
	}
	return m.end(m.fillByChunks(p, bytes, table, first))
}

// fillByChunks starts filling: it sends some whole tables, then lets the device copy from them repeatedly.
func (m *Mover) fillByChunks(p Pointer, bytes int64, table []byte, first int64) error {
	period := int64(len(table))
	done := min(bytes, max(1, min(m.chunk, seedBytes)/period)*period)
	C.busbar_cuda_repeat(m.host[0], C.int64_t(done), unsafe.Pointer(&table[0]), C.int64_t(period), C.int64_t(first))
	if err := m.send(p, 0, done); err != nil {
		return err
	}
	for done < bytes {
		n := min(done, bytes-done)
		rc := C.call_copy_on_device(m.c.d.t, C.cuda_pointer(p)+C.cuda_pointer(done), C.cuda_pointer(p), C.size_t(n),
			m.stream.s)
		if err := m.c.check("cuMemcpyDtoDAsync_v2", rc); err != nil {
			return err
		}
		done += n
	}
	return nil
}

// Differs is the offset of the first byte that is not what Fill with the same arguments writes, or, with near, of the
// first element that is not near it; -1 if all match.
func (m *Mover) Differs(p Pointer, bytes int64, table []byte, first int64, near Near) (at int64, err error) {
	if err := errors.Join(m.fits(table, first),
		near.fits(int64(p), bytes, int64(len(table)), first, m.chunk)); err != nil || bytes <= 0 {
		return -1, err
	}
	differs := m.differsByChunks
	if m.kernels.take(table) {
		differs = m.kernels.differs
	}
	at, err = differs(p, bytes, table, first, near)
	return at, m.end(err)
}

func (m *Mover) differsByChunks(p Pointer, bytes int64, table []byte, first int64, near Near) (int64, error) {
	chunks := (bytes-1)/m.chunk + 1
	length := func(k int64) int64 { return min(m.chunk, bytes-k*m.chunk) }
	start := func(k int64) error {
		if err := m.fetch(int(k%2), p+Pointer(k*m.chunk), length(k)); err != nil {
			return err
		}
		return m.reached[k%2].Record(m.stream)
	}
	if err := start(0); err != nil {
		return -1, err
	}
	for k := range chunks {
		if k+1 < chunks {
			if err := start(k + 1); err != nil {
				return -1, err
			}
		}
		if err := m.reached[k%2].Synchronize(); err != nil {
			return -1, err
		}
		if at := differs(m.host[k%2], length(k), table, (first+k*m.chunk)%int64(len(table)), near); at >= 0 {
			return k*m.chunk + at, nil
		}
	}
	return -1, nil
}

// Read copies len(dst) bytes from offset `at` behind p.
func (m *Mover) Read(p Pointer, at int64, dst []byte) error {
	for len(dst) > 0 {
		n := min(int64(len(dst)), m.chunk)
		if err := m.end(m.fetch(0, p+Pointer(at), n)); err != nil {
			return err
		}
		copy(dst, unsafe.Slice((*byte)(m.host[0]), n))
		at, dst = at+n, dst[n:]
	}
	return nil
}

// fetch starts a copy from the device to a chunk.
func (m *Mover) fetch(chunk int, p Pointer, n int64) error {
	rc := C.call_copy_to_host(m.c.d.t, m.host[chunk], C.cuda_pointer(p), C.size_t(n), m.stream.s)
	return m.c.check("cuMemcpyDtoHAsync_v2", rc)
}

// send starts a copy from a chunk to the device.
func (m *Mover) send(p Pointer, chunk int, n int64) error {
	rc := C.call_copy_to_device(m.c.d.t, C.cuda_pointer(p), m.host[chunk], C.size_t(n), m.stream.s)
	return m.c.check("cuMemcpyHtoDAsync_v2", rc)
}

func (m *Mover) fits(table []byte, first int64) error {
	if n := int64(len(table)); n == 0 || n > m.chunk || first < 0 {
		return fmt.Errorf("a table of %d bytes from byte %d: busbar supports 1 to %d bytes, from byte 0", n, first,
			m.chunk)
	}
	return nil
}
