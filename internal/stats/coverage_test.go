package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/needs"
)

// The 95 % CI covers the median at its nominal rate, and independent samples raise few false alarms.
func TestIndependentSamples(t *testing.T) {
	needs.TestAll(t)
	for i, s := range []shape{normal, lognormal, twoModes, skewed, decay} {
		for _, n := range [][]int{{20, 50, 101, 1000}, {30, 55, 200}}[i/3] {
			t.Run(fmt.Sprintf("%s/%d", s.name, n), func(t *testing.T) {
				t.Parallel()
				r := seeded(uint64(100*i + n))
				var covered, correlated, batched, drifting, modes percent
				for range series {
					sum := Summarise(s.sample(r, n))
					covered.add(sum.covers(s.median))
					batched.add(sum.BatchSize > 1)
					correlated.add(sum.has(Correlated))
					drifting.add(sum.has(Drift))
					modes.add(sum.has(Bimodal))
				}
				wantPercent(t, "covered", covered, 93, 97)
				wantPercent(t, "batched", batched, 0, 3)
				wantPercent(t, "called correlated", correlated, 0, 2)
				wantPercent(t, "called drifting", drifting, 0, 1.5)
				if s.name == twoModes.name {
					wantPercent(t, "called bimodal", modes, 85, 100)
				} else {
					wantPercent(t, "called bimodal", modes, 0, 1)
				}
			})
		}
	}
}

// Confidence intervals over launches have their nominal coverage from the minimum number of launches on.
func TestLaunches(t *testing.T) {
	needs.TestAll(t)
	few := shape{"Student's t with 2", 0, func(r *rand.Rand) float64 {
		a, b := r.NormFloat64(), r.NormFloat64()
		return r.NormFloat64() / math.Sqrt((a*a+b*b)/2)
	}}
	for _, s := range []shape{normal, lognormal, skewed, decay, twoModes, few} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for n := MinForInterval; n <= 30; n++ {
				r := seeded(uint64(n))
				var covered percent
				for range 2 * series {
					e, basis := MedianOfLaunches(s.sample(r, n))
					covered.add(basis == AcrossLaunches && e.Lo <= s.median && s.median <= e.Hi)
				}
				wantPercent(t, fmt.Sprintf("covered by %d launches", n), covered, 93, 97)
			}
		})
	}
}

// A CI of autocorrelated samples has its nominal coverage, or comes with a warning.
func TestCorrelatedSamples(t *testing.T) {
	needs.TestAll(t)
	for _, c := range golden.Table[struct {
		Rho                 float64
		N                   int
		Unwarned, MostAlarm float64
	}](t, `
		# Unwarned is the minimum coverage of the series without a warning, if there are enough.
		Rho  N     Unwarned  MostAlarm
		0.5  300   90        5
		0.7  50    0         100
		0.7  101   0         100
		0.7  300   90        10
		0.7  1000  90        1
		0.9  300   0         100
		0.9  3000  90        5
	`) {
		t.Run(fmt.Sprintf("%g/%d", c.Rho, c.N), func(t *testing.T) {
			t.Parallel()
			r := seeded(uint64(c.N) + uint64(1000*c.Rho))
			var honest, unwarned, warned percent
			for range series {
				sum := Summarise(newAutoregression(r, c.Rho).appendTo(nil, c.N))
				warned.add(sum.has(Correlated))
				honest.add(sum.has(Correlated) || sum.covers(10))
				if !sum.has(Correlated) {
					unwarned.add(sum.covers(10))
				}
			}
			wantPercent(t, "covered or warned", honest, 90, 100)
			wantPercent(t, "warned", warned, 0, c.MostAlarm)
			if c.Unwarned > 0 {
				wantPercent(t, "covered without a warning", unwarned, c.Unwarned, 100)
			}
		})
	}
}

// Intervals keep their coverage when sampling stops because they are narrow.
func TestAdaptiveStopping(t *testing.T) {
	needs.TestAll(t)
	for i, c := range []struct {
		shape
		precision float64
	}{
		{normal, 0.02}, {normal, 0.05}, {lognormal, 0.05}, {lognormal, 0.1}, {twoModes, 0.01}, {twoModes, 0.02},
		{decay, 0.05},
	} {
		t.Run(fmt.Sprintf("%s/%g", c.name, c.precision), func(t *testing.T) {
			t.Parallel()
			r := seeded(uint64(i))
			var covered, precise percent
			for range series {
				x, reason := run(NewStopper(Rule{Precision: c.precision}), 1e-3, func(x []float64, n int) []float64 {
					return append(x, c.sample(r, n)...)
				})
				sum := Summarise(x)
				covered.add(sum.covers(c.median))
				precise.add(reason == Precision)
				if reason == Precision && sum.halfWidth() > c.precision {
					t.Fatalf("stopped for precision at ±%g, wanted ±%g", sum.halfWidth(), c.precision)
				}
			}
			wantPercent(t, "covered", covered, 92, 100)
			wantPercent(t, "ended by precision", precise, 97, 100)
		})
	}
}

// run samples until the stopper ends it; every sample takes the given seconds.
func run(s *Stopper, each float64, take func(x []float64, n int) []float64) ([]float64, StopReason) {
	var x []float64
	for {
		more, reason := s.Next(x, each*float64(len(x)))
		if more == 0 {
			return x, reason
		}
		x = take(x, more)
	}
}
