package stats

import "math"

// normalQuantile is the value below which the share p of a standard normal variable lies, 0 < p < 1.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// studentQuantile is the value that a variable of Student with df degrees of freedom exceeds with the chance tail,
// 0 < tail < 0.5.
func studentQuantile(df, tail float64) float64 {
	lo, hi := 0.0, 1.0
	for studentTail(df, hi) > tail && hi < 1e9 {
		lo, hi = hi, 2*hi
	}
	for range 40 {
		if mid := (lo + hi) / 2; studentTail(df, mid) > tail {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// studentTail is the chance that a variable of Student with df degrees of freedom exceeds t ≥ 0.
func studentTail(df, t float64) float64 {
	return betaRegularised(df/2, 0.5, df/(df+t*t)) / 2
}

// betaRegularised is the incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22).
func betaRegularised(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaRegularised(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	// The fraction 1/(1+ d1/(1+ d2/(1+ …))) from its far end. It takes some √a terms.
	value := 1.0
	for m := 30 + 4*int(math.Sqrt(max(a, b))); m >= 1; m-- {
		i := float64(m / 2)
		var d float64
		if m%2 == 0 {
			d = i * (b - i) * x / ((a + 2*i - 1) * (a + 2*i))
		} else {
			d = -(a + i) * (a + b + i) * x / ((a + 2*i) * (a + 2*i + 1))
		}
		value = 1 + d/value
	}
	return front / value
}
