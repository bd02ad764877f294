package step

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/program"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// Counts nanosecond by nanosecond, for any overlap.
func TestIntervalCount(t *testing.T) {
	const most = 200
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		spans := func() (all []program.Span) {
			for range r.IntN(6) {
				start := r.Int64N(most)
				all = append(all, program.Span{Start: start, End: start + r.Int64N(most-start+1)})
			}
			return all
		}
		s := program.Spans{Segments: spans(), Ops: spans()}
		var want Intervals
		first, last := int64(most+1), int64(-1)
		for at := range int64(most + 1) {
			in := func(spans []program.Span) bool {
				return slices.ContainsFunc(spans, func(s program.Span) bool { return s.Start <= at && at < s.End })
			}
			for _, s := range slices.Concat(s.Segments, s.Ops) {
				if ran(s) {
					first, last = min(first, s.Start), max(last, s.End)
				}
			}
			computes, communicates := in(s.Segments), in(s.Ops)
			if computes {
				want.Compute++
			}
			switch {
			case communicates && computes:
				want.Comm++
				want.Overlap++
			case communicates:
				want.Comm++
				want.Exposed++
			}
		}
		if last >= 0 {
			want.Span = last - first
		}
		want.Idle = want.Span - want.Compute - want.Exposed
		must.EqOp(t, want, IntervalsOf(s), must.Sprint(s))
	}
}

func TestSkippedWithoutInterval(t *testing.T) {
	s := program.Spans{Segments: []program.Span{{Start: 100, End: 150}, {}},
		Ops: []program.Span{{}, {Start: 160, End: 155}}}
	test.EqOp(t, (Intervals{Span: 60, Compute: 50, Idle: 10}), IntervalsOf(s))
	test.EqOp(t, Intervals{}, IntervalsOf(program.Spans{}))
}

// aTrace is a trace of two ranks, with an operation still in progress when the next starts.
func aTrace() Trace {
	plan := Plan{Model: "uniform", World: 2, Point: Point{Strategy: DDP, Bucket: 25 << 20, Type: coll.BFloat16,
		Progress: Poll},
		Segments: []Segment{{Name: "forward", Work: Forward}, {Name: "backward layer \"2\"", Work: Backward},
			{Name: "", Work: Optimizer}},
		Ops: []Op{{Name: "bucket 1", Collective: coll.AllReduce, Count: 1000, Layers: 3},
			{Name: "gather x", Collective: coll.AllGather, Count: 8}}}
	at := func(start, end int64) program.Span { return program.Span{Start: start, End: end} }
	return Trace{
		TraceAbout: TraceAbout{Tool: "busbar 9", Run: "r", Point: 2, Backend: "mpi", Computing: "1 thread of FMA",
			Rank: 1, Host: "node1"},
		Plan:    &plan,
		Process: 4711,
		Began:   time.Unix(1700000000, 5),
		Steps: []TracedStep{
			{7, program.Spans{Segments: []program.Span{at(1_000_500, 1_001_500), at(1_001_500, 1_003_000),
				at(1_009_000, 1_009_001)}, Ops: []program.Span{at(1_001_500, 1_008_000), at(1_002_000, 1_002_007)}}},
			{8, program.Spans{Segments: []program.Span{at(9_000_000, 9_000_100), at(9_000_100, 9_000_200), {}},
				Ops: []program.Span{at(9_000_100, 9_000_300), at(9_000_300, 9_000_400)}}},
		},
	}
}

// A trace is what torch.profiler writes.
func TestTrace(t *testing.T) {
	var b bytes.Buffer
	trace := aTrace()
	must.NoError(t, trace.Write(&b))
	golden.Text(t, "testdata/trace.json", strings.ReplaceAll(b.String(), `},{"ph"`, "},\n{\"ph\""))
}

// Whatever opens the file shows whether there was a GPU.
func TestTraceOfGPU(t *testing.T) {
	for gpu, name := range map[string]string{"NVIDIA H100": "NVIDIA H100", "Rehearsal": "SIMULATED, no GPU"} {
		trace := aTrace()
		trace.GPU, trace.Rehearsed = gpu, gpu == "Rehearsal"
		var b strings.Builder
		must.NoError(t, trace.Write(&b))
		if text := b.String(); !strings.Contains(text, `{"name":"`+name+`"}`) ||
			strings.Contains(text, `"on_host":true`) {
			t.Errorf("%s: %s", gpu, text)
		}
	}
}
