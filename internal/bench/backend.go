// Package bench measures and verifies one case on one backend: fill, check, warm up, time until the figure is as sure
// as wanted, summarise over ranks, and return a result.Record.
//
// It knows no library and no launcher: the world and the backend are interfaces, adapters in rank/ fill them in, and
// benchtest has the suite that every backend must pass.
package bench

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// World is the ranks that measure together. Every method of Comm is collective: all ranks call it with slices of one
// length.
type World struct {
	Rank  int
	Size  int
	Hosts []string // host of each rank; may be nil on ranks other than 0
	// Names are the ranks' numbers in the whole world, where this world is a part of it; nil: the ranks' own.
	Names []int
	Comm
}

// Name is the number of a rank in the whole world.
func (w World) Name(rank int) int {
	if rank < 0 || rank >= len(w.Names) {
		return rank
	}
	return w.Names[rank]
}

// Comm is what measuring needs of a world. It is used between batches only, never inside the timed part.
type Comm interface {
	// Max replaces x by its element-wise maximum over the ranks, on every rank.
	Max(x []float64) error
	// Sum replaces x by its element-wise sum over the ranks, on every rank.
	Sum(x []float64) error
	// Gather returns every rank's x, one after another, on rank 0; nil elsewhere.
	Gather(x []float64) ([]float64, error)
	// Bcast replaces x by rank 0's, on every rank.
	Bcast(x []float64) error
}

// Backend is a library under measurement.
type Backend interface {
	// Prepare gets one case ready on this rank: buffers placed, operation bound, nothing run. The error is an
	// *UnsupportedError when the library does not have the case, a *MemoryError when its buffers cannot be allocated.
	// It is not collective; ranks compare notes afterwards.
	Prepare(c coll.Case) (Operation, error)
}

// Operation is one prepared case.
type Operation interface {
	// Buffers are this rank's inputs and outputs, one for each slot that operations take in turn (one slot unless
	// buffers rotate); input and output may overlap (in place).
	Buffers() []Buffers
	// Run is collective: batches of n operations, at most MaxBatches of them, timed by the loop in C. Before each batch
	// the ranks are brought together; its operations are issued back to back and waited for once. The stamps live until
	// the next call.
	Run(batches, n int) (Stamps, error)
	// Close gives the buffers back; closing twice does nothing.
	Close() error
}

// Buffers are this rank's input (SendCount elements) and output (RecvCount elements); of no length where the rank has
// none. In place they share memory the way the library defines it.
type Buffers struct {
	Send, Recv Memory
	Of         *Part    // nil: this rank's of the case that is measured
	Beside     *Buffers // of an operation that runs at the same time; nil: none
}

// Part is an operation that is measured as a part of a case.
type Part struct {
	Name string
	Case coll.Case
	Rank int // this rank among those of the part
}

// each calls f for the buffers of every part of a case.
func (b Buffers) each(c coll.Case, rank int, f func(Part, Buffers) error) error {
	for next := &b; next != nil; next = next.Beside {
		of := Part{"", c, rank}
		if next.Of != nil {
			of = *next.Of
		}
		if err := f(of, *next); err != nil {
			return err
		}
	}
	return nil
}

// Stamps are the clock readings of each batch in nanoseconds of one host's clock: before its first operation was
// issued, when that was issued, and when all were done.
type Stamps struct{ Start, Issued, End []int64 }

// MaxBatches is the largest number of batches in one call of Run.
const MaxBatches = 4096

// UnsupportedError is why a library does not have a case.
type UnsupportedError struct{ Cause notice.Fact }

func (e *UnsupportedError) Error() string { return notice.Message(e.Cause) }

// MemoryError is that the buffers of a case cannot be allocated.
type MemoryError struct {
	Needed int64 // bytes
	Err    error
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("cannot allocate %d bytes for buffers: %v", e.Needed, e.Err)
}

func (e *MemoryError) Unwrap() error { return e.Err }

// Noter is implemented by operations that describe how they are done ("avg = sum and a scaling").
type Noter interface{ Notes() []string }

// Profiler is implemented by operations that can mark the begin and end of the timed part of a case for a profiler.
type Profiler interface{ Profile(on bool) error }

// Aggregator is implemented by operations that issue several at once (-m).
type Aggregator interface {
	// Single issues one at a time over the same buffers; it is closed with the operation. Checks need it: a reduction
	// in place that is issued twice reduces its own result.
	Single() Operation
}
