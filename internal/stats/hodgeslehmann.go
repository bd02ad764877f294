package stats

import (
	"math"
	"slices"
)

// hodgesLehmann is the ratio of the times b to the times a, launch by launch, of launches that have none in common:
// the median of all ratios b/a (Hodges & Lehmann, Annals of Mathematical Statistics 34, 1963), on their logarithms.
// The bounds are those that the test of Mann and Whitney would not refuse: order statistics of the same ratios, whose
// ranks are exact for any distribution (Lehmann, Nonparametrics, 1975, §2.5). Where rank, of the lower bound, is 0
// there is no interval; the bounds are the extremes then, as Basis says. All times are positive; terms is room to work
// in.
func hodgesLehmann(a, b []float64, rank func(m, n int) int, terms *[]float64) Ratio {
	n := min(len(a), len(b))
	if n == 0 {
		return Ratio{}
	}
	*terms = (*terms)[:0]
	for _, x := range a {
		for _, y := range b {
			*terms = append(*terms, math.Log(y/x))
		}
	}
	return ratioOfTerms(*terms, rank(len(a), len(b)), n, len(a)+len(b) > 2)
}

// hodgesLehmannOfPairs is hodgesLehmann where both sides were measured in the same launches, or side by side in the
// same blocks: ratios[i] is b/a of the i-th. It is the median of the means of any two of their logarithms, one with
// itself too, and the bounds are those of Wilcoxon's signed ranks.
func hodgesLehmannOfPairs(ratios []float64, rank func(m, n int) int, terms *[]float64) Ratio {
	n := len(ratios)
	if n == 0 {
		return Ratio{Paired: true}
	}
	*terms = (*terms)[:0]
	for i, x := range ratios {
		for _, y := range ratios[:i+1] {
			*terms = append(*terms, (math.Log(x)+math.Log(y))/2)
		}
	}
	r := ratioOfTerms(*terms, rank(0, n), n, n > 1)
	r.Paired = true
	return r
}

// ratioOfTerms makes a ratio of logarithms, which it sorts, and the rank of its lower bound.
func ratioOfTerms(terms []float64, rank, n int, several bool) Ratio {
	slices.Sort(terms)
	last := len(terms) - 1
	r := Ratio{Value: math.Exp(quantile(terms, 0.5)), N: n}
	switch {
	case rank > 0:
		r.Basis = AcrossLaunches
		r.Lo, r.Hi = math.Exp(terms[rank-1]), math.Exp(terms[last+1-rank])
	case several:
		r.Basis = LaunchSpread
		r.Lo, r.Hi = math.Exp(terms[0]), math.Exp(terms[last])
	}
	return r
}

// mannWhitneyRank is the largest k for which the k-th smallest and the k-th largest of the m·n differences hold the
// shift with confidence; 0 if there is none.
func mannWhitneyRank(m, n int, confidence float64) int {
	if exact := logChoose(m+n, m) < exactCounts; !exact {
		mean, spread := float64(m*n)/2, math.Sqrt(float64(m*n*(m+n+1))/12)
		return normalRank(mean, spread, confidence)
	}
	// The generating function of the number of ways to a value of U is the product of (1−x^(n+i)) / (1−x^i).
	ways := make([]float64, m*n+1)
	ways[0] = 1
	for i := 1; i <= m; i++ {
		for u := m * n; u >= n+i; u-- {
			ways[u] -= ways[u-n-i]
		}
		for u := i; u <= m*n; u++ {
			ways[u] += ways[u-i]
		}
	}
	return tailRank(ways, confidence)
}

// signedRankRank is the largest k for which the k-th smallest and the k-th largest of the n(n+1)/2 means of two hold
// the centre with confidence; 0 if there is none.
func signedRankRank(n int, confidence float64) int {
	sums := n * (n + 1) / 2
	if float64(n)*math.Ln2 >= exactCounts {
		return normalRank(float64(sums)/2, math.Sqrt(float64(sums*(2*n+1))/12), confidence)
	}
	ways := make([]float64, sums+1)
	ways[0] = 1
	for i := 1; i <= n; i++ {
		for w := sums; w >= i; w-- {
			ways[w] += ways[w-i]
		}
	}
	return tailRank(ways, confidence)
}

// exactCounts is the logarithm up to which counts are whole numbers in a float64.
const exactCounts = 53 * math.Ln2

// tailRank is how many values from 0 on have together at most half of what confidence leaves.
func tailRank(ways []float64, confidence float64) int {
	all := 0.0
	for _, w := range ways {
		all += w
	}
	tail := 0.0
	for k, w := range ways {
		if tail += w; tail > all*(1-confidence)/2 {
			return k
		}
	}
	return 0
}

func normalRank(mean, spread, confidence float64) int {
	return max(0, int(math.Floor(mean+0.5-spread*normalQuantile((1+confidence)/2))))
}
