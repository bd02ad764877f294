package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

const series = 2000

// shape is a population whose median is known.
type shape struct {
	name   string
	median float64
	draw   func(*rand.Rand) float64
}

var (
	normal    = shape{"normal", 10, func(r *rand.Rand) float64 { return 10 + r.NormFloat64() }}
	lognormal = shape{"lognormal", 1, func(r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) }}
	skewed    = shape{"lognormal with a long tail", 1, func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) }}
	decay     = shape{"exponential", 1 + math.Ln2, func(r *rand.Rand) float64 { return 1 + r.ExpFloat64() }}
	// The median of the whole is the 5/7 quantile of the lower mode.
	twoModes = shape{"bimodal", 1 + 0.03*0.565949, func(r *rand.Rand) float64 {
		if r.Float64() < 0.7 {
			return 1 + 0.03*r.NormFloat64()
		}
		return 1.6 + 0.05*r.NormFloat64()
	}}
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 20)) }

func (s shape) sample(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = s.draw(r)
	}
	return x
}

// autoregression continues a normal AR(1) series around 10 with unit variance.
type autoregression struct {
	r        *rand.Rand
	rho, now float64
}

func newAutoregression(r *rand.Rand, rho float64) *autoregression {
	return &autoregression{r: r, rho: rho, now: r.NormFloat64()}
}

func (a *autoregression) appendTo(x []float64, n int) []float64 {
	for range n {
		a.now = a.rho*a.now + math.Sqrt(1-a.rho*a.rho)*a.r.NormFloat64()
		x = append(x, 10+a.now)
	}
	return x
}

func (s Summary) warned(kind WarningKind) (Warning, bool) {
	for _, w := range s.Warnings {
		if w.Kind == kind {
			return w, true
		}
	}
	return Warning{}, false
}

func (s Summary) has(kind WarningKind) bool {
	_, is := s.warned(kind)
	return is
}

func (s Summary) halfWidth() float64 { return relativeHalfWidth(s.Hi-s.Lo, s.Median) }

func (s Summary) covers(v float64) bool { return s.HasInterval && s.Lo <= v && v <= s.Hi }

// percent counts how often something was so.
type percent struct{ yes, all int }

func (p *percent) add(yes bool) {
	p.all++
	if yes {
		p.yes++
	}
}

func (p percent) value() float64 { return 100 * float64(p.yes) / float64(p.all) }

func wantPercent(t *testing.T, what string, p percent, least, most float64) {
	t.Helper()
	if v := p.value(); v < least || v > most || p.all == 0 {
		t.Errorf("%s: %.2f %% of %d, want %g to %g %%", what, v, p.all, least, most)
	}
}
