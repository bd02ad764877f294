package stats

import (
	"math"
	"testing"
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
	if got := medianSpread(even[:1]); got != 0 {
		t.Errorf("spread of one sample is %g", got)
	}
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
	if s.BatchSize != 11 {
		t.Fatalf("batches of %d: this series does not test what it should", s.BatchSize)
	}
	if s.Lo > s.Median || s.Hi < 2 {
		t.Errorf("the interval [%g, %g] is without the median %g or the medians of batches", s.Lo, s.Hi, s.Median)
	}
}
