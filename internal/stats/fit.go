package stats

import "math"

// Parameter is a positive quantity of a model. By profile likelihood, the measured sizes bound it between Lo and Hi
// with Confidence. Lo is 0 without a lower bound, Hi +Inf without an upper bound.
type Parameter struct {
	Value, Lo, Hi float64
	// Known reports whether the parameter was observed, not only extrapolated. If not, Value is only that of the best
	// curve; of Alpha then only Hi is known, of Beta only Lo.
	Known bool
}

// Fit is the model of Hockney (Parallel Computing 20, 1994), t = Alpha + S/Beta, of times t in seconds of S bytes.
type Fit struct {
	Alpha Parameter // s, what the smallest message takes; Value 0 where no latency shows
	Beta  Parameter // bytes/s, what large messages come near; Value +Inf where no bandwidth shows
	Half  Parameter // bytes, n½ = Alpha·Beta: the size that reaches half of Beta
}

// Time is the predicted time of a size, in seconds.
func (f Fit) Time(size float64) float64 {
	if math.IsInf(f.Beta.Value, 1) {
		return f.Alpha.Value
	}
	return f.Alpha.Value + size/f.Beta.Value
}

const (
	// minForFit is the minimum number of points of a model: any model fits two points.
	minForFit = 3
	// beyond is how far the search for n½ extends outside of the sizes. There the model is S/β, or α, to a
	// ten-thousandth.
	beyond = 1e4
	// knownWithin is how far the bounds of a Parameter that is known lie apart at most, as a ratio.
	knownWithin = 2
)

// FitAlphaBeta fits t = α + S/β to times in seconds of sizes in bytes, all positive and by ascending size. It minimizes
// the squares of log t − log(α + S/β), so a relative error counts the same at every size. With n½ = αβ the model is (n½
// + S)/β: for a given n½ the best β is a mean of logarithms, and a search in one dimension finds the best n½.
//
// Bounds are those of the profile likelihood: all models that F(1, N−2) does not reject at Confidence. Alpha is Known
// where the smallest size is below n½, so that at least half of its time is latency, and the bounds lie within a factor
// of 2; Beta where the largest size is above n½, likewise. Every point counts, outliers too. FindTrend leaves outliers
// out.
//
// Fewer than three points give the zero Fit.
func FitAlphaBeta(sizes, times []float64) Fit {
	return fitLaw(sizes, logsOf(times), scatter{})
}

// scatter is a standard deviation of logarithms, and the degrees of freedom that it was taken from; none where df is 0.
type scatter struct {
	s  float64
	df int
}

// fitLaw is FitAlphaBeta of the logarithms of times. A given noise determines the bounds; otherwise the residuals of
// these few points do.
func fitLaw(sizes, logs []float64, noise scatter) (f Fit) {
	n := len(logs)
	if n < minForFit {
		return f
	}
	c := newProfile(sizes, logs)
	best := c.best()
	if noise.df == 0 {
		noise = scatter{math.Sqrt(best.squares / float64(n-2)), n - 2}
	}
	t := studentQuantile(float64(noise.df), (1-Confidence)/2)
	f.bound(c, best, best.squares+t*t*noise.s*noise.s)
	seen := f.Half.Value
	f.Alpha.Known = sizes[0] <= seen && f.Alpha.within(knownWithin)
	f.Beta.Known = sizes[n-1] >= seen && f.Beta.within(knownWithin)
	f.Half.Known = f.Alpha.Known && f.Beta.Known && f.Half.within(knownWithin*knownWithin)
	return f
}

func (p Parameter) within(ratio float64) bool {
	return p.Lo > 0 && !math.IsInf(p.Hi, 1) && p.Hi <= ratio*p.Lo
}

// bound sets the parameters from the best model, and their bounds from all models with at most that sum of squares.
func (f *Fit) bound(c profile, best lawAt, most float64) {
	set := func(p *Parameter, log float64) { *p = Parameter{math.Exp(log), math.Exp(log), math.Exp(log), false} }
	set(&f.Alpha, best.logHalf+best.level)
	set(&f.Beta, -best.level)
	set(&f.Half, best.logHalf)
	from, to := c.edge(best, most, c.from), c.edge(best, most, c.to)
	f.Half.Lo, f.Half.Hi = math.Exp(from), math.Exp(to)
	const steps = 64
	for k := range steps + 1 {
		l := c.at(from + (to-from)*float64(k)/steps)
		// The slowest and the fastest model with this n½ that fit well enough.
		free := math.Sqrt(max(0, most-l.squares) / float64(len(c.logs)))
		f.Alpha.widen(l.logHalf+l.level, free)
		f.Beta.widen(-l.level, free)
	}
	if from <= c.from {
		f.Alpha.Lo, f.Half.Lo = 0, 0
	}
	if to >= c.to {
		f.Beta.Hi, f.Half.Hi = math.Inf(1), math.Inf(1)
	}
	switch {
	case !c.atEnd(best):
	case best.logHalf < (c.from+c.to)/2:
		f.Alpha.Value, f.Half.Value = 0, 0
	default:
		f.Beta.Value, f.Half.Value = math.Inf(1), math.Inf(1)
	}
}

func (p *Parameter) widen(log, free float64) {
	p.Lo, p.Hi = min(p.Lo, math.Exp(log-free)), max(p.Hi, math.Exp(log+free))
}

// profile is the best fit for each n½.
type profile struct {
	sizes, logs []float64
	from, to    float64 // logarithms of n½ between which it is looked for
}

// lawAt is the best model of one n½: log t = level + log(n½ + S).
type lawAt struct{ logHalf, level, squares float64 }

func newProfile(sizes, logs []float64) profile {
	return profile{sizes, logs, math.Log(sizes[0] / beyond), math.Log(sizes[len(sizes)-1] * beyond)}
}

func (c profile) at(logHalf float64) lawAt {
	l, half := lawAt{logHalf: logHalf}, math.Exp(logHalf)
	var squares float64
	for i, s := range c.sizes {
		d := c.logs[i] - math.Log(half+s)
		// The sum of squares around a mean, in one pass (Welford).
		off := d - l.level
		l.level += off / float64(i+1)
		squares += off * (d - l.level)
	}
	l.squares = squares
	return l
}

// best is the model with the least squares: the best of a grid, then of finer grids around it.
func (c profile) best() lawAt {
	best, lo, hi := c.at(c.from), c.from, c.to
	for steps := math.Ceil((hi - lo) / 0.35); hi-lo > 1e-7; steps = 8 {
		step := (hi - lo) / steps
		for k := 0.0; k <= steps; k++ {
			if l := c.at(lo + step*k); l.squares < best.squares {
				best = l
			}
		}
		lo, hi = max(c.from, best.logHalf-step), min(c.to, best.logHalf+step)
		if c.atEnd(best) {
			break
		}
	}
	return best
}

// atEnd reports whether a model is the first or the last of the range: S/β or α alone.
func (c profile) atEnd(l lawAt) bool { return l.logHalf < c.from+1e-9 || l.logHalf > c.to-1e-9 }

// edge is the logarithm of the n½, towards an end of the range, beyond which the squares exceed most; otherwise that
// end.
func (c profile) edge(best lawAt, most, end float64) float64 {
	if c.at(end).squares <= most {
		return end
	}
	inside, outside := best.logHalf, end
	for range 50 {
		if mid := (inside + outside) / 2; c.at(mid).squares > most {
			outside = mid
		} else {
			inside = mid
		}
	}
	return inside
}
