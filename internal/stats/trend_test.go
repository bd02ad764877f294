package stats

import (
	"math"
	"slices"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/needs"

	"github.com/shoenig/test"
)

// withoutNoise is times of lines, each from a place on.
func withoutNoise(sizes []float64, lines map[int]line) []float64 {
	times := make([]float64, len(sizes))
	var now line
	for i, s := range sizes {
		if l, begins := lines[i]; begins {
			now = l
		}
		times[i] = now.time(s)
	}
	return times
}

func powers(from, count int) []float64 {
	sizes := make([]float64, count)
	for i := range sizes {
		sizes[i] = math.Ldexp(float64(from), i)
	}
	return sizes
}

func TestFitAlphaBeta(t *testing.T) {
	sizes := powers(1<<10, 16)
	f := FitAlphaBeta(sizes, withoutNoise(sizes, map[int]line{0: {20e-6, 10e9}}))
	for _, c := range []struct {
		what string
		p    Parameter
		want float64
	}{{"alpha", f.Alpha, 20e-6}, {"beta", f.Beta, 10e9}, {"half", f.Half, 200e3}} {
		if math.Abs(c.p.Value/c.want-1) > 1e-4 || !c.p.Known || c.p.Lo > c.want*1.0001 || c.p.Hi < c.want*0.9999 {
			t.Errorf("%s is %+v, want %g", c.what, c.p, c.want)
		}
	}
	test.EqOp(t, Fit{}, FitAlphaBeta(sizes[:2], []float64{1, 2}))
}

func TestTrendDetection(t *testing.T) {
	sizes := powers(1<<10, 20)
	times := withoutNoise(sizes, map[int]line{0: {10e-6, 5e9}, 9: {40e-6, 50e9}})
	times[5] *= 1.25
	times[14], times[15] = times[14]*1.2, times[15]*1.2
	times[12] /= 1.2
	got := FindTrend(sizes, times, nil)
	if s := got.Switches(sizes); len(s) != 1 || s[0].After != 8 {
		t.Errorf("switches are %+v, want one after 8", s)
	}
	var found [][2]int
	for _, a := range got.Anomalies {
		found = append(found, [2]int{a.From, a.To})
		test.EqOp(t, a.From != 12, a.Drop(), test.Sprint(a))
	}
	if len(found) != 3 || found[0] != [2]int{5, 5} || found[1] != [2]int{12, 12} || found[2] != [2]int{14, 15} {
		t.Errorf("anomalies are at %v, want 5, 12, 14 to 15", found)
	}
	if few := FindTrend(sizes[:4], times[:4], nil); few.Segments != nil {
		t.Errorf("four sizes give %+v", few)
	}
	if few := FindTrend(sizes[2:9], times[2:9], nil); few.Segments == nil || slices.Contains(few.Out, true) {
		t.Errorf("anomaly in seven sizes: %+v", few)
	}
}

type line struct{ alpha, beta float64 }

func (l line) time(s float64) float64 { return l.alpha + s/l.beta }

// Bounds cover the true values at their nominal rate.
func TestFitCovers(t *testing.T) {
	needs.TestAll(t)
	sizes := powers(1<<10, 16)
	r := seeded(3)
	var alpha, beta, half percent
	for range series / 2 {
		c := curve{sizes: sizes, times: withoutNoise(sizes, map[int]line{0: {20e-6, 10e9}})}
		f := FitAlphaBeta(sizes, c.noisy(r, 0.05))
		holds := func(p Parameter, v float64) bool { return p.Lo <= v && v <= p.Hi }
		alpha.add(holds(f.Alpha, 20e-6))
		beta.add(holds(f.Beta, 10e9))
		half.add(holds(f.Half, 200e3))
	}
	wantPercent(t, "alpha", alpha, 93, 97)
	wantPercent(t, "beta", beta, 93, 97)
	wantPercent(t, "half", half, 93, 97)
}

func TestFitUnknownParameters(t *testing.T) {
	r := seeded(4)
	truth := line{20e-6, 10e9} // n½ is 200 kB
	for _, c := range golden.Table[struct {
		Name        string
		From, Count int
		Alpha, Beta bool
	}](t, `
		Name         From     Count  Alpha  Beta
		small sizes  8        10     true
		large sizes  64<<20   7      -      true
		both         8        28     true   true
		# However well these fit, the half of it was not seen.
		up to n½     8        15     true
		from n½ on   256<<10  12     -      true
	`) {
		sizes := powers(c.From, c.Count)
		times := withoutNoise(sizes, map[int]line{0: truth})
		f := FitAlphaBeta(sizes, curve{sizes: sizes, times: times}.noisy(r, 0.002))
		if f.Alpha.Known != c.Alpha || f.Beta.Known != c.Beta || f.Half.Known != (c.Alpha && c.Beta) {
			t.Errorf("%s: %+v", c.Name, f)
		}
		if f.Alpha.Hi < 0.99*truth.alpha || f.Beta.Lo > 1.01*truth.beta { // a little beyond, by chance
			t.Errorf("%s: bounds exclude the truth: %+v", c.Name, f)
		}
	}
	sizes := powers(8, 6)
	if f := FitAlphaBeta(sizes, []float64{1, 1, 1, 1, 1, 1}); f.Beta.Known || !math.IsInf(f.Beta.Hi, 1) ||
		math.Abs(f.Time(1e3)-1) > 1e-4 {
		t.Errorf("latency alone gives %+v", f)
	}
	if f := FitAlphaBeta(sizes, sizes); f.Alpha.Known || f.Alpha.Lo != 0 || math.Abs(f.Time(1e3)-1e3) > 0.1 {
		t.Errorf("bandwidth alone gives %+v", f)
	}
}

