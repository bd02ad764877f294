package stats

import "math"

const (
	// minBatches is the minimum number of batches of a confidence interval.
	minBatches = 10
	// batchTimes is the length of a batch in correlation times. With 5, neighbouring batch medians of an AR(1)
	// series have a correlation of about 0.08, and the interval of their median covers 93 % instead of 95 %.
	batchTimes = 5
	// Standard normal quantiles for tests of correlation, with a false-positive rate of 1 %. A detected correlation
	// probably extends over longer distances, and missing it is worse than overestimating it.
	firstZ = 2.33
	laterZ = 1.0
)

// independentBatch returns the batch size that makes medians of batches of x nearly independent, 1 when x shows no
// correlation above z standard errors, and the lag-1 correlation of x with its outliers pulled in to Tukey's fences.
// x is in time order and not empty; sorted is x sorted.
//
// Correlation is looked for in the fenced values, which show it soonest, and in the signs of x − median, which are
// what counts for the interval of the median. The batch is a multiple of the correlation time of the signs: how many
// samples carry what one independent sample would. It is found by blocking (Flyvbjerg & Petersen, J. Chem. Phys. 91,
// 1989): neighbours are merged in pairs, and each merging with correlation r between neighbours multiplies the time by
// 1 + r, until the blocks show none. This takes 2n steps whatever the time is.
func (w *workspace) independentBatch(x, sorted []float64, z float64) (batch int, lag1 float64) {
	w.blocks = appendFenced(w.blocks[:0], x, sorted)
	lag1 = neighbourCorrelation(w.blocks)
	w.blocks = appendSigns(w.blocks[:0], x, quantile(sorted, 0.5))
	blocks := w.blocks
	r := neighbourCorrelation(blocks)
	if sorted[len(sorted)/4] == sorted[len(sorted)-1-len(sorted)/4] {
		lag1 = r // the fences leave nothing
	}
	if max(lag1, r) <= z/math.Sqrt(float64(len(x))) {
		return 1, lag1
	}
	time := 1.0
	for len(blocks) >= minBatches && r > laterZ/math.Sqrt(float64(len(blocks))) {
		time *= 1 + r
		for i := range len(blocks) / 2 {
			blocks[i] = (blocks[2*i] + blocks[2*i+1]) / 2
		}
		blocks = blocks[:len(blocks)/2]
		r = neighbourCorrelation(blocks)
	}
	return odd(int(math.Ceil(batchTimes*time)) + 1), lag1
}

// appendFenced appends x with its outliers pulled in to Tukey's fences.
func appendFenced(dst, x, sorted []float64) []float64 {
	low, high := fences(sorted)
	for _, v := range x {
		dst = append(dst, min(max(v, low), high))
	}
	return dst
}

// appendSigns appends the sign of each x − centre: 1, 0 or −1.
func appendSigns(dst, x []float64, centre float64) []float64 {
	for _, v := range x {
		switch {
		case v > centre:
			dst = append(dst, 1)
		case v < centre:
			dst = append(dst, -1)
		default:
			dst = append(dst, 0)
		}
	}
	return dst
}

// neighbourCorrelation is the lag-1 autocorrelation of x, 0 when x does not vary.
func neighbourCorrelation(x []float64) float64 {
	m := mean(x)
	var products, squares float64
	for i, v := range x {
		squares += (v - m) * (v - m)
		if i > 0 {
			products += (v - m) * (x[i-1] - m)
		}
	}
	if squares == 0 {
		return 0
	}
	return products / squares
}
