package stats

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/shoenig/test"
)

func TestSummarise(t *testing.T) {
	x := []float64{5, 1, 4, 2, 3, 6, 8, 7, 9, 100}
	before := slices.Clone(x)
	got := Summarise(x)
	want := Summary{
		N: 10, Min: 1, Max: 100, Median: 5.5, Lo: 2.6576576576576567, Hi: 8.342342342342343,
		HasInterval: true,
		P90:         18.1, Outliers: 1, BatchSize: 1,
	}
	// The last digit depends on whether the CPU fuses multiplication and addition.
	for _, v := range [][2]*float64{{&got.P90, &want.P90}, {&got.Lo, &want.Lo}, {&got.Hi, &want.Hi}} {
		if math.Abs(*v[0]-*v[1]) < 1e-9 {
			*v[0] = *v[1]
		}
	}
	got.AutoCorr = 0
	test.Eq(t, want, got)
	test.SliceEqOp(t, before, x)
}

func TestSummariseFewOrOddSamples(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name   string
		x      []float64
		median float64
		has    bool
		warn   []WarningKind
	}{
		{"none", nil, 0, false, []WarningKind{TooFewSamples}},
		{"one", []float64{3}, 3, false, []WarningKind{TooFewSamples}},
		{"five", []float64{1, 2, 3, 4, 5}, 3, false, []WarningKind{TooFewSamples}},
		{"six", []float64{1, 2, 3, 4, 5, 6}, 3.5, true, nil},
		{"constant", slices.Repeat([]float64{7}, 300), 7, true, nil},
		{"zero", make([]float64, 300), 0, true, nil},
		{"mostly ties", append(slices.Repeat([]float64{7, 7, 7, 8}, 50), 9), 7, true, nil},
		{"not finite", []float64{1, nan, 2, inf, 3, -inf}, 2, false, []WarningKind{NotFinite, TooFewSamples}},
		{"nothing finite", []float64{nan}, 0, false, []WarningKind{NotFinite, TooFewSamples}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Summarise(c.x)
			var kinds []WarningKind
			for _, w := range s.Warnings {
				kinds = append(kinds, w.Kind)
			}
			if s.Median != c.median || s.HasInterval != c.has || !slices.Equal(kinds, c.warn) || s.BatchSize != 1 {
				t.Errorf("got %+v, want median %g, interval %v, warnings %v", s, c.median, c.has, c.warn)
			}
			if s.HasInterval && !s.covers(s.Median) {
				t.Errorf("the interval [%g, %g] is without the median %g", s.Lo, s.Hi, s.Median)
			}
			if v := reflect.ValueOf(s); v.Kind() == reflect.Struct {
				for i := range v.NumField() {
					if f := v.Field(i); f.Kind() == reflect.Float64 && !isFinite(f.Float()) {
						t.Errorf("%s is %g", v.Type().Field(i).Name, f.Float())
					}
				}
			}
		})
	}
}

func TestTailQuantilesNeedSamples(t *testing.T) {
	for n, want := range map[int][2]bool{9: {false, false}, 10: {true, false}, 99: {true, false}, 100: {true, true}} {
		s := Summarise(normal.sample(seeded(1), n))
		test.EqOp(t, want, [2]bool{s.P90 > 0, s.P99 > 0}, test.Sprint(n))
	}
}

// What must hold of any summary.
func TestSummaryProperties(t *testing.T) {
	r := seeded(2)
	for i := range 2000 {
		n := 1 + r.IntN(200)
		x := []shape{normal, lognormal, twoModes, skewed}[i%4].sample(r, n)
		switch i % 3 {
		case 1:
			x = newAutoregression(r, 0.9).appendTo(nil, n)
		case 2:
			for j := range x {
				x[j] = math.Round(8 * x[j])
			}
		}
		s := Summarise(x)
		if s.HasInterval && !(s.Min <= s.Lo && s.Lo <= s.Median && s.Median <= s.Hi && s.Hi <= s.Max) {
			t.Fatalf("out of order: %+v", s)
		}
		if s.AutoCorr < -1 || s.AutoCorr > 1 || s.Outliers < 0 || s.Outliers > n || s.BatchSize < 1 ||
			s.BatchSize%2 == 0 {
			t.Fatalf("impossible: %+v", s)
		}
		if s.HasInterval && n/s.BatchSize < min(minBatches, n) {
			t.Fatalf("%d batches", n/s.BatchSize)
		}

		// A power of two changes no digit.
		scaled := make([]float64, n)
		for j := range x {
			scaled[j] = x[j] / 1024
		}
		if k := Summarise(scaled); k.Median*1024 != s.Median || k.Lo*1024 != s.Lo || k.Hi*1024 != s.Hi ||
			k.P90*1024 != s.P90 ||
			k.Outliers != s.Outliers || k.AutoCorr != s.AutoCorr || len(k.Warnings) != len(s.Warnings) {
			t.Fatalf("not scaled by 1024:\n%+v\n%+v", s, k)
		}

		shuffled := slices.Clone(x)
		r.Shuffle(n, func(a, b int) { shuffled[a], shuffled[b] = shuffled[b], shuffled[a] })
		if Median(shuffled) != s.Median || Quantile(shuffled, 0.9) != Quantile(x, 0.9) {
			t.Fatalf("the order of samples changed a quantile")
		}
	}
}

func TestAutoCorr(t *testing.T) {
	r := seeded(3)
	for _, rho := range []float64{-0.5, 0, 0.3, 0.7, 0.95} {
		x := newAutoregression(r, rho).appendTo(nil, 20000)
		if got := Summarise(x).AutoCorr; math.Abs(got-rho) > 0.03 {
			t.Errorf("AR(1) %g: autocorrelation %g", rho, got)
		}
		for i := 0; i < len(x); i += 50 {
			x[i] *= 1000
		}
		if got := Summarise(x).AutoCorr; math.Abs(got-rho) > 0.18 {
			t.Errorf("AR(1) %g with outliers: autocorrelation %g", rho, got)
		}
	}
	runs := append(slices.Repeat([]float64{1}, 20), 2, 2, 2, 2)
	if s := Summarise(slices.Repeat(runs, 20)); s.AutoCorr < 0.6 || s.BatchSize == 1 {
		t.Errorf("runs of two values, their quartiles equal: autocorrelation %g, batch %d", s.AutoCorr, s.BatchSize)
	}
}

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
