package main

import (
	"math"
	"slices"

	"busbar/internal/stats"
)

// A ratio is the median of paired ratios with its 95 % interval by order statistics.
type ratio struct {
	pairs          int
	median, lo, hi float64
	ours, bare     float64 // medians, in seconds
}

// compare takes times in seconds that were measured in pairs, one right after the other.
func compare(ours, bare []float64) ratio {
	r := make([]float64, len(ours))
	for i := range r {
		r[i] = ours[i] / bare[i]
	}
	slices.Sort(r)
	lo, hi, _ := stats.MedianInterval(len(r))
	return ratio{len(r), stats.Median(r), r[lo-1], r[hi-1], stats.Median(ours), stats.Median(bare)}
}

// sure reports whether more pairs would hardly change the CI.
func (r ratio) sure() bool { return r.pairs >= 30 && r.hi-r.lo < 0.005 }

// within reports whether the upper bound of the CI is at most limit, and slack seconds more.
func (r ratio) within(limit, slack float64) string {
	if r.hi <= limit+slack/r.bare {
		return "yes"
	}
	return "no"
}

// operations is how many operations make a batch: what takes a millisecond and at least 20, but no batch of seconds.
func operations(seconds float64, most int) int {
	n := max(20, int(math.Round(1e-3/seconds)))
	if float64(n)*seconds > 0.1 {
		n = max(4, int(0.1/seconds))
	}
	return min(n, most)
}
