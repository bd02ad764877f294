package stats

import (
	"math"
	"slices"
)

// ratio is the ratio of the times B to the times A: the median of all ratios between launches of both sides (Hodges &
// Lehmann, Annals of Mathematical Statistics 34, 1963), on their logarithms. Of pairs it is the median of the means of
// any two logarithms, each with itself too. The bounds are those that the Mann-Whitney test, or Wilcoxon's signed-rank
// test, does not reject: order statistics of the same values, whose ranks are exact for any distribution (Lehmann,
// Nonparametrics, 1975, §2.5). With too few launches for a confidence interval the bounds are the extremes, as Basis
// reports.
func (s Standard) ratio(t Trial) Ratio {
	var terms []float64
	var n, rank int
	a, b := t.known(s.Paired)
	if s.Paired {
		for i, x := range a {
			for _, y := range a[:i+1] {
				terms = append(terms, (x+y)/2)
			}
		}
		n, rank = len(a), signedRankRank(len(a), 1-s.Alpha)
	} else {
		for _, x := range t.A {
			for _, y := range t.B {
				terms = append(terms, math.Log(y/x))
			}
		}
		terms, _ = finite(terms)
		n, rank = min(len(a), len(b)), mannWhitneyRank(len(a), len(b), 1-s.Alpha)
	}
	if n == 0 {
		return Ratio{Paired: s.Paired}
	}
	slices.Sort(terms)
	last := len(terms) - 1
	r := Ratio{Value: math.Exp(quantile(terms, 0.5)), N: n, Paired: s.Paired}
	switch {
	case rank > 0:
		r.Basis, r.Lo, r.Hi = AcrossLaunches, math.Exp(terms[rank-1]), math.Exp(terms[last+1-rank])
	case len(a)+len(b) > 2 || s.Paired && n > 1:
		r.Basis, r.Lo, r.Hi = LaunchSpread, math.Exp(terms[0]), math.Exp(terms[last])
	}
	return r
}

// logs are the logarithms of the times of both sides, or of the ratios of pairs; not finite where a time is missing.
func (t Trial) logs(paired bool) (a, b []float64) {
	if !paired {
		return logsOf(t.A), logsOf(t.B)
	}
	ratios := slices.Clone(t.B)
	for i, seconds := range t.A {
		ratios[i] /= seconds
	}
	return logsOf(ratios), nil
}

// known are the logs without those that are missing.
func (t Trial) known(paired bool) (a, b []float64) {
	a, b = t.logs(paired)
	a, _ = finite(a)
	b, _ = finite(b)
	return a, b
}

func logsOf(x []float64) []float64 {
	logs := make([]float64, len(x))
	for i, v := range x {
		logs[i] = math.Log(v)
	}
	return logs
}

// mannWhitneyRank is the largest k for which the k-th smallest and the k-th largest of the m·n differences enclose the
// shift with confidence, or 0.
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

// signedRankRank is the largest k for which the k-th smallest and the k-th largest of the n(n+1)/2 means of two enclose
// the centre with confidence, or 0.
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
