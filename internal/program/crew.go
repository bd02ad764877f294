//go:build cgo

package program

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#cgo LDFLAGS: -lpthread
#include "crew.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"busbar/internal/loop"
)

// Crew is the threads of this rank that run programs. The calling thread is the first of those that compute. One more
// thread issues blocking operations; the first program that needs it starts it. Between segments threads spin briefly
// and then sleep. They inherit the CPU affinity of the thread that makes the crew. A crew runs one program at a time.
type Crew struct {
	c       *C.struct_crew
	threads int
}

// NewCrew starts the threads that compute beside the calling one.
func NewCrew(threads int) (*Crew, error) {
	if threads < 1 {
		return nil, fmt.Errorf("program: %d threads cannot compute", threads)
	}
	c := &Crew{threads: threads}
	if rc := C.crew_new(C.int(threads), &c.c); rc != 0 {
		return nil, fmt.Errorf("program: %d threads that compute cannot be started: %w", threads, syscall.Errno(rc))
	}
	return c, nil
}

// Threads is how many threads compute.
func (c *Crew) Threads() int { return c.threads }

// Close ends the threads; the programs of the crew must be closed before. Closing twice does nothing.
func (c *Crew) Close() {
	C.crew_free(c.c)
	c.c = nil
}

// Calibrate computes for about that long and returns the units of work per second of all threads together. It is the
// median of many short intervals, so that a pause of the machine does not distort it.
func (c *Crew) Calibrate(d time.Duration) float64 {
	const stretches = 21
	units, each := uint64(c.threads), d/stretches
	took := c.compute(units)
	for took < each/4 { // the first stretches wake the threads and warm the CPUs
		units *= 2
		took = c.compute(units)
	}
	units = max(1, uint64(float64(units)*float64(each)/float64(max(took, 1))))
	var rates []float64
	for range stretches {
		rates = append(rates, float64(units)/max(c.compute(units), 1).Seconds())
	}
	slices.Sort(rates)
	return rates[stretches/2]
}

// compute returns the time of n units.
func (c *Crew) compute(units uint64) time.Duration {
	start := loop.Now()
	C.crew_compute(c.c, C.uint64_t(units), nil, nil)
	return time.Duration(loop.Now() - start)
}
