package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// MinForShift is the minimum number of samples per side for the bounds of a Shift.
const MinForShift = 3

// Shift is by how much the level of a second series exceeds that of a first, in their unit.
type Shift struct {
	Before, After  float64 // trimmed means
	Change, Lo, Hi float64 // Lo and Hi are the bounds; both are Change where Known is false
	Known          bool
}

// trimmed is the share of samples left out at each end, so that a few outliers change neither the level nor its error.
const trimmed = 0.2

// ShiftOf compares two series in time order, neither of them empty. The levels are means without the fifth at each end,
// the bounds those of Yuen (Biometrika 61, 1974): Welch's t with winsorized variances. Samples that resemble their
// neighbours count for fewer: the variance is multiplied by (1+r)/(1−r) with the correlation r of neighbours, and the
// degrees of freedom are divided by it.
func ShiftOf(a, b []float64, confidence float64) Shift {
	x, y := levelOf(a), levelOf(b)
	s := Shift{Before: x.mean, After: y.mean, Change: y.mean - x.mean, Known: min(len(a), len(b)) >= MinForShift}
	half := 0.0
	if variance := x.variance + y.variance; s.Known && variance > 0 {
		df := variance * variance / (x.variance*x.variance/x.df + y.variance*y.variance/y.df)
		half = math.Sqrt(variance) * distuv.StudentsT{Sigma: 1, Nu: df}.Quantile((1+confidence)/2)
	}
	s.Lo, s.Hi = s.Change-half, s.Change+half
	return s
}

// level is a trimmed mean, its variance, and the degrees of freedom of that.
type level struct{ mean, variance, df float64 }

func levelOf(x []float64) (l level) {
	n, cut := len(x), int(trimmed*float64(len(x)))
	sorted := sortedCopy(x)
	l.mean = mean(sorted[cut : n-cut])
	pulled := slices.Clone(x)
	for i, v := range pulled {
		pulled[i] = min(max(v, sorted[cut]), sorted[n-1-cut])
	}
	if kept := float64(n - 2*cut); n >= MinForShift {
		// The estimate of r is too low by about (1+4r)/n (Marriott & Pope, Biometrika 41, 1954).
		r := neighbourCorrelation(pulled)
		r = min(max(0, r+(1+4*r)/float64(n)), 0.9)
		fewer := (1 + r) / (1 - r)
		l.variance = float64(n-1) * stat.Variance(pulled, nil) / (kept * (kept - 1)) * fewer
		l.df = max(1, (kept-1)/fewer)
	}
	return l
}
