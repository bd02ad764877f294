package stats

import (
	"math"
	"slices"
)

// MedianAt is the median of x, in time order and not empty, and the two order statistics that hold the median of a
// continuous distribution with at least that confidence: the sign test turned round, exact for any number of
// independent samples. Where samples resemble their neighbours they are those of batches, as in Summarise. ok is false
// where samples are too few for any interval of that confidence, and lo and hi are then the extremes.
func MedianAt(x []float64, confidence float64) (median, lo, hi float64, ok bool) {
	sorted := sortedCopy(x)
	median = quantile(sorted, 0.5)
	var w workspace
	if batch, _ := w.independentBatch(x, sorted, firstZ); batch > 1 {
		w.medians = w.batchMedians(nil, x, min(batch, odd(len(x)/minBatches)))
		slices.Sort(w.medians)
		sorted = w.medians
	}
	n := len(sorted)
	rank := medianRank(n, confidence)
	k := max(rank, 1)
	return median, min(median, sorted[k-1]), max(median, sorted[n-k]), rank > 0
}

// FewestForMedian is the minimum number of independent samples for which MedianAt has a CI of that confidence.
func FewestForMedian(confidence float64) int {
	n := 1
	for math.Exp2(1-float64(n)) > 1-confidence {
		n++
	}
	return n
}
