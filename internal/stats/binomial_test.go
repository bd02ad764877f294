package stats

import (
	"math"
	"testing"
)

func TestBinomialAtLeast(t *testing.T) {
	for _, c := range []struct {
		n, k int
		p    float64
		want float64
	}{
		{3, 2, 0.5, 0.5},
		{10, 10, 0.125, math.Pow(0.125, 10)},
		{4, 3, 0.25, 4*0.25*0.25*0.25*0.75 + 0.25*0.25*0.25*0.25},
		{4, 1, 0.25, 1 - math.Pow(0.75, 4)},
		{5, 0, 0.2, 1},
		{5, 6, 0.2, 0},
		{5, 2, 0, 0},
		{5, 2, 1, 1},
	} {
		if got := BinomialAtLeast(c.n, c.k, c.p); math.Abs(got-c.want) > 1e-12*max(1, c.want) {
			t.Errorf("%d or more of %d at %g: %g, want %g", c.k, c.n, c.p, got, c.want)
		}
	}
	for _, n := range []int{20, 1000, 100000} {
		last := 1.0
		for k := 0; k <= n; k += max(1, n/50) {
			got := BinomialAtLeast(n, k, 0.3)
			if got < 0 || got > last+1e-9 {
				t.Fatalf("%d or more of %d: %g after %g", k, n, got, last)
			}
			last = got
		}
	}
}
