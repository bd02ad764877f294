package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/needs"
)

// Two narrow modes are found despite 2 % stray samples and outliers.
func TestBimodal(t *testing.T) {
	needs.TestAll(t)
	for i, c := range golden.Table[struct {
		Ratio, Upper float64
		N            int
		Recall       float64
	}](t, `
		# Upper is the share of the upper mode.
		Ratio  Upper  N      Recall
		1.5    0.15   100    75
		1.5    0.3    100    97
		1.5    0.5    100    97
		1.5    0.85   100    75
		1.5    0.15   1000   98
		1.5    0.5    1000   99
		1.5    0.85   1000   98
		2.8    0.15   1000   99
		2.8    0.5    30     97
		2.8    0.5    10000  99
		2.8    0.85   10000  99
	`) {
		t.Run(fmt.Sprintf("%gx %g %d", c.Ratio, c.Upper, c.N), func(t *testing.T) {
			t.Parallel()
			r := seeded(uint64(i))
			var found percent
			for range 200 {
				x := make([]float64, c.N)
				share := 0.0
				for j := range x {
					x[j] = 1 + 0.05*r.NormFloat64()
					if r.Float64() < c.Upper {
						x[j] *= c.Ratio
						share += 1 / float64(c.N)
					}
					switch {
					case r.Float64() < 0.01:
						x[j] = 1 + r.Float64()*(c.Ratio-1)
					case r.Float64() < 0.01:
						x[j] *= 1 + 10*r.ExpFloat64()
					}
				}
				w, is := Summarise(x).warned(Bimodal)
				found.add(is)
				if is && (math.Abs(w.Modes[0].At-1) > 0.1 || math.Abs(w.Modes[1].At/c.Ratio-1) > 0.1 ||
					math.Abs(w.Modes[1].Share-share) > 0.04+2/float64(c.N)) {
					t.Fatalf("modes %v, share of the upper one was %g", w.Modes, share)
				}
			}
			wantPercent(t, "found", found, c.Recall, 100)
		})
	}
}

func TestModesOfCoarseClocks(t *testing.T) {
	r := seeded(9)
	var one, two percent
	for range 500 {
		x, y := decay.sample(r, 300), make([]float64, 300)
		for i := range x {
			x[i] = math.Round(4 * x[i])
			y[i] = 4
			if r.Float64() < 0.4 {
				y[i] = 9
			}
		}
		one.add(Summarise(x).has(Bimodal))
		two.add(Summarise(y).has(Bimodal))
	}
	wantPercent(t, "one population in ticks called bimodal", one, 0, 2)
	wantPercent(t, "two values called bimodal", two, 100, 100)
}

// Modes that differ by less than minModeRatio count as one.
func TestCloseModesMerge(t *testing.T) {
	x := slices.Repeat([]float64{10, 10.01, 11, 11.01}, 50)
	if Summarise(x).has(Bimodal) {
		t.Error("called bimodal")
	}
}

func TestDrift(t *testing.T) {
	r := seeded(11)
	for _, c := range []struct {
		name   string
		n      int
		rho    float64
		factor func(at float64) float64 // at runs from 0 to 1
		change float64
		least  float64
	}{
		{"rising by 10 %", 300, 0, func(at float64) float64 { return 1 + 0.1*at }, 0.067, 95},
		{"falling by 30 %", 60, 0, func(at float64) float64 { return 1 - 0.3*at }, -0.21, 95},
		{"a step", 200, 0, func(at float64) float64 { return 1 + 0.1*math.Floor(2*at) }, 0.1, 95},
		{"a fall to a thousandth", 200, 0, func(at float64) float64 { return 1 - 0.999*math.Floor(2*at) }, -0.999, 95},
		{"rising, correlated", 2000, 0.7, func(at float64) float64 { return 1 + 0.2*at }, 0.13, 95},
	} {
		var found percent
		for range 200 {
			x := newAutoregression(r, c.rho).appendTo(nil, c.n)
			for i := range x {
				x[i] = (10 + 0.3*(x[i]-10)) * c.factor(float64(i)/float64(c.n))
			}
			w, is := Summarise(x).warned(Drift)
			found.add(is && math.Abs(w.Change-c.change) < 0.04)
		}
		wantPercent(t, c.name, found, c.least, 100)
	}
}

// Correlation alone, and very small changes, are no drift.
func TestNoDriftInSteadySamples(t *testing.T) {
	needs.TestAll(t)
	r := seeded(12)
	for _, c := range []struct {
		rho  float64
		n    int
		most float64
	}{{0.7, 60, 4}, {0.7, 300, 1}, {0.9, 100, 1}, {0.9, 3000, 1}} {
		var found percent
		for range 1000 {
			found.add(Summarise(newAutoregression(r, c.rho).appendTo(nil, c.n)).has(Drift))
		}
		wantPercent(t, fmt.Sprintf("AR(1) %g, %d samples", c.rho, c.n), found, 0, c.most)
	}
	x := make([]float64, 1000)
	for i := range x {
		x[i] = 1000 + float64(i)/100 + r.NormFloat64()
	}
	if Summarise(x).has(Drift) {
		t.Error("a rise of 1 % over the whole, 0.7 % from the first third to the last, is called drift")
	}
}