// A time between two models may be an early or late switch.
func TestProtocolSwitchNotAnomaly(t *testing.T) {
	sizes := powers(1<<10, 20)
	before, after := line{10e-6, 5e9}, line{40e-6, 50e9}
	times := withoutNoise(sizes, map[int]line{0: before, 9: after})
	times[9] = math.Sqrt(before.time(sizes[9]) * after.time(sizes[9]))
	test.EqOp(t, 0, len(FindTrend(sizes, times, nil).Anomalies))
}

// A model between two others is not a drop of the first, even if the first and a single size of the last would explain
// the rest.
func TestMiddleModelNotDrop(t *testing.T) {
	sizes := powers(8, 31)
	c := curve{sizes: sizes,
		times: withoutNoise(sizes, map[int]line{0: {123e-6, 1.05e9}, 13: {156e-6, 37e9}, 17: {150e-6, 19.8e9},
			22: {900e-6, 183e9}})}
	r := seeded(9)
	for range 20 {
		if got := FindTrend(sizes, c.noisy(r, 0.003), nil).Anomalies; len(got) != 0 {
			t.Fatalf("anomalies %+v, want none", got)
		}
	}
}

// The last two sizes may be another model or a drop: neither is reported.
func TestEndsNotAnomalies(t *testing.T) {
	sizes := powers(1<<10, 20)
	times := withoutNoise(sizes, map[int]line{0: {10e-6, 5e9}})
	times[18], times[19] = times[18]*1.4, times[19]*1.4
	if got := FindTrend(sizes, times, nil); len(got.Anomalies) != 0 || slices.Index(got.Out, true) != 18 ||
		!got.Out[19] {
		t.Errorf("anomalies %+v, out %v, want none, 18 and 19", got.Anomalies, got.Out)
	}
}

// Ten sizes estimate their own noise poorly; with known noise, a smaller deviation is significant.
func TestKnownNoise(t *testing.T) {
	sizes := powers(1<<10, 10)
	c := curve{sizes: sizes, times: withoutNoise(sizes, map[int]line{0: {20e-6, 10e9}})}
	known := make([]float64, len(sizes))
	for i := range known {
		known[i] = 0.02
	}
	r := seeded(5)
	var with, without, clean percent
	for range 300 {
		times := c.noisy(r, 0.02)
		clean.add(len(FindTrend(sizes, times, known).Anomalies) > 0)
		times[5] /= 1 - dropDepth
		with.add(len(FindTrend(sizes, times, known).Anomalies) > 0)
		without.add(len(FindTrend(sizes, times, nil).Anomalies) > 0)
	}
	wantPercent(t, "found with known noise", with, 90, 100)
	wantPercent(t, "found without", without, 0, 85)
	wantPercent(t, "false with known noise", clean, 0, 2)
	for i := range known {
		known[i] = 0.2
	}
	times := c.noisy(r, 0.005)
	times[5] /= 1 - dropDepth
	if got := FindTrend(sizes, times, known).Anomalies; len(got) != 0 {
		t.Errorf("times that are known to 20 %% only give %+v", got)
	}
}

// Small messages may be noisier than large ones. With known noise per time this gives no anomalies.
func TestRoughSmallMessages(t *testing.T) {
	needs.TestAll(t)
	sizes := powers(8, 30)
	c := curve{sizes: sizes, times: withoutNoise(sizes, map[int]line{0: {20e-6, 10e9}})}
	known := make([]float64, len(sizes))
	for i := range known {
		if known[i] = 0.01; i < 8 {
			known[i] = 0.04
		}
	}
	r := seeded(6)
	var clean, blind, found percent
	for range 150 {
		times := slices.Clone(c.times)
		for i := range times {
			times[i] *= math.Exp(known[i] * r.NormFloat64())
		}
		clean.add(len(FindTrend(sizes, times, known).Anomalies) > 0)
		blind.add(len(FindTrend(sizes, times, nil).Anomalies) > 0)
		times[20] /= 1 - dropDepth
		found.add(len(FindTrend(sizes, times, known).Anomalies) > 0)
	}
	t.Logf("clean curves with an anomaly where the noise is not known: %.1f %%", blind.value())
	wantPercent(t, "clean curves with an anomaly", clean, 0, 3)
	wantPercent(t, "drops found", found, 95, 100)
}

// Logs repeat sizes, and times may be anything that is positive.
func TestTrendRandomInput(t *testing.T) {
	r := seeded(8)
	for range 60 {
		n := 5 + r.IntN(20)
		sizes, times, noise := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range sizes {
			sizes[i] = math.Ldexp(1, r.IntN(1+r.IntN(40)))
			times[i] = math.Exp(20 * r.NormFloat64() * float64(r.IntN(2)))
			noise[i] = r.Float64() * float64(r.IntN(2))
		}
		slices.Sort(sizes)
		got := FindTrend(sizes, times, noise)
		next := 0
		for _, s := range got.Segments {
			if s.From != next || s.To < s.From || math.IsNaN(s.Alpha.Value) || math.IsNaN(s.Beta.Value) ||
				s.Alpha.Lo > s.Alpha.Value || s.Beta.Hi < s.Beta.Value {
				t.Fatalf("segments %+v of %v %v", got.Segments, sizes, times)
			}
			next = s.To + 1
		}
		if next != n {
			t.Fatalf("segments end at %d of %d: %v %v", next, n, sizes, times)
		}
	}
}
