//go:build cgo

package mpi

/*
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"fmt"
	"math"
	"time"
	"unsafe"
)

// Comm is a communicator. Its methods are collective over its ranks, unless documented otherwise, and belong to the
// thread that called Init. Data is copied through C memory: communication libraries keep track of addresses that they
// have seen, and Go's heap is hidden from them.
type Comm struct {
	m          *MPI
	c          *C.comm
	rank, size int
}

func (m *MPI) comm(c *C.comm) (*Comm, error) {
	var rank, size C.int
	if err := m.check("MPI_Comm_rank", C.call_rank(m.t, c, &rank)); err != nil {
		return nil, err
	}
	if err := m.check("MPI_Comm_size", C.call_size(m.t, c, &size)); err != nil {
		return nil, err
	}
	return &Comm{m: m, c: c, rank: int(rank), size: int(size)}, nil
}

// World is the communicator of all ranks; nil before Init.
func (m *MPI) World() *Comm { return m.all }

// Rank is this process' number in the communicator, from 0. It is local.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of ranks. It is local.
func (c *Comm) Size() int { return c.size }

// Split makes a communicator of the ranks that give the same color, in the order of their keys. A rank that gives a
// negative color is in none and gets nil.
func (c *Comm) Split(color, key int) (*Comm, error) {
	var out *C.comm
	if err := c.check("MPI_Comm_split", C.call_split(c.m.t, c.c, C.int(color), C.int(key), &out)); err != nil ||
		out == nil {
		return nil, err
	}
	return c.m.comm(out)
}

// Free frees a communicator made by Split; it does nothing for nil and for the world.
func (c *Comm) Free() error {
	if c == nil || c.c == nil || c == c.m.all {
		return nil
	}
	err := c.check("MPI_Comm_free", C.call_free(c.m.t, c.c))
	c.c = nil
	return err
}

// Barrier returns when all ranks have entered it. Waiting ranks spin.
func (c *Comm) Barrier() error { return c.check("MPI_Barrier", C.call_barrier(c.m.t, c.c)) }

// BarrierSleeping is a barrier in which this rank looks every pause and sleeps in between, so that it takes no time
// from the ranks that are still working. A rank with a pause of 0 waits as in Barrier. It does not match Barrier: all
// ranks must call this one.
func (c *Comm) BarrierSleeping(pause time.Duration) error {
	if pause > 0 {
		return c.BarrierWhile(func() error {
			time.Sleep(pause)
			return nil
		})
	}
	if err := c.check("MPI_Ibarrier", C.call_barrier_start(c.m.t, c.c)); err != nil {
		return err
	}
	return c.check("MPI_Wait", C.call_barrier_wait(c.m.t, c.c))
}

// BarrierWhile is a barrier in which this rank calls work again and again. Where work fails, the barrier is not over.
// It matches BarrierSleeping.
func (c *Comm) BarrierWhile(work func() error) error {
	if err := c.check("MPI_Ibarrier", C.call_barrier_start(c.m.t, c.c)); err != nil {
		return err
	}
	for {
		var done C.int
		if err := c.check("MPI_Test", C.call_barrier_test(c.m.t, c.c, &done)); err != nil || done != 0 {
			return err
		}
		if err := work(); err != nil {
			return err
		}
	}
}

// Bcast replaces data by the root's, on every rank; all give slices of one length.
func (c *Comm) Bcast(data []byte, root int) error {
	if err := fits("MPI_Bcast", len(data)); err != nil {
		return err
	}
	p := C.CBytes(data)
	defer C.free(p)
	err := c.check("MPI_Bcast", C.call_bcast(c.m.t, c.c, p, C.int(len(data)), C.int(root)))
	if err == nil && c.rank != root {
		copy(data, unsafe.Slice((*byte)(p), len(data)))
	}
	return err
}

// Gather returns every rank's data on the root, one after another, and nil elsewhere; all give slices of one length.
func (c *Comm) Gather(data []byte, root int) ([][]byte, error) {
	n := len(data)
	if err := fits("MPI_Gather", n*c.size); err != nil {
		return nil, err
	}
	p := C.CBytes(data)
	defer C.free(p)
	var all unsafe.Pointer
	if c.rank == root {
		all = C.malloc(C.size_t(max(1, n*c.size)))
		defer C.free(all)
	}
	err := c.check("MPI_Gather", C.call_gather(c.m.t, c.c, p, C.int(n), all, C.int(root)))
	if err != nil || c.rank != root {
		return nil, err
	}
	flat := C.GoBytes(all, C.int(n*c.size))
	out := make([][]byte, c.size)
	for r := range out {
		out[r] = flat[r*n : (r+1)*n : (r+1)*n]
	}
	return out, nil
}

// Gatherv is Gather for slices of different lengths.
func (c *Comm) Gatherv(data []byte, root int) ([][]byte, error) {
	if err := fits("MPI_Gatherv", len(data)); err != nil {
		return nil, err
	}
	lengths, err := c.Gather(unsafe.Slice((*byte)(unsafe.Pointer(&[]uint64{uint64(len(data))}[0])), 8), root)
	if err != nil {
		return nil, err
	}
	p := C.CBytes(data)
	defer C.free(p)
	if c.rank != root {
		return nil, c.check("MPI_Gatherv", C.call_gatherv(c.m.t, c.c, p, C.int(len(data)), nil, nil, nil, C.int(root)))
	}
	counts, at := make([]C.int, c.size), make([]C.int, c.size)
	total := 0
	for r, l := range lengths {
		n := int(*(*uint64)(unsafe.Pointer(&l[0])))
		counts[r], at[r] = C.int(n), C.int(total)
		total += n
	}
	if err := fits("MPI_Gatherv", total); err != nil {
		return nil, err
	}
	all := C.malloc(C.size_t(max(1, total)))
	defer C.free(all)
	if err := c.check("MPI_Gatherv", C.call_gatherv(c.m.t, c.c, p, C.int(len(data)), all, &counts[0], &at[0],
		C.int(root))); err != nil {
		return nil, err
	}
	flat := C.GoBytes(all, C.int(total))
	out := make([][]byte, c.size)
	for r := range out {
		from, to := int(at[r]), int(at[r])+int(counts[r])
		out[r] = flat[from:to:to]
	}
	return out, nil
}

// Sum replaces x by the element-wise sum over the ranks, on every rank.
func (c *Comm) Sum(x []float64) error { return c.combine(x, C.BUSBAR_SUM) }

// Max replaces x by the element-wise maximum over the ranks, on every rank.
func (c *Comm) Max(x []float64) error { return c.combine(x, C.BUSBAR_MAX) }

func (c *Comm) combine(x []float64, op C.int) error {
	if err := fits("MPI_Allreduce", len(x)); err != nil {
		return err
	}
	p := C.malloc(C.size_t(max(1, 8*len(x))))
	defer C.free(p)
	values := unsafe.Slice((*float64)(p), len(x))
	copy(values, x)
	err := c.check("MPI_Allreduce", C.call_all_reduce(c.m.t, c.c, (*C.double)(p), C.int(len(x)), op))
	if err == nil {
		copy(x, values)
	}
	return err
}

// ClockOffset measures how far the peer's CLOCK_MONOTONIC_RAW is ahead of this rank's, in seconds, by rounds of
// ping-pong of which the fastest counts; the uncertainty is half of its round trip. Only the two ranks call it, each
// with the other as peer.
func (c *Comm) ClockOffset(peer, rounds int) (offset, uncertainty float64, err error) {
	var o, u C.double
	err = c.check("clock ping-pong", C.call_clock(c.m.t, c.c, C.int(peer), C.int(max(1, rounds)), &o, &u))
	return float64(o), float64(u), err
}

func (c *Comm) check(op string, rc C.int) error { return c.m.check(op, rc) }

// fits refuses sizes beyond MPI's int counts; results and names are far smaller.
func fits(function string, n int) error {
	if n > math.MaxInt32 {
		return fmt.Errorf("mpi: %s of %d items exceeds busbar's limit outside of measurements", function, n)
	}
	return nil
}
