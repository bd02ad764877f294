package stats

import (
	"math"
	"testing"
)

func TestStopReasons(t *testing.T) {
	five := func(int) float64 { return 5 }
	for _, c := range []struct {
		name string
		rule Rule
		each float64 // seconds
		next func(i int) float64
		want StopReason
		n    int // 0: any
	}{
		{"constant", Rule{Precision: 0.02, Budget: 10}, 1e-3, five, Precision, DefaultMinSamples},
		{"constant, no precision wanted", Rule{}, 1e-3, five, Precision, DefaultMinSamples},
		{"minimum below six", Rule{Precision: 0.02, MinSamples: 1}, 1e-3, five, Precision, MinForInterval},
		{"fixed", Rule{Precision: 0.02, MinSamples: 77, MaxSamples: 77}, 1e-3, five, Fixed, 77},
		{"fixed at one", Rule{MinSamples: 1, MaxSamples: 1}, 1e-3, five, Fixed, 1},
		{"fixed, but too dear", Rule{MinSamples: 77, MaxSamples: 77, Budget: 1}, 0.1, five,
			Budget, 10},
		{"maximum", Rule{Precision: 1e-6, MaxSamples: 100}, 1e-3, alternate(1, 2), Maximum, 100},
		{"maximum below minimum", Rule{Precision: 0.5, MaxSamples: 8}, 1e-3, five, Maximum, 8},
		{"budget", Rule{Precision: 0.02, Budget: 10}, 0.5, five, Budget, 20},
		{"one sample over the budget", Rule{Precision: 0.02, Budget: 10}, 30, five, Budget, 1},
		{"not before the minimum time", Rule{Precision: 0.02, MinTime: 1, Budget: 10}, 1e-3, five, Precision, 1166},
		{"settled", Rule{Precision: 0.02, Budget: 100}, 1e-3, alternate(1, 2), Settled, 0},
		{"out of reach", Rule{Precision: 0.001, MinSamples: 6, Budget: 10}, 0.1, alternate(1, 2), Settled, 14},
		{"within reach", Rule{Precision: 0.2, MinSamples: 6, Budget: 10}, 0.1, alternate(1, 1.3), Precision, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, reason := run(NewStopper(c.rule), c.each, func(x []float64, n int) []float64 {
				for range n {
					x = append(x, c.next(len(x)))
				}
				return x
			})
			if reason != c.want || c.n != 0 && len(x) != c.n {
				t.Errorf("%s after %d samples, want %s after %d", reason, len(x), c.want, c.n)
			}
			if c.name == "settled" && (len(x) < settledMinimum || len(x) > 4*settledMinimum) {
				t.Errorf("settled after %d samples", len(x))
			}
		})
	}
}

// alternate never looks correlated: neighbours differ.
func alternate(a, b float64) func(int) float64 {
	return func(i int) float64 {
		if i%2 == 0 {
			return a
		}
		return b
	}
}

// However the cost per sample changes, a case ends within its budget plus about one sample.
func TestStopperBudget(t *testing.T) {
	for name, cost := range map[string]func(i int) float64{
		"steady":      func(int) float64 { return 0.5 },
		"slow start":  func(i int) float64 { return 0.1 + 4*math.Exp(-float64(i)) },
		"quick start": func(i int) float64 { return 0.5 - 0.4*math.Exp(-float64(i)) },
		"quick":       func(int) float64 { return 1e-3 },
		"slower":      func(i int) float64 { return 0.05 + 0.35*math.Floor(min(1, float64(i)/30)) },
		"doubling":    func(i int) float64 { return 0.05 * math.Exp2(float64(i)/20) },
		"growing":     func(i int) float64 { return 0.2 + 0.01*float64(i) },
	} {
		s := NewStopper(Rule{Budget: 10})
		r := seeded(5)
		elapsed, last := 0.0, 0.0
		var x []float64
		for {
			more, reason := s.Next(x, elapsed)
			if more == 0 {
				if reason != Budget && name != "quick" {
					t.Errorf("%s: ended by %s", name, reason)
				}
				break
			}
			for range more {
				last = cost(len(x))
				elapsed += last
				x = append(x, normal.draw(r))
			}
		}
		if elapsed > 10+last || name != "quick" && elapsed < 10-2*elapsed/float64(len(x)) {
			t.Errorf("%s: %g s of 10 s used, %d samples", name, elapsed, len(x))
		}
	}
}

// Checks become less frequent, so that there are few of them.
func TestStopperIntervals(t *testing.T) {
	s := NewStopper(Rule{MaxSamples: 100_000})
	r := seeded(6)
	var x []float64
	looks := 0
	for {
		more, reason := s.Next(x, float64(len(x)))
		if more == 0 {
			if reason != Maximum {
				t.Errorf("ended by %s after %d samples", reason, len(x))
			}
			break
		}
		looks++
		x = append(x, normal.sample(r, more)...)
	}
	if looks > 25 {
		t.Errorf("%d looks at 100,000 samples", looks)
	}
}

// A confidence interval that is narrow by chance does not stop sampling.
func TestStopperIgnoresLuckyInterval(t *testing.T) {
	x := make([]float64, 101)
	for i := range x {
		x[i] = 1000 + 2*float64((i*37)%101-50) // evenly spaced around 1000, in no order
	}
	for _, c := range []struct {
		lucky bool
		want  StopReason
	}{{false, Precision}, {true, ""}} {
		for i := range x {
			if d := x[i] - 1000; c.lucky && d > -30 && d < 30 {
				x[i] = 1000 + d/3
			}
		}
		width := Summarise(x).halfWidth()
		precision := 1.1 * width
		if _, reason := NewStopper(Rule{Precision: precision}).Next(x, 0.1); reason != c.want {
			t.Errorf("lucky %v, interval ±%g: %v, want %v", c.lucky, width, reason, c.want)
		}
	}
}

// An interval flagged as too narrow is not precise.
func TestStopperAutocorrelatedSamples(t *testing.T) {
	s := NewStopper(Rule{Precision: 0.5, MinSamples: 50})
	x := newAutoregression(seeded(8), 0.95).appendTo(nil, 60)
	if !Summarise(x).has(Correlated) {
		t.Fatal("the series is not correlated enough for this test")
	}
	if more, reason := s.Next(x, 0.06); more == 0 {
		t.Errorf("ended by %s", reason)
	}
}

func TestStopperNonFiniteSamples(t *testing.T) {
	for finite, want := range map[int]StopReason{0: "", 5: "", 20: Precision} {
		x := make([]float64, 40)
		for i := range x {
			x[i] = 5
			if i >= finite {
				x[i] = math.NaN()
			}
		}
		if _, reason := NewStopper(Rule{Precision: 0.02}).Next(x, 1); reason != want {
			t.Errorf("%d finite samples of 40: %v, want %v", finite, reason, want)
		}
	}
}
