package analysis

import (
	"fmt"
	"math"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// modelFor is the model of the one curve of a sweep.
func modelFor(t *testing.T, m made) Model {
	t.Helper()
	c := NewCollector()
	m.fill(c)
	curves := c.Curves()
	must.EqOp(t, 1, len(curves))
	return ModelOf(curves[0])
}

// about reports whether a value is within two percent of another.
func about(got, want float64) bool { return math.Abs(got/want-1) < 0.02 }

// lineOf is the message of a model.
func lineOf(m Model) string { return notice.Message(m.Fact()) }

func TestModelOneSegment(t *testing.T) {
	m := modelFor(t, sound())
	if len(m.Segments) != 1 || m.Segments[0].From != 8 || m.Segments[0].To != 1<<30 ||
		!about(m.Segments[0].Alpha, 20e-6) || !about(m.Segments[0].PerByte, 1/100e9) {
		t.Fatalf("%+v", m.Segments)
	}
	if !m.Latency.Known || !about(m.Latency.Value, 20e-6) || m.Latency.Lo > 20e-6 || m.Latency.Hi < 20e-6 {
		t.Errorf("latency %+v", m.Latency)
	}
	// Bus bandwidth of 16 ranks is 15/8 of the input.
	if !m.Bandwidth.Known || !about(m.Bandwidth.Value, 187.5e9) || m.Bandwidth.Lo > 187.5e9 ||
		m.Bandwidth.Hi < 187.5e9 ||
		m.Bandwidth.Lo < 0.95*187.5e9 || m.Bandwidth.Hi > 1.05*187.5e9 {
		t.Errorf("bandwidth %+v", m.Bandwidth)
	}
	if !m.Half.Known || !about(m.Half.Value, 2e6) {
		t.Errorf("n½ %+v", m.Half)
	}
	half := func(p stats.Parameter) string { return fmt.Sprintf(" ±%.1f %%", 50*(p.Hi-p.Lo)/p.Value) }
	contains(t, lineOf(m), "latency 20.0", " us"+half(m.Latency)+", busbw approaches 187.", " GB/s"+half(m.Bandwidth)+
		", n½ 1.9")
	contains(t, m.Bounds().String(), "from residuals")
}

// A change to a slower line at 256 KiB is found with its factor; n½ is where half of the last bandwidth is reached.
func TestModelTwoSegments(t *testing.T) {
	m := modelFor(t, edited(slower(256<<10, 1<<30, 1.6)))
	if len(m.Segments) != 2 || m.Segments[1].From != 256<<10 || m.Segments[0].Step != 0 ||
		!about(m.Segments[1].Step, 1.6) {
		t.Fatalf("%+v", m.Segments)
	}
	if !about(m.Latency.Value, 20e-6) || !about(m.Bandwidth.Value, 187.5e9/1.6) || !about(m.Half.Value, 2e6) ||
		m.Half.Lo > 2e6 || m.Half.Hi < 2e6 {
		t.Errorf("%+v", m)
	}
	contains(t, lineOf(m), "the model changes at 256 KiB (time × 1.6")
	contains(t, lineOf(modelFor(t, edited(slower(256<<10, 1<<30, 0.6)))), "the model changes at 256 KiB (time × 0.6")
	// If the first segment reaches half by then, this is the size.
	m = modelFor(t, edited(slower(16<<20, 1<<30, 1.6)))
	if want := 20e-6 / (2*1.6/100e9 - 1/100e9); len(m.Segments) != 2 || !about(m.Half.Value, want) ||
		math.Log(m.Half.Hi/m.Half.Lo) < 4*m.Noise {
		t.Errorf("n½ is %v, want %v, with bounds that have the scatter in them", m.Half, want)
	}
}

// A model has only the parameters that its sizes determine: no bandwidth from small sizes, no latency from large ones,
// none from four.
func TestModelOnlyMeasuredParameters(t *testing.T) {
	between := func(from, to int64) made {
		return edited(func(_ string, r *result.Record) {
			if r.SizeBytes < from || r.SizeBytes > to {
				r.Status = result.Failed
			}
		})
	}
	small := modelFor(t, between(8, 32<<10))
	if !small.Latency.Known || small.Bandwidth.Known || small.Half.Known {
		t.Errorf("%+v", small)
	}
	contains(t, lineOf(small), "latency 20.", "busbw over ")
	large := modelFor(t, between(64<<20, 1<<30))
	if large.Latency.Known || !large.Bandwidth.Known || large.Half.Known {
		t.Errorf("%+v", large)
	}
	contains(t, lineOf(large), "latency under ", "busbw approaches 18")
	// Models of several ranges follow the same rules: no n½ without a bandwidth, none if the first size has half
	// already.
	twoSegments := func(from, to, change int64) Model {
		sweep := between(from, to)
		edit := sweep.edit
		sweep.edit = func(launch string, r *result.Record) {
			edit(launch, r)
			slower(change, 1<<30, 1.6)(launch, r)
		}
		return modelFor(t, sweep)
	}
	if small = twoSegments(8, 4<<10, 512); len(small.Segments) != 2 || small.Bandwidth.Known || small.Half.Known {
		t.Errorf("%+v", small)
	}
	if large = twoSegments(8<<20, 1<<30, 128<<20); len(large.Segments) != 2 || large.Half.Known {
		t.Errorf("%+v", large)
	}
	for name, m := range map[string]made{"four sizes": between(8, 64), "rehearsed": sound().with(
		func(m *made) { m.rehearsed = true }), "crowded": sound().with(func(m *made) { m.crowded = true })} {
		if got := modelFor(t, m); got.Segments != nil || got.Fact() != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// With several launches the bounds cover their difference: here the slowest by a tenth.
func TestModelOverLaunches(t *testing.T) {
	slow := func(n int) made { return edited(inLaunch(0, 1.1), launches(n)) }
	m := modelFor(t, slow(3))
	if !about(m.Latency.Lo, 20e-6) || !about(m.Latency.Hi, 22e-6) || !about(m.Bandwidth.Lo, 187.5e9/1.1) ||
		!about(m.Half.Value, 2e6) {
		t.Errorf("%+v", m)
	}
	contains(t, m.Bounds().String(), "minimum and maximum over launches (3)")
	contains(t, modelFor(t, slow(2)).Bounds().String(), "minimum and maximum over launches (2)")
	contains(t, modelFor(t, slow(7)).Bounds().String(), "95 % CI over launches (7)")
	once := func(launch string, r *result.Record) {
		if launch == "launch-2" && r.SizeBytes == 1<<20 {
			r.Status = result.Failed
		}
	}
	contains(t, modelFor(t, edited(once, launches(3))).Bounds().String(), "from residuals")
}

// No model fits these times.
func TestNoModelForNoise(t *testing.T) {
	m := modelFor(t, sound().with(func(m *made) { m.noise = 0.5 }))
	if m.Segments != nil || m.Latency.Known {
		t.Errorf("%+v", m)
	}
	contains(t, lineOf(m), "no model fits (residual ")
}

// A drop is no part of the model.
func TestModelWithoutADrop(t *testing.T) {
	m := modelFor(t, sound().with(func(m *made) { m.collective, m.edit = coll.AllGather, slower(4<<20, 8<<20, 1.5) }))
	if len(m.Segments) != 1 || m.Odd != 2 || !about(m.Latency.Value, 20e-6) {
		t.Errorf("%+v", m)
	}
	m = modelFor(t, edited(slower(8, 8, 3)))
	if m.Odd != 1 || !about(m.Latency.Value, 20e-6) {
		t.Errorf("an odd first size: %+v", m)
	}
}

func TestWorldOfOneIsNotJudged(t *testing.T) {
	alone := edited(slower(4<<20, 8<<20, 3), broadcast).with(func(m *made) { m.world, m.nodes = 1, 1 })
	if m := modelFor(t, alone); m.Segments != nil {
		t.Errorf("model: %+v", m)
	}
	if found := foundIn(t, Options{}, alone, alone.with(inPlace).with(func(m *made) { m.factor = 9 })); len(found) > 0 {
		t.Errorf("findings: %+v", found)
	}
	c := NewCollector()
	alone.fill(c)
	curves := c.Curves()
	test.SliceEqOp(t, []notice.Fact{notice.OneRankRun{}}, Headlines(Answers(curves, nil), curves))
}

func TestModelOfBroadcastHasBusBandwidth(t *testing.T) {
	contains(t, lineOf(modelFor(t, sound().with(broadcast))), ", busbw approaches 99.8")
}
