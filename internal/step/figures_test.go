package step

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"busbar/internal/coll"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// made is a round of 100 ms of computing and 30 ms of communication.
func made(overlapped float64) Round {
	return Round{
		Compute: 0.100, Comm: 0.030, Sequential: 0.130, Overlapped: overlapped,
		ComputeAlone: 0.100, ComputeBusy: 0.104, CommAlone: 0.025, CommBusy: 0.050, Hidden: 0.040,
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %g, not %g", what, got, want)
	}
}

func TestMetricFormulas(t *testing.T) {
	rounds := []Round{made(0.115), made(0.120), made(0.110), made(0.115), made(0.111), made(0.118), made(0.116)}
	f := FiguresOf(rounds)
	near(t, "compute", f.Compute.Value, 0.100)
	near(t, "comm", f.Comm.Value, 0.030)
	near(t, "sequential", f.Sequential.Value, 0.130)
	near(t, "overlapped", f.Overlapped.Value, 0.115)
	near(t, "minimum overlapped", f.Overlapped.Min, 0.110)
	near(t, "largest overlapped", f.Overlapped.Max, 0.120)
	near(t, "exposed", f.Exposed.Value, 0.015)
	near(t, "overlap", f.Overlap.Value, 0.5)
	near(t, "overlap by intervals", f.ByInterval.Value, 0.8)
	near(t, "bound", f.Bound.Value, 1)
	near(t, "slowdown of computing", f.SlowerComp.Value, 1.04)
	near(t, "slowdown of communication", f.SlowerComm.Value, 2)
	near(t, "speed-up", f.SpeedUp.Value, 130./115)
	near(t, "weak scaling", f.Efficiency.Value, 100./115)
	if f.Rounds != 7 || !f.HasIntervals() || f.Overlapped.P99 != 0 || !(f.Overlap.Lo < 0.5 && f.Overlap.Hi > 0.5) ||
		!(f.Exposed.Lo < 0.015 && f.Exposed.Hi > 0.015) {
		t.Errorf("%+v", f)
	}
	if few := FiguresOf(rounds[:5]); few.HasIntervals() || few.Overlap.Lo != 0 || few.Overlapped.Hi != 0 ||
		few.Exposed.Lo != 0 {
		t.Errorf("five rounds have an interval: %+v, %+v", few, *few.Overlap)
	}
	slow := made(0.115)
	slow.Comm = 0.400
	near(t, "bound of much communication", FiguresOf([]Round{slow}).Bound.Value, 0.25)
}

// A ratio with divisor 0 is left out; all others are reported.
func TestMetricsWithoutCommunication(t *testing.T) {
	alone := Round{Compute: 0.1, Comm: 2e-7, Sequential: 0.1, Overlapped: 0.1, ComputeAlone: 0.1, ComputeBusy: 0.1}
	called := alone // a library that has no other rank to talk to
	called.CommAlone, called.CommBusy = 1e-6, 1e-6
	for name, rounds := range map[string][]Round{"none": {alone, alone, alone}, "calls": {called, called},
		"in some rounds": {made(0.115), alone}} {
		f := FiguresOf(rounds)
		shares := f.Overlap != nil || f.Bound != nil || f.SlowerComm != nil
		if shares || f.SlowerComp == nil || f.SpeedUp == nil || f.Efficiency == nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, none := range [][]Round{nil, {{}}} {
		f := FiguresOf(none)
		if _, err := json.Marshal(f); err != nil || f.SpeedUp != nil || f.Rounds != len(none) {
			t.Errorf("%d empty rounds: %+v, %v", len(none), f, err)
		}
	}
}

func buckets(caps ...Cap) (points []Point) {
	for _, c := range caps {
		points = append(points, Point{Strategy: DDP, Bucket: c, Type: coll.Float32, Progress: Poll})
	}
	return points
}

var seven = buckets(1<<20, 5<<20, 10<<20, 25<<20, 50<<20, 100<<20, All)

// simulate gives n rounds to points whose overlapped steps take these seconds, with noise of their own and drift that
// all share.
func simulate(r *rand.Rand, n int, noise float64, seconds ...float64) [][]Round {
	rounds := make([][]Round, len(seconds))
	for k := range n {
		drift := 1 + 0.3*float64(k)/float64(n) + 0.05*r.NormFloat64()
		for i, s := range seconds {
			rounds[i] = append(rounds[i], made(s*drift*(1+noise*r.NormFloat64())))
		}
	}
	return rounds
}
