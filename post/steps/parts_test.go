package steps_test

import (
	"testing"

	"busbar/post/steps"
)

// TestPartsOf: the parts of a step add up to it for any measurement.
func TestPartsOf(t *testing.T) {
	for _, c := range []struct {
		compute, comm, overlapped float64
		want                      steps.Parts
	}{
		{100, 30, 115, steps.Parts{85, 15, 15}},
		{100, 30, 100, steps.Parts{70, 30, 0}},
		{100, 30, 98, steps.Parts{68, 30, 0}},   // faster than its computing alone, by noise
		{100, 30, 140, steps.Parts{100, 0, 40}}, // slower than one after the other
		{10, 200, 205, steps.Parts{5, 5, 195}},
	} {
		got := steps.PartsOf(c.compute, c.comm, c.overlapped)
		if got != c.want || got.Computing+got.Hidden+got.Exposed != c.overlapped {
			t.Errorf("%v: %v, want %v", c, got, c.want)
		}
	}
}
