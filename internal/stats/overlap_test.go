package stats

import (
	"math"
	"testing"
)

func TestWallClockOverlap(t *testing.T) {
	for _, c := range []struct{ compute, comm, total, want float64 }{
		{100, 30, 115, 0.5}, // the worked example
		{100, 30, 130, 0},   // one after the other
		{100, 30, 100, 1},   // all hidden
		{100, 30, 145, -0.5},
		{100, 30, 85, 1.5}, // what was called compute had communication in it
	} {
		if got := WallClockOverlap(c.compute, c.comm, c.total); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("WallClockOverlap(%g, %g, %g) = %g, want %g", c.compute, c.comm, c.total, got, c.want)
		}
	}
	for _, none := range []float64{0, -1, math.NaN()} {
		if got := WallClockOverlap(100, none, 100); !math.IsNaN(got) {
			t.Errorf("without communication (%g) it is %g, want no number", none, got)
		}
	}
}

func TestScaling(t *testing.T) {
	if got := 100 * StrongScaling(100, 1, 60, 2); math.Round(got) != 83 {
		t.Errorf("100 ms on one and 60 ms on two are %.2f %%, want 83 %%", got)
	}
	if got := StrongScaling(60, 2, 20, 8); math.Abs(got-0.75) > 1e-12 {
		t.Errorf("60 ms on two and 20 ms on eight are %g, want 0.75", got)
	}
	if got := WeakScaling(100, 125); math.Abs(got-0.8) > 1e-12 {
		t.Errorf("100 ms, and 125 ms on more ranks, are %g, want 0.8", got)
	}
	for _, got := range []float64{StrongScaling(0, 1, 60, 2), StrongScaling(100, 0, 60, 2), StrongScaling(100, 1, 0, 2),
		StrongScaling(math.NaN(), 1, 60, 2), WeakScaling(0, 1), WeakScaling(1, 0)} {
		if !math.IsNaN(got) {
			t.Errorf("without a time or ranks it is %g, want no number", got)
		}
	}
}
