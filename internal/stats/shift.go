package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// MinForShift is the minimum number of samples per side for the bounds of a Shift.
const MinForShift = 3

// Shift is by how much the level of a second series exceeds that of a first, in their unit.
type Shift struct {
	Before, After  float64 // means without the lowest and highest fifth
	Change, Lo, Hi float64 // Lo and Hi are the bounds; both are Change where Known is false
	Known          bool
}

// ShiftOf compares two series in time order, neither of them empty. The bounds are Yuen's (Biometrika 61, 1974):
// Welch's t of trimmed means with winsorized variances. Neighbours that resemble each other count for fewer: their
// correlation r multiplies a variance by (1+r)/(1−r).
func ShiftOf(a, b []float64, confidence float64) Shift {
	x, y := levelOf(a), levelOf(b)
	s := Shift{Before: x.mean, After: y.mean, Change: y.mean - x.mean, Known: min(len(a), len(b)) >= MinForShift}
	s.Lo, s.Hi = s.Change, s.Change
	if variance := x.variance + y.variance; s.Known && variance > 0 {
		df := variance * variance / (x.variance*x.variance/x.df + y.variance*y.variance/y.df)
		half := math.Sqrt(variance) * studentQuantile(df, (1-confidence)/2)
		s.Lo, s.Hi = s.Change-half, s.Change+half
	}
	return s
}

// trimmed is the share of samples pulled in at each end, so that a few outliers change neither a level nor its error.
const trimmed = 0.2

// level is a trimmed mean, and its variance with its degrees of freedom.
type level struct{ mean, variance, df float64 }

func levelOf(x []float64) (l level) {
	n, cut := float64(len(x)), int(trimmed*float64(len(x)))
	sorted := sortedCopy(x)
	l.mean = mean(sorted[cut : len(x)-cut])
	pulled := slices.Clone(x)
	for i, v := range pulled {
		pulled[i] = min(max(v, sorted[cut]), sorted[len(x)-1-cut])
	}
	// The estimate of r is too low by about (1+4r)/n (Marriott & Pope, Biometrika 41, 1954).
	r := neighbourCorrelation(pulled)
	r = min(max(0, r+(1+4*r)/n), 0.9)
	kept := n - 2*float64(cut)
	l.df = kept - 1
	l.variance = (n - 1) * stat.Variance(pulled, nil) / (kept * l.df) * (1 + r) / (1 - r)
	return l
}
