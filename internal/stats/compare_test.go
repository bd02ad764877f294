package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/needs"

	"github.com/shoenig/test"
)

const margin = 0.03

// noise is the effect of launches on the times of a family of points: on single points and on whole launches.
type noise struct {
	own, common float64
	heavy       bool // tails of Student's t with four degrees of freedom
	modes       bool // half of the launches take 2.8 times as long at the smaller half of the points
}

func (e noise) draw(r *rand.Rand) float64 {
	z := r.NormFloat64()
	if e.heavy {
		z /= math.Sqrt((r.ExpFloat64() + r.ExpFloat64()) / 2)
	}
	return e.own * z
}

// family returns trials of a number of points; the first few differ by shift.
func (e noise) family(r *rand.Rand, points, m, n, differ int, shift float64) []Trial {
	trials := make([]Trial, points)
	for i := range m + n {
		launch := e.common * r.NormFloat64()
		slow := e.modes && r.Float64() < 0.5
		for k := range trials {
			log := launch + e.draw(r)
			if slow && k < points/2 {
				log += math.Log(2.8)
			}
			trials[k].Margin = margin
			if i < m {
				trials[k].A = append(trials[k].A, math.Exp(log))
				continue
			}
			if k < differ {
				log += shift
			}
			trials[k].B = append(trials[k].B, math.Exp(log))
		}
	}
	return trials
}

// paired returns trials of n pairs with common launch effects.
func (e noise) paired(r *rand.Rand, points, n, differ int, shift float64) []Trial {
	trials := make([]Trial, points)
	for range n {
		launch := e.common * r.NormFloat64()
		for k := range trials {
			log := launch
			if k < differ {
				log += shift
			}
			trials[k].Margin = margin
			trials[k].A = append(trials[k].A, math.Exp(launch+e.draw(r)))
			trials[k].B = append(trials[k].B, math.Exp(log+e.draw(r)))
		}
	}
	return trials
}

func differs(v Verdict) bool { return v == Better || v == Worse }

func anyDiffers(points []Compared) bool {
	return slices.ContainsFunc(points, func(c Compared) bool { return differs(c.Verdict) })
}

var noises = map[string]noise{
	"normal": {own: 0.02}, "launches alike": {own: 0.01, common: 0.05}, "long tails": {own: 0.02, heavy: true},
	"two modes": {own: 0.02, modes: true},
}

// The sides do not differ: at most 5 % of families of 30 points have a false verdict, 1 % at the strict setting. Points
// that differ do not cause false verdicts at others. The bounds are three standard errors. Pairs too few for a paired
// test may be compared unpaired: effects common to both sides then only lower the power.
func TestFalsePositiveRate(t *testing.T) {
	needs.TestAll(t)
	const families = 400
	for name, e := range noises {
		for kind, c := range map[string]struct {
			draw func(*rand.Rand) []Trial
			s    Standard
		}{
			"4 and 4": {func(r *rand.Rand) []Trial { return e.family(r, 30, 4, 4, 0, 0) }, plain},
			"5 and 5": {func(r *rand.Rand) []Trial { return e.family(r, 30, 5, 5, 0, 0) }, strict},
			"3 and 6": {func(r *rand.Rand) []Trial { return e.family(r, 30, 3, 6, 0, 0) }, plain},
			"pairs":   {func(r *rand.Rand) []Trial { return e.paired(r, 30, 6, 0, 0) }, pairs},
			"apart":   {func(r *rand.Rand) []Trial { return e.paired(r, 30, 4, 0, 0) }, plain},
			"others":  {func(r *rand.Rand) []Trial { return e.family(r, 30, 4, 4, 15, 0.3) }, plain},
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				r := seeded(uint64(len(name) + 100*len(kind)))
				var differ percent
				for range families {
					points := Compare(c.draw(r), c.s).Points
					if kind == "others" {
						points = points[15:]
					}
					differ.add(anyDiffers(points))
				}
				wantPercent(t, "families with a verdict", differ, 0,
					100*(c.s.Alpha+3*math.Sqrt(c.s.Alpha*(1-c.s.Alpha)/families)))
			})
		}
	}
}

var (
	plain, pairs = Standard{Alpha: DefaultAlpha}, Standard{Alpha: DefaultAlpha, Paired: true}
	strict       = Standard{Alpha: StrictAlpha}
)

