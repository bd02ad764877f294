package stats

import (
	"math"
	"testing"
)

// withoutNoise is times of laws, each from a place on.
func withoutNoise(sizes []float64, laws map[int]law) []float64 {
	times := make([]float64, len(sizes))
	var now law
	for i, s := range sizes {
		if l, begins := laws[i]; begins {
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
	f := FitAlphaBeta(sizes, withoutNoise(sizes, map[int]law{0: {20e-6, 10e9}}))
	for _, c := range []struct {
		what string
		p    Parameter
		want float64
	}{{"alpha", f.Alpha, 20e-6}, {"beta", f.Beta, 10e9}, {"half", f.Half, 200e3}} {
		if math.Abs(c.p.Value/c.want-1) > 1e-4 || !c.p.Known || c.p.Lo > c.want*1.0001 || c.p.Hi < c.want*0.9999 {
			t.Errorf("%s is %+v, want %g", c.what, c.p, c.want)
		}
	}
	if f.N != 16 || f.Scale > 1e-5 {
		t.Errorf("N %d, scale %g", f.N, f.Scale)
	}
	if got := FitAlphaBeta(sizes[:2], []float64{1, 2}); got != (Fit{N: 2}) {
		t.Errorf("two points give %+v", got)
	}
}

func TestTrendFindsWhatIsThere(t *testing.T) {
	sizes := powers(1<<10, 20)
	times := withoutNoise(sizes, map[int]law{0: {10e-6, 5e9}, 9: {40e-6, 50e9}})
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
		if want := a.From != 12; a.Drop() != want {
			t.Errorf("%+v: a drop is %v", a, want)
		}
	}
	if len(found) != 3 || found[0] != [2]int{5, 5} || found[1] != [2]int{12, 12} || found[2] != [2]int{14, 15} {
		t.Errorf("anomalies are at %v, want 5, 12, 14 to 15", found)
	}
	if few := FindTrend(sizes[:4], times[:4], nil); !few.TooFew || few.Segments != nil {
		t.Errorf("four sizes give %+v", few)
	}
}

type law struct{ alpha, beta float64 }

func (l law) time(s float64) float64 { return l.alpha + s/l.beta }
