package stats

import (
	"math"
	"slices"
)

// Verdict is the result of comparing the launches of two sides at one point.
type Verdict string

// The verdicts. Better and worse are of times: worse is slower.
const (
	Inconclusive Verdict = "inconclusive"
	Same         Verdict = "same" // the ratio's interval lies inside the margin
	Better       Verdict = "better"
	Worse        Verdict = "worse"
)

func (v Verdict) String() string { return string(v) }

// The family-wise false-positive rates of a verdict, over all points of two sides that do not differ.
const (
	DefaultAlpha = 0.05
	StrictAlpha  = 0.01
)

// Trial is one point that both sides measured: its times by launch, 0 where a launch has none. Of pairs, A[i] and B[i]
// are of the same launch or block. All trials of a Compare have the same launches.
type Trial struct {
	A, B   []float64
	Margin float64 // ratios up to 1+Margin, and down to its inverse, count as the same
}

// Standard is the false-positive rate and the margin of verdicts.
type Standard struct {
	Alpha  float64 // family-wise false-positive rate; each interval has the confidence 1−Alpha
	Paired bool    // both sides were measured in the same launches or blocks
	Seed   uint64  // of labellings drawn, where there are too many to look at all
}

// Compared is the result of one point.
type Compared struct {
	Ratio           // B's time to A's
	P       float64 // adjusted for all points; 1 where the point was not tested
	Verdict Verdict
	// More estimates how many more launches per side a verdict needs. It is 0 with a verdict, and Hopeless where the
	// difference is too close to the margin, or too small for the noise.
	More int
}

// Hopeless means more launches than are practical.
const Hopeless = 1 << 20

// Comparison is what Compare found.
type Comparison struct {
	Points     []Compared
	Tested     int  // points with enough launches for a verdict
	Labellings int  // looked at, the true one with them
	Exact      bool // those are all that there are
}

// floorShare is the part of the median spread over points that is added to a point's own. Of four launches per side
// some are close to each other by chance, and of thirty points they would have the largest t. The median is over the
// spreads of all launches of both sides together, which no relabelling changes (the idea: Tusher, Tibshirani & Chu,
// PNAS 98, 2001).
const floorShare = 0.5

// Compare judges all points of two sides together. A point is better or worse if its adjusted p is at most Alpha and
// its interval does not hold 1; same, before that, if the interval lies inside its margin. docs/compare.md has the
// reasons.
func Compare(trials []Trial, r Standard) Comparison {
	c := Comparison{Points: make([]Compared, len(trials))}
	var family []int
	for i, t := range trials {
		p := &c.Points[i]
		p.Ratio, p.P = r.ratio(t), 1
		if p.Ratio.Basis == AcrossLaunches {
			family = append(family, i)
		}
	}
	if c.Tested = len(family); c.Tested > 0 {
		points := make([]tested, c.Tested)
		for k, i := range family {
			points[k] = newTested(trials[i], r.Paired)
		}
		setFloors(points, r.Paired)
		var l labellings
		statistic := (*tested).between
		if first := trials[family[0]]; r.Paired {
			l, statistic = swaps(len(first.A), c.Tested, r.Seed), (*tested).within
		} else {
			l = splits(len(first.A)+len(first.B), len(first.B), c.Tested, r.Seed)
		}
		c.Labellings, c.Exact = len(l.sets), l.exact
		for k, p := range stepDown(points, l, statistic) {
			c.Points[family[k]].P = p
		}
	}
	plan := planner{r, max(c.Tested, 1)}
	for i := range c.Points {
		p := &c.Points[i]
		if p.Verdict = p.judge(trials[i].Margin, r.Alpha); p.Verdict == Inconclusive {
			p.More = plan.more(trials[i], p.Ratio)
		}
	}
	return c
}

func (c *Compared) judge(margin, alpha float64) Verdict {
	switch {
	case c.Ratio.Basis != AcrossLaunches:
		return Inconclusive
	case c.Ratio.Hi <= 1+margin && c.Ratio.Lo >= 1/(1+margin):
		return Same
	case c.P > alpha:
		return Inconclusive
	case c.Ratio.Lo > 1:
		return Worse
	case c.Ratio.Hi < 1:
		return Better
	}
	return Inconclusive
}

// newTested takes the logarithms of a trial: of both sides behind each other, less their mean, or of the pairs' ratios.
func newTested(t Trial, paired bool) (p tested) {
	p.values = slices.Concat(t.logs(paired))
	p.present = make([]bool, len(p.values))
	for i, v := range p.values {
		if p.present[i] = isFinite(v); p.present[i] {
			p.n, p.sum = p.n+1, p.sum+v
		}
	}
	mean := 0.0
	if !paired {
		mean, p.sum = p.sum/float64(p.n), 0
	}
	for i := range p.values {
		p.values[i] -= mean
		if !p.present[i] || math.Abs(p.values[i]) < 1e-12 { // rounding, where all times are the same
			p.values[i] = 0
		}
		p.squares += p.values[i] * p.values[i]
	}
	if p.n == len(p.present) {
		p.present = nil
	}
	return p
}

// setFloors gives all points the floor that they share.
func setFloors(points []tested, paired bool) {
	spreads := make([]float64, len(points))
	for i, p := range points {
		if n := float64(p.n); paired {
			spreads[i] = math.Sqrt(p.squares / n / n) // around 0: a swap changes the mean, and not this
		} else {
			spreads[i] = math.Sqrt(p.squares / (n - 1) * 4 / n)
		}
	}
	floor := floorShare * Median(spreads)
	for i := range points {
		points[i].floor = floor
	}
}