// Four launches a side detect 5 % among 30 sizes if launches differ by 1 %; pairs do so however launches differ.
func TestPower(t *testing.T) {
	needs.TestAll(t)
	const families = 200
	power := func(seed uint64, want float64, differ int, draw func(*rand.Rand) []Trial, s Standard) {
		t.Helper()
		r := seeded(seed)
		var found percent
		for range families {
			for _, p := range Compare(draw(r), s).Points[:differ] {
				if p.Verdict == Better {
					t.Fatal("slower is called better")
				}
				found.add(p.Verdict == Worse)
			}
		}
		wantPercent(t, "differences found", found, want, 100)
	}
	quiet, loud := noise{own: 0.01}, noise{own: 0.01, common: 0.2}
	power(6, 80, 1, func(r *rand.Rand) []Trial {
		return noise{own: 0.01, common: 0.05}.paired(r, 30, 4, 1, 0.7)
	}, plain)
	power(1, 85, 1, func(r *rand.Rand) []Trial { return quiet.family(r, 30, 4, 4, 1, 0.05) }, plain)
	power(2, 85, 10, func(r *rand.Rand) []Trial { return quiet.family(r, 30, 4, 4, 10, 0.05) }, plain)
	power(3, 95, 30, func(r *rand.Rand) []Trial { return quiet.family(r, 30, 4, 4, 30, 0.05) }, plain)
	power(4, 95, 1, func(r *rand.Rand) []Trial { return quiet.family(r, 30, 5, 5, 1, 0.08) },
		Standard{Alpha: StrictAlpha})
	power(5, 80, 1, func(r *rand.Rand) []Trial { return loud.paired(r, 30, 6, 1, 0.08) }, pairs)
}

// Confidence intervals cover the true ratio at their nominal rate or above.
func TestHodgesLehmannCovers(t *testing.T) {
	needs.TestAll(t)
	for name, e := range noises {
		for _, c := range []struct {
			m, n   int
			alpha  float64
			paired bool
			most   float64
		}{{4, 4, DefaultAlpha, false, 98.5}, {5, 5, StrictAlpha, false, 99.9}, {6, 6, DefaultAlpha, true, 98.5},
			{12, 9, DefaultAlpha, false, 97}, {40, 30, DefaultAlpha, false, 97}, {20, 20, DefaultAlpha, true, 97},
			{60, 60, DefaultAlpha, true, 97}} {
			t.Run(fmt.Sprintf("%s/%d and %d/%g", name, c.m, c.n, c.alpha), func(t *testing.T) {
				t.Parallel()
				r := seeded(uint64(c.m*100+c.n) + uint64(len(name)))
				s := Standard{Alpha: c.alpha, Paired: c.paired}
				var covered, turned percent
				for range series {
					trial := e.family(r, 2, c.m, c.n, 1, math.Log(1.2))[0]
					q := s.ratio(trial)
					covered.add(q.Lo <= 1.2 && 1.2 <= q.Hi)
					back := s.ratio(Trial{A: trial.B, B: trial.A})
					turned.add(near(back.Value*q.Value, 1) && near(back.Lo*q.Hi, 1) && near(back.Hi*q.Lo, 1))
				}
				wantPercent(t, "covered", covered, 100*(1-c.alpha)-1.6, c.most)
				wantPercent(t, "turned around the inverse", turned, 100, 100)
			})
		}
	}
}

// The ranks of the bounds match the tables (Lehmann 1975): the minimum U, or W, that is not rejected.
func TestRanks(t *testing.T) {
	for _, c := range golden.Table[struct {
		M, N, Want int
		Confidence float64
	}](t, `
		M   N   Want  Confidence
		3   3   0     0.95
		4   4   1     0.95
		4   4   0     0.99
		5   5   3     0.95
		5   5   1     0.99
		8   8   14    0.95
		10  12  30    0.95
		20  20  128   0.95
		2   8   1     0.95
	`) {
		test.EqOp(t, c.Want, mannWhitneyRank(c.M, c.N, c.Confidence), test.Sprint(c.M, c.N))
	}
	for n, want := range map[int]int{5: 0, 6: 1, 8: 4, 10: 9, 20: 53, 25: 90} {
		test.EqOp(t, want, signedRankRank(n, 0.95), test.Sprint(n))
	}
	// Where counts exceed the integers of a float64, the normal approximation continues without a jump.
	for _, n := range []int{28, 29} {
		z := float64(n*n)/2 + 0.5 - math.Sqrt(float64(n*n*(2*n+1))/12)*1.959964
		if got := mannWhitneyRank(n, n, 0.95); math.Abs(float64(got)-z) > 1.5 {
			t.Errorf("%d launches: rank %d, want about %.1f", n, got, z)
		}
	}
}

