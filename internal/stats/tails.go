package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/combin"
)

// normalQuantile is the value below which the share p of a standard normal variable lies, 0 < p < 1.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// studentQuantile is the value that a variable of Student with df degrees of freedom exceeds with probability tail,
// 0 < tail < 0.5.
func studentQuantile(df, tail float64) float64 {
	x := mathext.InvRegIncBeta(df/2, 0.5, 2*tail)
	return math.Sqrt(df * (1 - x) / x)
}

// studentTail is the probability that a variable of Student with df degrees of freedom exceeds t ≥ 0.
func studentTail(df, t float64) float64 { return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) / 2 }

// BinomialAtLeast is the probability of k or more successes in n independent trials of probability p.
func BinomialAtLeast(n, k int, p float64) float64 {
	switch {
	case k <= 0 || p >= 1:
		return 1
	case k > n || p <= 0:
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// atMostHeads is the probability of at most k heads in n throws of a fair coin.
func atMostHeads(n, k int) float64 { return BinomialAtLeast(n, n-k, 0.5) }

// logChoose is the logarithm of the number of ways to choose k of n.
func logChoose(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
