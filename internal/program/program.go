// Package program runs the program of a training step: consecutive segments of computation, and operations of
// communication. An operation begins after one segment and must complete before another. Host runs the program on
// threads of this process. A library starts and completes the operations, or a second thread issues them. Package
// cudart has the counterpart for the streams of a GPU. Both run in C, and the timed loop of package loop calls them
// like any operation.
//
// It knows no model, collective or library: internal/step and the adapters in rank/ define segments and operations.
package program

import "fmt"

// Mode selects what one run of a program executes.
type Mode int

// The modes. Sequential is all computing, then all communication; in Overlapped each operation begins as soon as it
// may. Where operations run without segments between them they keep the order among themselves that those give: one
// that begins behind a segment begins when the operations are done that had to be so before that segment.
const (
	Compute Mode = iota
	Comm
	Sequential
	Overlapped
)

// Modes are all modes, in the order of their numbers.
var Modes = []Mode{Compute, Comm, Sequential, Overlapped}

func (m Mode) String() string {
	if m < Compute || m > Overlapped {
		return "no mode"
	}
	return []string{"compute", "comm", "sequential", "overlapped"}[m]
}

// Computes reports whether the segments run.
func (m Mode) Computes() bool { return m != Comm }

// Communicates reports whether the operations run.
func (m Mode) Communicates() bool { return m != Compute }

// Link ties an operation to the segments. Operations begin in their order, and in overlapped mode not before the
// segment After is over; the segment Before does not begin until they are done.
type Link struct {
	After  int // index of a segment; -1: the beginning of the step
	Before int // index of a segment, larger than After; the number of segments: the end of the step
}

// CheckLinks returns an error for links that can never hold: operations begin in their order, so one that waits for a
// late segment delays those behind it.
func CheckLinks(segments int, links []Link) error {
	latest, of := -1, 0
	for i, l := range links {
		if l.After < -1 || l.After >= l.Before || l.Before > segments {
			return fmt.Errorf("operation %d is to run behind segment %d and before segment %d of %d", i, l.After,
				l.Before,
				segments)
		}
		if l.After > latest {
			latest, of = l.After, i
		}
		if latest >= l.Before {
			return fmt.Errorf("operation %d is to be done before segment %d, and operation %d, which begins before "+
				"it, waits for segment %d", i, l.Before, of, latest)
		}
	}
	return nil
}

// Span is a stretch of time in nanoseconds. On a host the clock is that of package loop (CLOCK_MONOTONIC_RAW); on a GPU
// it is the device's, and 0 is the beginning of the step.
type Span struct{ Start, End int64 }

// Seconds is the length of a span.
func (s Span) Seconds() float64 { return float64(s.End-s.Start) / 1e9 }

// Spans are when the segments and the operations of the last run took place, of this rank. What the mode does not run
// has the zero Span. The end of an operation is when its completion was seen: where a library completes one only inside
// its own calls, that is in one of them.
type Spans struct {
	Step     Span // from before the first to behind the last
	Segments []Span
	Ops      []Span
}