func TestVerdicts(t *testing.T) {
	quiet := []float64{1, 1.001, 1.002, 1.003}
	times := func(x []float64, by float64) []float64 {
		y := slices.Clone(x)
		for i := range y {
			y[i] *= by
		}
		return y
	}
	several := []float64{1, 1.1, 1.2, 1.3}
	six, slower := []float64{1, 2, 3, 4, 5, 6}, []float64{1.1, 2.2, 3.31, 4.4, 5.51, 6.6}
	sixOfFive := []float64{1.1, 0, 3.31, 4.4, 5.51, 6.6}
	same := slices.Repeat([]float64{1}, 4)
	gaps := append([]float64{0}, quiet...)
	for name, c := range map[string]struct {
		a, b         []float64
		s            Standard
		want         Verdict
		basis        Basis
		fewest, most int
	}{
		"slower":                        {quiet, times(quiet, 1.1), plain, Worse, AcrossLaunches, 0, 0},
		"faster":                        {quiet, times(quiet, 0.9), plain, Better, AcrossLaunches, 0, 0},
		"slower, some launches missing": {gaps, times(gaps, 1.1), plain, Worse, AcrossLaunches, 0, 0},
		"slower by less than matters":   {quiet, times(quiet, 1.01), plain, Same, AcrossLaunches, 0, 0},
		"noise": {several, times(several, 1.02), plain, Inconclusive, AcrossLaunches, 20,
			Hopeless},
		"three a side":                  {quiet[:3], times(quiet[:3], 2), plain, Inconclusive, LaunchSpread, 1, 1},
		"one a side":                    {quiet[:1], times(quiet[:1], 2), plain, Inconclusive, NoBounds, 3, 3},
		"four a side, strictly":         {quiet, times(quiet, 2), strict, Inconclusive, LaunchSpread, 1, 1},
		"one against many":              {quiet[:1], slices.Repeat(quiet, 3), plain, Inconclusive, LaunchSpread, 1, 1},
		"none on a side":                {[]float64{0, 0}, quiet, plain, Inconclusive, NoBounds, 1, 4},
		"four pairs":                    {quiet, times(quiet, 2), pairs, Inconclusive, LaunchSpread, 2, 2},
		"six pairs":                     {six, slower, pairs, Worse, AcrossLaunches, 0, 0},
		"six pairs, one without a time": {six, sixOfFive, pairs, Inconclusive, LaunchSpread, 1, 1},
		"all alike":                     {same, same, plain, Same, AcrossLaunches, 0, 0},
		"all alike but for the side":    {same, times(same, 2), plain, Worse, AcrossLaunches, 0, 0},
	} {
		found := Compare([]Trial{{A: c.a, B: c.b, Margin: margin}}, c.s)
		p := found.Points[0]
		if p.Verdict != c.want || p.Ratio.Basis != c.basis || p.More < c.fewest || p.More > c.most {
			t.Errorf("%s: %v, %d more launches, %+v, p %g; want %v", name, p.Verdict, p.More, p.Ratio, p.P, c.want)
		}
		if tests := p.Ratio.Basis == AcrossLaunches; tests != (found.Tested == 1) || !tests && p.P != 1 {
			t.Errorf("%s: %d tested, p %g", name, found.Tested, p.P)
		}
	}
	if c := Compare(nil, plain); len(c.Points) != 0 || c.Tested != 0 {
		t.Errorf("without samples: %+v", c)
	}
}

// Equal times have no difference, whatever the rounding of their logarithms if some are missing.
func TestCompareIgnoresRounding(t *testing.T) {
	for n := 4; n < 6; n++ {
		for k := range 20 {
			same := append(slices.Repeat([]float64{1e-6 * (1 + float64(k)/7)}, n), 0, 0)
			if p := Compare([]Trial{{A: same, B: same, Margin: margin}},
				plain).Points[0]; p.P != 1 ||
				p.Verdict != Same {
				t.Fatalf("%d launches of %g: %+v", n, same[0], p)
			}
		}
	}
}

