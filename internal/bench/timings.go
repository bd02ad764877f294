package bench

import (
	"busbar/internal/coll"
)

// timings are the times of a case's batches, taken over the ranks.
type timings struct {
	w World
	c coll.Case
	o Options

	samples []float64 // over ranks; on rank 0
	own     []float64 // this rank's times of the same operations, in seconds
	late    []float64 // this rank's delays to the first rank's issue, in seconds
	ops     int       // timed operations
	total   float64   // this rank's time in timed batches, in seconds
	elapsed float64   // wall time of measuring on rank 0, in seconds
	k       int       // operations in a batch of throughput mode
	clocks  clocks
}

// average replaces this rank's times of batches by their average over the ranks, as Average selects.
func (t *timings) average(x []float64) error {
	negate := func() {
		for i := range x {
			x[i] = -x[i]
		}
	}
	switch t.o.Average {
	case Rank0:
		return t.w.Bcast(x)
	case Mean:
		err := t.w.Sum(x)
		for i := range x {
			x[i] /= float64(t.w.Size)
		}
		return err
	case Min:
		negate()
		err := t.w.Max(x)
		negate()
		return err
	}
	return t.w.Max(x)
}

// untilLast reports whether an iteration lasts from the first rank's start to the last rank's end on the common clock.
// The root of a rooted collective may finish long before the others have their data, and a leaf before the root.
func (t *timings) untilLast() bool { return t.c.Collective.Rooted() && t.o.Clock.Common }

// firstToLast replaces x by the time from the first rank's start to the last rank's end of each operation.
func (t *timings) firstToLast(s Stamps, x []float64) error {
	n := len(x)
	if err := t.reference(s.Start[0]); err != nil {
		return err
	}
	both := make([]float64, 2*n)
	for i := range n {
		both[i] = -t.common(s.Start[i])
		both[n+i] = t.common(s.End[i])
	}
	if err := t.w.Max(both); err != nil {
		return err
	}
	for i := range n {
		x[i] = (both[n+i] + both[i]) / float64(t.o.Aggregate)
	}
	return nil
}

// lateness adds this rank's delays to the first rank that issued the same operation.
func (t *timings) lateness(issued []int64) error {
	if !t.o.Clock.Common || t.w.Size == 1 {
		return nil
	}
	if err := t.reference(issued[0]); err != nil {
		return err
	}
	first := make([]float64, len(issued))
	for i := range issued {
		first[i] = -t.common(issued[i])
	}
	if err := t.w.Max(first); err != nil {
		return err
	}
	for i := range issued {
		t.late = append(t.late, t.common(issued[i])+first[i])
	}
	return nil
}
