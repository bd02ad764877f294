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
	Before, After  float64 // medians
	Change, Lo, Hi float64 // Lo and Hi are the bounds; both are Change where Known is false
	Known          bool
}

// ShiftOf compares two series in time order, neither of them empty. The change is the median of all differences
// (Hodges & Lehmann, Annals of Mathematical Statistics 34, 1963), and the bounds are those that the Mann-Whitney test
// does not reject. Neighbours that resemble each other count for fewer: their correlation r multiplies the variance of
// the statistic by (1+r)/(1−r). Of fewer than six samples, or where no rank is left, the bounds are Yuen's (Biometrika
// 61, 1974): Welch's t with winsorized variances, which assumes normal samples.
func ShiftOf(a, b []float64, confidence float64) Shift {
	var differences []float64
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	slices.Sort(differences)
	s := Shift{Before: Median(a), After: Median(b), Change: quantile(differences, 0.5)}
	s.Lo, s.Hi, s.Known = s.Change, s.Change, min(len(a), len(b)) >= MinForShift
	if !s.Known {
		return s
	}
	x, y := levelOf(a), levelOf(b)
	rank := 0
	if m, n := len(a), len(b); min(m, n) >= MinForInterval {
		inflated := (x.fewer*float64(n) + y.fewer*float64(m)) / float64(m+n)
		if rank = mannWhitneyRank(m, n, confidence); inflated > 1 {
			spread := math.Sqrt(float64(m*n*(m+n+1)) / 12 * inflated)
			rank = min(rank, normalRank(float64(m*n)/2, spread, confidence))
		}
	}
	if rank > 0 {
		s.Lo, s.Hi = differences[rank-1], differences[len(differences)-rank]
		return s
	}
	if variance := x.variance + y.variance; variance > 0 {
		df := variance * variance / (x.variance*x.variance/x.df + y.variance*y.variance/y.df)
		half := math.Sqrt(variance) * studentQuantile(df, (1-confidence)/2)
		s.Lo, s.Hi = min(s.Change, y.mean-x.mean-half), max(s.Change, y.mean-x.mean+half)
	}
	return s
}

// trimmed is the share of samples pulled in at each end, so that a few outliers change neither a level nor its error.
const trimmed = 0.2

// level is a trimmed mean, its variance with its degrees of freedom, and how many samples count as one.
type level struct{ mean, variance, df, fewer float64 }

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
	l.fewer, l.df = (1+r)/(1-r), kept-1
	l.variance = (n - 1) * stat.Variance(pulled, nil) / (kept * l.df) * l.fewer
	return l
}
