package stats

import (
	"math/rand/v2"
	"testing"
)

// TestMedianAt: the interval covers the median at the confidence that is asked for, and there is none where there
// cannot be.
func TestMedianAt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n     int
		level float64
		least int
	}{{6, 0.95, 6}, {10, 1 - 0.05/21, 10}, {40, 0.95, 6}, {40, 0.999, 11}} {
		if got := FewestForMedian(c.level); got != c.least {
			t.Errorf("at %g it takes %d, not %d", c.level, got, c.least)
		}
		const runs = 4000
		held := 0
		for range runs {
			x := make([]float64, c.n)
			for i := range x {
				x[i] = r.ExpFloat64()
			}
			median, lo, hi, ok := MedianAt(x, c.level)
			if !ok || lo > median || median > hi {
				t.Fatalf("%d at %g: %g [%g, %g], %v", c.n, c.level, median, lo, hi, ok)
			}
			if lo <= 0.6931471805599453 && 0.6931471805599453 <= hi {
				held++
			}
		}
		if share := float64(held) / runs; share < c.level-0.006 {
			t.Errorf("%d at %g: covers %.4f", c.n, c.level, share)
		}
		if _, _, _, ok := MedianAt(make([]float64, c.least-1), c.level); ok {
			t.Errorf("%d samples have an interval at %g", c.least-1, c.level)
		}
	}
}

// Samples that resemble their neighbours give wider intervals than the same samples shuffled.
func TestMedianAtOfCorrelatedSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	held, naive := 0, 0
	const runs = 600
	for range runs {
		x, v := make([]float64, 300), 0.0
		for i := range x {
			v = 0.6*v + r.NormFloat64()
			x[i] = v
		}
		if _, lo, hi, ok := MedianAt(x, 0.95); ok && lo <= 0 && 0 <= hi {
			held++
		}
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		if _, lo, hi, _ := MedianAt(x, 0.95); lo <= 0 && 0 <= hi {
			naive++
		}
	}
	if share, without := float64(held)/runs, float64(naive)/runs; share < 0.90 || without > 0.85 {
		t.Errorf("covers %.3f, shuffled %.3f", share, without)
	}
}

func TestNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := make([]float64, 60)
	for i := range x {
		x[i] = 1 + 0.01*r.NormFloat64()
	}
	if !Narrow(x, 0.01) || Narrow(x, 0.001) || Narrow(x[:5], 1) {
		t.Errorf("narrow to 1 %%: %v, to 0.1 %%: %v, five samples: %v", Narrow(x, 0.01), Narrow(x, 0.001),
			Narrow(x[:5], 1))
	}
}
