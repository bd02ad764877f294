package stats

import (
	"math"
	"slices"
	"sort"
)

// MinForInterval is the minimum number of samples for a 95 % CI of the median: the extremes of five samples enclose the
// median in only 93.75 % of cases.
const MinForInterval = 6

// MedianInterval returns the ranks (from 1) of the two order statistics of n independent samples that hold the
// median of a continuous distribution, the narrowest symmetric pair with at least 95 % coverage, and that coverage,
// exact from the binomial distribution (Le Boudec, Performance Evaluation of Computer and Communication Systems,
// 2010, §2.2; Hoefler & Belli, SC'15). With fewer than MinForInterval samples it returns 1, n and their coverage,
// which is below 95 %; for n = 0 three zeros.
func MedianInterval(n int) (lo, hi int, coverage float64) {
	if n <= 0 {
		return 0, 0, 0
	}
	lo = max(1, medianRank(n, Confidence))
	return lo, n + 1 - lo, covered(n, lo)
}

// medianRank is the largest k for which the k-th smallest and the k-th largest of n values enclose the median with that
// confidence, or 0.
func medianRank(n int, confidence float64) int {
	return sort.Search(n/2, func(k int) bool { return covered(n, k+1) < confidence })
}

// covered is how often the k-th smallest and the k-th largest of n values hold the median.
func covered(n, k int) float64 { return 1 - 2*atMostHeads(n, k-1) }

// medianBounds returns the interval of the median of independent values, sorted. The bounds lie between two order
// statistics such that the coverage is 95 % rather than anything up to 99 % (Hettmansperger & Sheather, Statistics &
// Probability Letters 4, 1986; Nyblom, ibid. 14, 1992, on how little that depends on the distribution). Fewer than
// MinForInterval values have no interval; they give their extremes.
func medianBounds(sorted []float64) (lo, hi float64) {
	n := len(sorted)
	if n < MinForInterval {
		return sorted[0], sorted[n-1]
	}
	k := medianRank(n, Confidence)
	coverage, inner := covered(n, k), covered(n, k+1)
	share := (coverage - Confidence) / (coverage - inner)
	f := float64(n-k) * share / (float64(k) + float64(n-2*k)*share)
	return between(sorted[k-1], sorted[k], f), -between(-sorted[n-k], -sorted[n-k-1], f)
}

// medianSpread estimates the width of medianBounds from the order statistics twice as far out, which span twice as
// many samples: its own error is less by a third.
func medianSpread(sorted []float64) float64 {
	n := len(sorted)
	k := max(1, medianRank(n, Confidence))
	far := max(1, 2*k-(n+1)/2)
	if far == k {
		return sorted[n-k] - sorted[k-1]
	}
	return (sorted[n-far] - sorted[far-1]) * float64(n+1-2*k) / float64(n+1-2*far)
}

// interval is what is known of the median of a series in time order.
type interval struct {
	lo, hi     float64
	spread     float64 // estimate of hi − lo that varies less
	batch      int
	autoCorr   float64
	correlated bool // more than batches can mend: the interval may be too narrow
	wanted     int  // samples it would take
}

// workspace holds what computing an interval needs, so that looking again allocates nothing.
type workspace struct{ blocks, medians, batch []float64 }

// interval returns the interval of the median of x, in time order and not empty; sorted is x sorted.
//
// Samples that resemble their neighbours carry less than they seem to: for AR(1) with 0.7 order statistics of the
// samples cover 69 % where they claim 95 %. Such a series is cut into batches of independentBatch samples, whose
// medians are nearly independent, and the order statistics are theirs. The batch is odd: the median of an odd number
// of independent samples falls below the true median exactly every other time, so batching where none was needed
// makes the interval wider but not wrong.
func (w *workspace) interval(x, sorted []float64) interval {
	median := quantile(sorted, 0.5)
	batch, autoCorr := w.independentBatch(x, sorted, firstZ)
	iv := interval{batch: batch, autoCorr: autoCorr}
	if most := odd(len(x) / minBatches); batch > most {
		iv.batch, iv.correlated, iv.wanted = most, true, batch*minBatches
	}
	if iv.batch == 1 {
		iv.lo, iv.hi = medianBounds(sorted)
		iv.spread = medianSpread(sorted)
	} else {
		w.medians = w.batchMedians(w.medians[:0], x, iv.batch)
		slices.Sort(w.medians)
		iv.lo, iv.hi = medianBounds(w.medians)
		iv.spread = medianSpread(w.medians)
	}
	iv.lo, iv.hi = min(iv.lo, median), max(iv.hi, median)
	return iv
}

// batchMedians appends the medians of consecutive batches of x. The first samples, fewer than a batch, are in none.
func (w *workspace) batchMedians(medians, x []float64, batch int) []float64 {
	for x = x[len(x)%batch:]; len(x) > 0; x = x[batch:] {
		w.batch = append(w.batch[:0], x[:batch]...)
		slices.Sort(w.batch)
		medians = append(medians, w.batch[batch/2])
	}
	return medians
}

// odd is the largest odd number up to n, at least 1.
func odd(n int) int { return max(1, n-1+n%2) }

// relativeHalfWidth is half of width in parts of the median, 0 for no width, +Inf where the median is 0.
func relativeHalfWidth(width, median float64) float64 {
	if width == 0 {
		return 0
	}
	return math.Abs(width / 2 / median)
}

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
