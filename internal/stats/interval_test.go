package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// From the definition, without the shortcuts: the narrowest symmetric pair with 95 %.
func TestMedianIntervalNarrowest(t *testing.T) {
	if lo, hi, coverage := MedianInterval(5); lo != 1 || hi != 5 || coverage != 0.9375 {
		t.Errorf("too few samples: %d, %d, %g, want the extremes", lo, hi, coverage)
	}
	for n := MinForInterval; n <= 200; n++ {
		binomial, tail := math.Pow(0.5, float64(n)), 0.0 // P(X = k), P(X < rank)
		rank := 0
		for k := 0; 1-2*(tail+binomial) >= Confidence; k++ {
			tail += binomial
			binomial *= float64(n-k) / float64(k+1)
			rank++
		}
		lo, hi, coverage := MedianInterval(n)
		if lo != rank || hi != n+1-rank || math.Abs(coverage-(1-2*tail)) > 1e-12 {
			t.Fatalf("MedianInterval(%d) = %d, %d, %g; want %d, %d, %g", n, lo, hi, coverage, rank, n+1-rank, 1-2*tail)
		}
	}
}

func TestMedianSpreadMatchesBounds(t *testing.T) {
	even := make([]float64, 401)
	for i := range even {
		even[i] = float64(i)
	}
	lo, hi := medianBounds(even)
	if got := medianSpread(even); math.Abs(got/(hi-lo)-1) > 0.05 {
		t.Errorf("spread of even samples is %g, their interval %g wide", got, hi-lo)
	}
	test.EqOp(t, 0, medianSpread(even[:1]))
}

func TestBatchMediansUseLatestSamples(t *testing.T) {
	var w workspace
	got := w.batchMedians(nil, []float64{100, 3, 1, 2, 6, 5, 4}, 3)
	if len(got) != 2 || got[0] != 2 || got[1] != 5 {
		t.Errorf("batch medians are %v, want [2 5]", got)
	}
}

// Four batches of five are high in six samples of eleven and low in the rest, the fifth is low: most batch medians are
// high, the median is low.
func TestBatchIntervalContainsMedian(t *testing.T) {
	var x []float64
	for i := range 220 {
		v := 1 + float64(i*97%220)/2200
		if i/11%5 != 0 && i%11 < 6 {
			v++
		}
		x = append(x, v)
	}
	s := Summarise(x)
	must.EqOp(t, 11, s.BatchSize)
	if s.Lo > s.Median || s.Hi < 2 {
		t.Errorf("the interval [%g, %g] is without the median %g or the medians of batches", s.Lo, s.Hi, s.Median)
	}
}

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
