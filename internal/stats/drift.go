package stats

import "slices"

const (
	minDrift = 0.01 // in parts of the first third; less is irrelevant
	// minDriftBatches is the minimum number of independent values per third for a drift to be reported.
	minDriftBatches = MinForInterval
	driftZ          = 1.64 // a correlation missed makes a false drift; one seen too much only hides a small one
)

// drift compares the medians of the first and the last third of x, in time order. It reports a drift when their 95 %
// CIs do not touch (false-positive rate below 1 %) and the drift is large enough to matter. The CIs allow for
// correlation within the two thirds, after each third's own line is subtracted: otherwise the drift itself would count
// as correlation.
func drift(x []float64) (change float64, found bool) {
	third := len(x) / 3
	if third < minDriftBatches {
		return 0, false
	}
	first, last := x[:third], x[len(x)-third:]
	from := Median(first)
	if from == 0 {
		return 0, false
	}
	residuals := appendResiduals(appendResiduals(make([]float64, 0, 2*third), first), last)
	var w workspace
	batch, _ := w.independentBatch(residuals, sortedCopy(residuals), driftZ)
	if third/batch < minDriftBatches {
		return 0, false
	}
	change = Median(last)/from - 1
	if change < minDrift && change > -minDrift {
		return 0, false
	}
	a, b := w.batchMedians(nil, first, batch), w.batchMedians(nil, last, batch)
	slices.Sort(a)
	slices.Sort(b)
	// Whole order statistics: wider than the CI, so that the false-positive rate holds for few samples.
	k := medianRank(len(a), Confidence)
	return change, a[len(a)-k] < b[k-1] || b[len(b)-k] < a[k-1]
}

// appendResiduals appends the residuals of x around the line through the medians of its halves.
func appendResiduals(dst, x []float64) []float64 {
	half := len(x) / 2
	a, b := Median(x[:half]), Median(x[len(x)-half:])
	slope := (b - a) / float64(len(x)-half)
	for i, v := range x {
		dst = append(dst, v-(a+slope*(float64(i)-float64(half-1)/2)))
	}
	return dst
}
