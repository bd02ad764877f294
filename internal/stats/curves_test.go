package stats

import (
	"math"
	"math/rand/v2"
)

// curve holds times without noise, and the sizes at which the model changes.
type curve struct {
	sizes, times []float64
	switches     []int
}

// courses draw curves like those of real libraries, of count sizes that double.
var courses = map[string]func(r *rand.Rand, count int) curve{
	"one line": func(r *rand.Rand, count int) curve {
		c := doubling(r, count)
		l := drawLine(r, c)
		return c.of(func(_ int, s float64) float64 { return l.time(s) })
	},
	// LL, LL128 and Simple: each has more latency and more bandwidth than the previous one, and replaces it where it
	// is faster, or one size off.
	"two protocols":   func(r *rand.Rand, count int) curve { return protocols(r, count, 2) },
	"three protocols": func(r *rand.Rand, count int) curve { return protocols(r, count, 3) },
	// A switch at a fixed size, with a step of 15 to 60 % either way.
	"tree and ring": func(r *rand.Rand, count int) curve {
		c := doubling(r, count)
		at := 4 + r.IntN(count-8)
		tree := drawLine(r, c)
		ring := tree
		step := math.Exp((0.15 + 0.35*r.Float64()) * sign(r))
		ring.alpha, ring.beta = tree.alpha*step*(1+r.Float64()), tree.beta/step*(1+r.Float64())
		// The jump at the switch is as drawn, whatever the models.
		s := math.Sqrt(c.sizes[at] * c.sizes[at+1])
		scale := step * tree.time(s) / ring.time(s)
		ring.alpha, ring.beta = ring.alpha*scale, ring.beta/scale
		c.switches = []int{at}
		return c.of(func(i int, s float64) float64 {
			if i <= at {
				return tree.time(s)
			}
			return ring.time(s)
		})
	},
	// Latency and bandwidth overlap, so that the knee is sharper or flatter than a model's.
	"saturating": func(r *rand.Rand, count int) curve {
		c := doubling(r, count)
		l, p := drawLine(r, c), 0.9+0.4*r.Float64()
		return c.of(func(_ int, s float64) float64 {
			return math.Pow(math.Pow(l.alpha, p)+math.Pow(s/l.beta, p), 1/p)
		})
	},
}

func sign(r *rand.Rand) float64 { return float64(2*r.IntN(2) - 1) }

// doubling returns count sizes from 8 B to 64 KiB on, each twice the previous.
func doubling(r *rand.Rand, count int) curve {
	c := curve{sizes: make([]float64, count)}
	first := 8 << r.IntN(14)
	for i := range c.sizes {
		c.sizes[i] = math.Ldexp(float64(first), i)
	}
	return c
}

// drawLine has its n½ somewhere between the sizes, but for two at either end.
func drawLine(r *rand.Rand, c curve) line {
	alpha := 2e-6 * math.Exp(4*r.Float64())
	half := c.sizes[2] * math.Exp(r.Float64()*math.Log(c.sizes[len(c.sizes)-3]/c.sizes[2]))
	return line{alpha, half / alpha}
}

func protocols(r *rand.Rand, count, of int) curve {
	for {
		c := doubling(r, count)
		l := drawLine(r, c)
		lines := []line{l}
		for range of - 1 {
			l = line{l.alpha * (1.3 + 2*r.Float64()), l.beta * (1.5 + 3*r.Float64())}
			lines = append(lines, l)
		}
		// Each line needs sizes enough to be seen.
		at, ok := make([]int, of-1), true
		previous := -1
		for k := range at {
			a, b := lines[k], lines[k+1]
			cross := (b.alpha - a.alpha) / (1/a.beta - 1/b.beta)
			i := -1
			for i+1 < count && c.sizes[i+1] < cross {
				i++
			}
			at[k] = i + r.IntN(3) - 1
			ok = ok && at[k]-previous >= 4
			previous = at[k]
		}
		if !ok || count-1-previous < 4 {
			continue
		}
		c.switches = at
		return c.of(func(i int, s float64) float64 {
			k := 0
			for k < len(at) && i > at[k] {
				k++
			}
			return lines[k].time(s)
		})
	}
}

func (c curve) of(time func(i int, s float64) float64) curve {
	c.times = make([]float64, len(c.sizes))
	for i, s := range c.sizes {
		c.times[i] = time(i, s)
	}
	return c
}

// noisy is the times with normal noise of their logarithms.
func (c curve) noisy(r *rand.Rand, noise float64) []float64 {
	t := make([]float64, len(c.times))
	for i, s := range c.times {
		t[i] = s * math.Exp(noise*r.NormFloat64())
	}
	return t
}
