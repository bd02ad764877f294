package stats

import (
	"math"
	"slices"
)

// Estimate is a positive quantity with its confidence interval at Confidence; Lo and Hi are 0 without one.
type Estimate struct{ Value, Lo, Hi float64 }

// hasInterval reports whether the bounds are positive and enclose the value.
func (e Estimate) hasInterval() bool { return e.Lo > 0 && e.Lo <= e.Value && e.Value <= e.Hi }

// Basis is what the bounds of a Ratio are computed from, and so how far they apply.
type Basis uint8

// The bases.
const (
	NoBounds       Basis = iota // a ratio alone
	WithinLaunch                // intervals of one launch on each side: they know nothing of other launches
	LaunchSpread                // the extremes over launches too few for an interval
	AcrossLaunches              // an interval of the median over launches
)

// Ratio is one quantity divided by another. Lo and Hi are 0 without a basis; they are an interval with Confidence for
// WithinLaunch and AcrossLaunches, and what was seen for LaunchSpread.
type Ratio struct {
	Value, Lo, Hi float64
	Basis         Basis
	N             int  // launches behind it, of the side that has fewer
	Paired        bool // both sides were measured in the same launches
}

// Differs reports whether the bounds exclude 1. Extremes of too few launches are no confidence interval and never do.
func (r Ratio) Differs() bool {
	return (r.Basis == WithinLaunch || r.Basis == AcrossLaunches) && (r.Lo > 1 || r.Hi < 1)
}

// Inverse is the ratio turned around.
func (r Ratio) Inverse() Ratio {
	if r.Value > 0 {
		r.Value = 1 / r.Value
	}
	if r.Basis != NoBounds {
		r.Lo, r.Hi = 1/r.Hi, 1/r.Lo
	}
	return r
}

// RatioOf divides two independent estimates. The bounds are those of Zou & Donner (Statistics in Medicine 27, 2008)
// for the difference of the logarithms: the distances of both estimates to their own bounds, joined as the root of the
// sum of squares, each side of the interval for itself. That keeps what is lopsided about either. Where one has no
// interval, neither has the ratio.
func RatioOf(a, b Estimate) Ratio {
	if a.Value <= 0 || b.Value <= 0 {
		return Ratio{}
	}
	r := Ratio{Value: a.Value / b.Value, N: 1}
	if !a.hasInterval() || !b.hasInterval() {
		return r
	}
	below := math.Hypot(math.Log(a.Value/a.Lo), math.Log(b.Hi/b.Value))
	above := math.Hypot(math.Log(a.Hi/a.Value), math.Log(b.Value/b.Lo))
	r.Lo, r.Hi, r.Basis = r.Value*math.Exp(-below), r.Value*math.Exp(above), WithinLaunch
	return r
}

// RatioOfPairs is the median of ratios that were each taken within one launch: with MinForInterval of them or more the
// bounds are order statistics, with fewer the extremes. All ratios are positive; one alone has no bounds. The median is
// taken of the logarithms, so that the ratio turned around is the inverse for an even number of launches too.
func RatioOfPairs(ratios []float64) Ratio {
	r := Ratio{N: len(ratios), Paired: true}
	if r.N == 0 {
		return r
	}
	e, basis := MedianOfLaunches(logsOf(ratios))
	if r.Value, r.Basis = math.Exp(e.Value), basis; basis != NoBounds {
		r.Lo, r.Hi = math.Exp(e.Lo), math.Exp(e.Hi)
	}
	return r
}

// RatioOfLaunches divides the medians of two sets of launches that have none in common. With MinForInterval launches on
// both sides the bounds are RatioOf's of the two intervals; else they are the extremes that any two launches make.
func RatioOfLaunches(a, b []float64) Ratio {
	x, basisX := MedianOfLaunches(a)
	y, basisY := MedianOfLaunches(b)
	n := min(len(a), len(b))
	if n == 0 {
		return Ratio{}
	}
	if basisX == AcrossLaunches && basisY == AcrossLaunches {
		r := RatioOf(x, y)
		r.Basis, r.N = AcrossLaunches, n
		return r
	}
	r := Ratio{Value: x.Value / y.Value, N: n}
	if len(a)+len(b) > 2 {
		r.Lo, r.Hi, r.Basis = slices.Min(a)/slices.Max(b), slices.Max(a)/slices.Min(b), LaunchSpread
	}
	return r
}

// MedianOfLaunches is the median of what launches gave, in any order: with MinForInterval of them or more its bounds
// are an interval, with fewer the extremes; one alone has none.
func MedianOfLaunches(values []float64) (Estimate, Basis) {
	switch len(values) {
	case 0:
		return Estimate{}, NoBounds
	case 1:
		return Estimate{Value: values[0]}, NoBounds
	}
	sorted := sortedCopy(values)
	e, basis := Estimate{Value: quantile(sorted, 0.5)}, LaunchSpread
	if len(sorted) >= MinForInterval {
		basis = AcrossLaunches
	}
	e.Lo, e.Hi = medianBounds(sorted)
	return e, basis
}