// Missing times use the statistic of the remaining launches.
func TestMissingSamplesLikeShorterRun(t *testing.T) {
	whole := newTested(Trial{A: []float64{1, 1.1, 0, 1.2, 1.3}, B: []float64{2, 2.1, 2.2, 0, 0}}, false)
	shorter := newTested(Trial{A: []float64{1, 1.1, 1.2, 1.3}, B: []float64{2, 2.1, 2.2}}, false)
	for _, c := range [][2][]int{{{5, 6, 7, 8, 9}, {4, 5, 6}}, {{0, 2, 3, 5, 8}, {0, 2, 4}}, {{0, 2, 8, 9}, {0}},
		{{0, 1, 3, 4, 5, 6}, {0, 1, 2, 3, 4, 5}}} {
		if a, b := whole.between(c[0]), shorter.between(c[1]); !near(a, b) {
			t.Errorf("%v: %g, without the missing times %g", c[0], a, b)
		}
	}
	pairs := newTested(Trial{A: []float64{1, 1, 0, 1}, B: []float64{2, 3, 4, 5}}, true)
	fewer := newTested(Trial{A: []float64{1, 1, 1}, B: []float64{2, 3, 5}}, true)
	if a, b := pairs.within([]int{0, 2}), fewer.within([]int{0}); !near(a, b) {
		t.Errorf("pairs: %g, without the missing times %g", a, b)
	}
}

// Too many labellings are sampled, identically for the same seed.
func TestRandomLabellings(t *testing.T) {
	r := seeded(3)
	trials := noise{own: 0.01}.family(r, 4, 12, 12, 1, 0.05)
	a, b, other := Compare(trials, Standard{Alpha: DefaultAlpha, Seed: 1}),
		Compare(trials, Standard{Alpha: DefaultAlpha, Seed: 1}), Compare(trials, Standard{Alpha: DefaultAlpha, Seed: 2})
	if !slices.Equal(a.Points, b.Points) || slices.Equal(a.Points, other.Points) {
		t.Errorf("%+v\n%+v\n%+v", a, b, other)
	}
	for name, c := range map[string]struct {
		Comparison
		labellings int
		exact      bool
	}{
		"twelve a side": {a, drawnLabellings + 1, false},
		"twenty pairs":  {Compare(noise{own: 0.01}.paired(r, 4, 20, 1, 0.1), pairs), drawnLabellings + 1, false},
		"eight a side":  {Compare(noise{own: 0.01}.family(r, 4, 8, 8, 1, 0.1), plain), 12870, true},
		"six pairs":     {Compare(noise{own: 0.01}.paired(r, 4, 6, 1, 0.1), pairs), 64, true},
	} {
		if c.Exact != c.exact || c.Labellings != c.labellings || c.Points[0].Verdict != Worse {
			t.Errorf("%s: %+v", name, c.Comparison)
		}
	}
	test.EqOp(t, leastDrawn, drawn(8, 1e9))
}

// With the planned number of launches, most comparisons are significant.
func TestMoreLaunches(t *testing.T) {
	r := seeded(12)
	var told, hopeless, asked percent
	for range 150 {
		e := noise{own: 0.03}
		shift, inside := 0.1, r.IntN(2) == 0
		if inside {
			shift = 0
		}
		first := Compare(e.family(r, 10, 4, 4, 10, shift), plain).Points
		for _, p := range first {
			if p.Verdict == Inconclusive {
				asked.add(p.More > 0)
				hopeless.add(p.More == Hopeless)
			}
		}
		p := first[0]
		if p.Verdict != Inconclusive || p.More > 60 {
			continue
		}
		n := 4 + p.More
		told.add(Compare(e.family(r, 10, n, n, 10, shift),
			plain).Points[0].Verdict != Inconclusive)
	}
	wantPercent(t, "has a number", asked, 100, 100)
	wantPercent(t, "are hopeless", hopeless, 0, 40)
	wantPercent(t, "told with that many", told, 60, 100)
	for alpha, want := range map[float64][2]int{DefaultAlpha: {4, 6}, StrictAlpha: {5, 8}} {
		if a, b := FewestLaunches(alpha, false), FewestLaunches(alpha, true); a != want[0] || b != want[1] {
			t.Errorf("at %g: %d launches a side or %d pairs, want %v", alpha, a, b, want)
		}
	}
}
