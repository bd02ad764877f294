package stats

import (
	"fmt"
	"math"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
)

func TestRatioOf(t *testing.T) {
	a, b := Estimate{2, 1.8, 2.4}, Estimate{1, 0.95, 1.1}
	r := RatioOf(a, b)
	below := math.Sqrt(math.Pow(math.Log(2/1.8), 2) + math.Pow(math.Log(1.1), 2))
	above := math.Sqrt(math.Pow(math.Log(2.4/2), 2) + math.Pow(math.Log(1/0.95), 2))
	if !near(r.Value, 2) || !near(r.Lo, 2*math.Exp(-below)) || !near(r.Hi, 2*math.Exp(above)) ||
		r.Basis != WithinLaunch ||
		!r.Differs() {
		t.Errorf("%+v", r)
	}
	// Turned around it is the inverse, bounds and all.
	if i := RatioOf(b, a); !near(i.Value, 1/r.Value) || !near(i.Lo, 1/r.Hi) || !near(i.Hi, 1/r.Lo) {
		t.Errorf("turned around: %+v of %+v", i, r)
	}
	for _, c := range []struct{ a, b Estimate }{{Estimate{2, 0, 0}, b}, {a, Estimate{1, 0, 0}},
		{Estimate{2, 2.1, 2.2}, b}} {
		if r := RatioOf(c.a, c.b); !near(r.Value, 2) || r.Basis != NoBounds || r.Lo != 0 || r.Hi != 0 || r.Differs() {
			t.Errorf("without an interval on one side: %+v", r)
		}
	}
	test.EqOp(t, Ratio{}, RatioOf(Estimate{}, b))
}

func TestRatioOverLaunches(t *testing.T) {
	for _, c := range []struct {
		ratios  []float64
		want    Ratio
		differs bool
	}{
		{[]float64{1.5}, Ratio{Value: 1.5, N: 1, Paired: true}, false},
		{[]float64{1.2, 1.5, 1.1}, Ratio{Value: 1.2, Lo: 1.1, Hi: 1.5, Basis: LaunchSpread, N: 3, Paired: true}, false},
		{[]float64{1.6, 1.2, 1.5, 1.1, 1.3, 1.4}, Ratio{Value: math.Sqrt(1.3 * 1.4), Lo: 1.1347197130550886,
			Hi: 1.5635426208015435, Basis: AcrossLaunches, N: 6, Paired: true}, true},
		{[]float64{1.6, 1.2, 1.5, 0.9, 1.3, 1.4}, Ratio{Value: math.Sqrt(1.3 * 1.4), Lo: 0.9973865027922788,
			Hi: 1.5635426208015435, Basis: AcrossLaunches, N: 6, Paired: true}, false},
		{nil, Ratio{Paired: true}, false},
	} {
		r := RatioOfPairs(c.ratios)
		if !near(r.Value, c.want.Value) || !near(r.Lo, c.want.Lo) || !near(r.Hi, c.want.Hi) ||
			r.Basis != c.want.Basis ||
			r.N != c.want.N || !r.Paired || r.Differs() != c.differs {
			t.Errorf("%v: %+v, want %+v", c.ratios, r, c.want)
		}
	}
	pairs, turned := RatioOfPairs([]float64{1.6, 1.2}), RatioOfPairs([]float64{1 / 1.6, 1 / 1.2})
	if !near(pairs.Value*turned.Value, 1) || !near(pairs.Lo*turned.Hi, 1) {
		t.Errorf("turned around: %+v of %+v", turned, pairs)
	}
	one, six := []float64{1}, []float64{2, 2.1, 2.2, 2.3, 2.4, 2.5}
	for _, c := range []struct {
		a, b []float64
		want Ratio
	}{
		{[]float64{2, 4}, one, Ratio{Value: 3, Lo: 2, Hi: 4, Basis: LaunchSpread, N: 1}},
		{[]float64{2}, one, Ratio{Value: 2, N: 1}},
		{nil, one, Ratio{}},
		{six, append(one, six...), Ratio{Value: 2.25 / 2.2, Lo: 0.85, Hi: 1.6, Basis: AcrossLaunches, N: 6}},
	} {
		r := RatioOfLaunches(c.a, c.b)
		if c.want.Basis == AcrossLaunches && r.Lo > c.want.Lo && r.Lo < r.Value && r.Hi > r.Value && r.Hi < c.want.Hi {
			c.want.Lo, c.want.Hi = r.Lo, r.Hi
		}
		if !near(r.Value, c.want.Value) || r.Lo != c.want.Lo || r.Hi != c.want.Hi || r.Basis != c.want.Basis ||
			r.N != c.want.N || r.Paired {
			t.Errorf("%v by %v: %+v, want %+v", c.a, c.b, r, c.want)
		}
	}
}

// The CI of a ratio covers the ratio of the true medians at its nominal rate or above, for all shapes.
func TestRatioCovers(t *testing.T) {
	needs.TestAll(t)
	for i, c := range []struct {
		a, b shape
		n    int
	}{
		{normal, normal, 30}, {lognormal, lognormal, 100}, {skewed, decay, 55}, {twoModes, normal, 101},
		{decay, skewed, 30},
	} {
		t.Run(fmt.Sprintf("%s by %s/%d", c.a.name, c.b.name, c.n), func(t *testing.T) {
			t.Parallel()
			r := seeded(uint64(500 + i))
			var covered percent
			for range series {
				a, b := Summarise(c.a.sample(r, c.n)), Summarise(c.b.sample(r, c.n))
				q := RatioOf(Estimate{a.Median, a.Lo, a.Hi}, Estimate{b.Median, b.Lo, b.Hi})
				truth := c.a.median / c.b.median
				covered.add(q.Lo <= truth && truth <= q.Hi)
			}
			wantPercent(t, "covered", covered, 94, 99.7)
		})
	}
}

// Launches shift both sides alike, and each a little of its own.
func TestRatioOfPairsCovers(t *testing.T) {
	needs.TestAll(t)
	const launches, truth = 8, 2.0
	r := seeded(77)
	var pairs, apart percent
	for range series {
		var ratios, as, bs []float64
		for range launches {
			common := math.Exp(0.3 * r.NormFloat64())
			a, b := truth*common*math.Exp(0.05*r.NormFloat64()), common*math.Exp(0.05*r.NormFloat64())
			ratios, as, bs = append(ratios, a/b), append(as, a), append(bs, b)
		}
		holds := func(q Ratio) bool { return q.Lo <= truth && truth <= q.Hi }
		pairs.add(holds(RatioOfPairs(ratios)))
		apart.add(holds(RatioOfLaunches(as, bs)))
	}
	wantPercent(t, "pairs of launches", pairs, 93, 97)
	wantPercent(t, "launches of their own", apart, 97, 100)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(1, math.Abs(b)) }

func TestInverse(t *testing.T) {
	r := (Ratio{Value: 0.5, Lo: 0.4, Hi: 0.8, Basis: WithinLaunch}).Inverse()
	if r.Value != 2 || r.Lo != 1.25 || r.Hi != 2.5 {
		t.Errorf("%+v", r)
	}
	test.EqOp(t, Ratio{Value: 2}, (Ratio{Value: 0.5}).Inverse())
}
