package stats

import (
	"math"
	"slices"
)

// Median returns the middle value of x in any order, the mean of the two middle ones when their number is even, NaN
// when x is empty or has a NaN. x is not modified.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// Quantile returns the q-quantile of x in any order, 0 ≤ q ≤ 1: the value at position q(n−1) of the sorted
// samples counted from 0, linear between neighbours (definition 7 of Hyndman & Fan 1996, the default of R and NumPy).
// It is NaN when x is empty or has a NaN, or q is out of range. x is not modified.
func Quantile(x []float64, q float64) float64 {
	sorted := sortedCopy(x) // NaNs come first
	if len(x) == 0 || math.IsNaN(sorted[0]) || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	return quantile(sorted, q)
}

// quantile is Quantile of samples that are sorted and not empty.
func quantile(sorted []float64, q float64) float64 {
	position := q * float64(len(sorted)-1)
	i := int(position)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return between(sorted[i], sorted[i+1], position-float64(i))
}

// between is a at f = 0 and b at f = 1; it stays within [a, b], and is exact where a equals b.
func between(a, b, f float64) float64 {
	if f == 0 || a == b {
		return a
	}
	return min(a+(b-a)*f, b)
}

// fences are Q1 − 1.5 IQR and Q3 + 1.5 IQR (Tukey, Exploratory Data Analysis, 1977).
func fences(sorted []float64) (low, high float64) {
	q1, q3 := quantile(sorted, 0.25), quantile(sorted, 0.75)
	reach := 1.5 * (q3 - q1)
	return q1 - reach, q3 + reach
}

// outliers counts the samples outside the fences.
func outliers(sorted []float64) int {
	low, high := fences(sorted)
	below, _ := slices.BinarySearch(sorted, low)
	within, _ := slices.BinarySearch(sorted, math.Nextafter(high, math.Inf(1)))
	return below + len(sorted) - within
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// finite returns x without NaN and infinities, and their number. Without any it returns x itself.
func finite(x []float64) (kept []float64, bad int) {
	for _, v := range x {
		if !isFinite(v) {
			bad++
		}
	}
	if bad == 0 {
		return x, 0
	}
	return slices.DeleteFunc(slices.Clone(x), func(v float64) bool { return !isFinite(v) }), bad
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func sortedCopy(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}
