package steps_test

import (
	"slices"
	"testing"

	"busbar/internal/result"
	"busbar/post/steps"
)

// TestPartsOf: the parts of a step add up to it, whatever was measured.
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

func TestLayAndExposed(t *testing.T) {
	ops := []result.StepSpan{{Start: 1, End: 5}, {Start: 2, End: 4}, {}, {Start: 4, End: 9}, {Start: 5, End: 6}}
	laid, lanes := steps.Lay(ops)
	var got []int
	for _, l := range laid {
		got = append(got, 10*l.Number+l.Lane)
	}
	if lanes != 2 || !slices.Equal(got, []int{10, 21, 41, 50}) {
		t.Errorf("%d lanes, %v", lanes, got)
	}
	segments := []result.StepSpan{{Start: 6, End: 7}, {Start: 0, End: 2}, {Start: 3, End: 4}}
	if parts := steps.ExposedParts(result.StepSpan{Start: 1, End: 8}, segments); !slices.Equal(parts,
		[][2]float64{{2, 3}, {4, 6}, {7, 8}}) {
		t.Errorf("exposed: %v", parts)
	}
	if parts := steps.ExposedParts(result.StepSpan{Start: 0.5, End: 1.5}, segments); parts != nil {
		t.Errorf("exposed: %v", parts)
	}
}
