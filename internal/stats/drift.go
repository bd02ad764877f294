package stats

import "slices"

const (
	minDrift = 0.01 // in parts of the median; less than this matters to nobody
	// minDriftBatches is the least number of independent values that a third must have for a drift to be claimed.
	minDriftBatches = MinForInterval
)

// drift compares the medians of the first and the last third of x, in time order. A drift is claimed when their 95 %
// intervals do not touch, which happens by chance in less than 1 % of steady series, and when it is worth saying. The
// intervals allow for correlation within the thirds, as found after each third's own median is taken away: taken from
// the whole series, the drift itself would pass for correlation.
func drift(x []float64, median float64) (change float64, found bool) {
	third := len(x) / 3
	if third < minDriftBatches || median == 0 {
		return 0, false
	}
	first, last := x[:third], x[len(x)-third:]
	residuals := make([]float64, 0, len(x))
	for _, part := range [][]float64{first, x[third : len(x)-third], last} {
		m := Median(part)
		for _, v := range part {
			residuals = append(residuals, v-m)
		}
	}
	var w workspace
	batch, _ := w.independentBatch(residuals, sortedCopy(residuals))
	if third/batch < minDriftBatches {
		return 0, false
	}
	change = (Median(last) - Median(first)) / median
	if change < minDrift && change > -minDrift {
		return 0, false
	}
	a, b := w.batchMedians(nil, first, batch), w.batchMedians(nil, last, batch)
	slices.Sort(a)
	slices.Sort(b)
	loA, hiA := medianBounds(a)
	loB, hiB := medianBounds(b)
	return change, hiA < loB || hiB < loA
}
