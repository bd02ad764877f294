package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/shoenig/test"
)

// The CI covers the median at the requested confidence; too few samples have none.
func TestMedianAt(t *testing.T) {
	r := seeded(1)
	for _, c := range []struct {
		n     int
		level float64
		least int
	}{{6, 0.95, 6}, {10, 1 - 0.05/21, 10}, {40, 0.95, 6}, {40, 0.999, 11}} {
		test.EqOp(t, c.least, FewestForMedian(c.level), test.Sprint(c.level))
		var held percent
		for range 2 * series {
			median, lo, hi, ok := MedianAt(decay.sample(r, c.n), c.level)
			if !ok || lo > median || median > hi {
				t.Fatalf("%d at %g: %g [%g, %g], %v", c.n, c.level, median, lo, hi, ok)
			}
			held.add(lo <= decay.median && decay.median <= hi)
		}
		wantPercent(t, fmt.Sprintf("%d at %g", c.n, c.level), held, 100*c.level-0.6, 100)
		if _, _, _, ok := MedianAt(make([]float64, c.least-1), c.level); ok {
			t.Errorf("%d samples have an interval at %g", c.least-1, c.level)
		}
	}
}

// Autocorrelated samples give wider confidence intervals than the same samples shuffled.
func TestMedianAtOfCorrelatedSamples(t *testing.T) {
	r := seeded(3)
	var held, shuffled percent
	for range series / 3 {
		x := newAutoregression(r, 0.6).appendTo(nil, 300)
		_, lo, hi, ok := MedianAt(x, 0.95)
		held.add(ok && lo <= 10 && 10 <= hi)
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		_, lo, hi, _ = MedianAt(x, 0.95)
		shuffled.add(lo <= 10 && 10 <= hi)
	}
	wantPercent(t, "covered", held, 90, 100)
	wantPercent(t, "covered once shuffled", shuffled, 0, 85)
}

func TestNarrow(t *testing.T) {
	x := normal.sample(seeded(5), 60)
	if width := math.Abs(Summarise(x).halfWidth()); !Narrow(x, 2*width) || Narrow(x, width/2) || Narrow(x[:5], 1) {
		t.Errorf("narrow to ±%g: %v, to ±%g: %v, five samples: %v", 2*width, Narrow(x, 2*width), width/2,
			Narrow(x, width/2), Narrow(x[:5], 1))
	}
}
