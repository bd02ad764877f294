package stats

import "math"

// BinomialAtLeast is the chance that something which happens with chance p happens k times or more in n independent
// trials.
func BinomialAtLeast(n, k int, p float64) float64 {
	switch {
	case k <= 0 || p >= 1:
		return 1
	case k > n || p <= 0:
		return 0
	case float64(k) > float64(n)*p:
		return min(1, tailBelow(n, n-k, 1-p))
	}
	return max(0, 1-tailBelow(n, k-1, p))
}

// tailBelow is the chance of k or fewer in n trials of chance p, which is between 0 and 1. It adds from k down, so k is
// not far above the mean, where the first term would vanish.
func tailBelow(n, k int, p float64) float64 {
	if k < 0 {
		return 0
	}
	odds := (1 - p) / p
	term := math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	sum := 0.0
	for j := k; term > 0 && j >= 0; j-- {
		sum += term
		if term < sum*1e-17 {
			break
		}
		term *= odds * float64(j) / float64(n-j+1)
	}
	return sum
}
