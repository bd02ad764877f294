package stats

import "math"

const (
	// minBatches is the least number of batches that an interval is made of.
	minBatches = 10
	// batchTimes is the length of a batch in correlation times. With 5, neighbouring batch medians of an AR(1)
	// series have a correlation of about 0.08, and the interval of their median covers 93 % instead of 95 %.
	batchTimes = 5
)

// appendSigns appends the sign of each x − centre: 1, 0 or −1. Only signs matter to a median, and outliers weigh
// no more than others.
func appendSigns(signs, x []float64, centre float64) []float64 {
	for _, v := range x {
		switch {
		case v > centre:
			signs = append(signs, 1)
		case v < centre:
			signs = append(signs, -1)
		default:
			signs = append(signs, 0)
		}
	}
	return signs
}

// correlationBatch returns the batch size that makes batch medians nearly independent, 1 when the signs show no
// correlation, and their lag-1 correlation. It overwrites signs.
//
// The correlation time is how many samples carry what one independent sample would: the variance of the mean sign
// over what it would be without correlation. It is found by blocking (Flyvbjerg & Petersen, J. Chem. Phys. 91,
// 1989): neighbours are merged in pairs, and each merging with correlation r between neighbours multiplies the
// time by 1 + r, until the blocks show none. This takes 2n steps whatever the time is.
func correlationBatch(signs []float64) (batch int, lag1 float64) {
	lag1 = neighbourCorrelation(signs)
	time := 1.0
	for r, z := lag1, firstZ; len(signs) >= minBatches && r > z/math.Sqrt(float64(len(signs))); z = laterZ {
		time *= 1 + r
		for i := range len(signs) / 2 {
			signs[i] = (signs[2*i] + signs[2*i+1]) / 2
		}
		signs = signs[:len(signs)/2]
		r = neighbourCorrelation(signs)
	}
	if time == 1 {
		return 1, lag1
	}
	return odd(int(math.Ceil(batchTimes*time)) + 1), lag1
}

// Standard normal quantiles that a correlation is tested at. Where it has been found once (1 % by chance), more of
// it is expected in longer blocks, and to miss it is worse than to see too much.
const (
	firstZ = 2.33
	laterZ = 1.0
)

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
