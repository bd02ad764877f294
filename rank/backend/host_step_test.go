package backend

import (
	"testing"

	"busbar/internal/step"
)

// The total work does not depend on the segments.
func TestHostUnits(t *testing.T) {
	c := &hostComputing{speed: 1e6}
	for _, k := range []struct {
		segments int
		each     float64 // s
	}{{1, 4e-4}, {1000, 4e-7}, {1600, 2.5e-7}, {250, 1.6e-6}} {
		var all []step.Segment
		for range k.segments {
			all = append(all, step.Segment{Pieces: []float64{k.each}})
		}
		var sum uint64
		for _, units := range c.units(all) {
			sum += units
		}
		if sum != 400 {
			t.Errorf("%d segments of %g s come to %d units, not 400", k.segments, k.each, sum)
		}
	}
}
