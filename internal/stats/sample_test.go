package stats

import (
	"math"
	"testing"

	"github.com/shoenig/test"
)

func TestQuantile(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x       []float64
		q, want float64
	}{
		{nil, 0.5, nan},
		{[]float64{7}, 0.9, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{1, 2, 3, 4, 5}, 0.25, 2},
		{[]float64{1, 2, 3, 4}, 0.9, 3.7},
		{[]float64{1, 2, 3, 4}, 0, 1},
		{[]float64{1, 2, 3, 4}, 1, 4},
		{[]float64{1, 2, 3, 4}, 1.1, nan},
		{[]float64{1, 2, 3, 4}, nan, nan},
		{[]float64{1, nan, 3}, 0.5, nan},
		{[]float64{0.1, 0.1, 0.1}, 0.3, 0.1},
	} {
		got := Quantile(c.x, c.q)
		if math.Abs(got-c.want) > 1e-12 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("Quantile(%v, %g) = %g, want %g", c.x, c.q, got, c.want)
		}
	}
	test.EqOp(t, 6, Median([]float64{9, 1, 5, 7}))
}

func TestOutliers(t *testing.T) {
	// Quartiles 3 and 7: fences −3 and 13, which are not outside themselves.
	for _, c := range []struct {
		first, last float64
		want        int
	}{{1, 9, 0}, {-3, 13, 0}, {-3.01, 9, 1}, {1, 13.01, 1}, {-50, 50, 2}} {
		sorted := []float64{c.first, 2, 3, 4, 5, 6, 7, 8, c.last}
		test.EqOp(t, c.want, outliers(sorted), test.Sprint(sorted))
	}
}
