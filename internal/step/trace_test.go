package step

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/program"
)

// Nanosecond by nanosecond, whatever overlaps what.
func TestIntervalsAreCountedRight(t *testing.T) {
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
		if got := IntervalsOf(s); got != want {
			t.Fatalf("%+v: %+v, want %+v", s, got, want)
		}
	}
}

func TestWhatDidNotRunHasNoInterval(t *testing.T) {
	s := program.Spans{Segments: []program.Span{{Start: 100, End: 150}, {}},
		Ops: []program.Span{{}, {Start: 160, End: 155}}}
	if got, want := IntervalsOf(s), (Intervals{Span: 60, Compute: 50, Idle: 10}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := IntervalsOf(program.Spans{}); got != (Intervals{}) {
		t.Errorf("nothing ran, and it is %+v", got)
	}
}

// aTrace is one of two ranks, with an operation that is still on its way when the next begins.
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

func TestTraceIsWrittenAsTorchDoes(t *testing.T) {
	var b bytes.Buffer
	trace := aTrace()
	if err := trace.Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !json.Valid(b.Bytes()) {
		t.Errorf("no JSON: %s", text)
	}
	for _, want := range []string{
		`"distributedInfo":{"backend":"mpi","rank":1,"world_size":2,"pg_count":1,"pg_config":[{"pg_name":"0","pg_desc":"default_pg","backend_config":"mpi","pg_size":2,"ranks":[0,1]}]}`,
		`"baseTimeNanoseconds":1700000000000000005`,
		`"on_host":true,"rehearsed":false`, `CPUs, no GPU: 1 thread of FMA`,
		`{"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":4711,"tid":4711,"ts":0.000,"dur":8.501}`,
		`{"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#8","pid":0,"tid":1,"ts":8.501,"dur":0.400}`,
		`{"ph":"X","cat":"kernel","name":"busbar forward","pid":0,"tid":1,"ts":0.000,"dur":1.000,"args":{"device":0,"stream":1,"correlation":1,"work":"forward"}}`,
		`"name":"busbar backward layer \"2\"","pid":0,"tid":1,"ts":1.000,"dur":1.500,`,
		`"name":"busbar optimizer","pid":0,"tid":1,"ts":8.500,"dur":0.001,`,
		`{"ph":"X","cat":"kernel","name":"busbar all_reduce (bucket 1)","pid":0,"tid":2,"ts":1.000,"dur":6.500,"args":{"device":0,"stream":2,"correlation":4,` +
			`"Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"Group size":2,"dtype":"BFloat16","Process Group Name":"0",` +
			`"Process Group Description":"default_pg","Process Group Ranks":"[0, 1]","Global rank start":0,"Global rank stride":1,"Rank":1,"Seq":1,"Layers":3}}`,
		`"name":"busbar all_gather (gather x)","pid":0,"tid":3,"ts":1.500,"dur":0.007,"args":{"device":0,"stream":3,"correlation":5,"Collective name":"_allgather_base","In msg nelems":8,"Out msg nelems":16,`,
		// the row of the first operation is free again
		`"name":"busbar all_gather (gather x)","pid":0,"tid":2,"ts":8.801,"dur":0.100,`,
		`"Seq":4,`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
	if n := strings.Count(text, `"cat":"kernel"`); n != 9 {
		t.Errorf("%d segments and operations, of which 9 ran", n)
	}
}

// Whatever opens the file shows whether there was a GPU.
func TestTraceSaysOnWhatItRan(t *testing.T) {
	for _, c := range []struct {
		gpu       string
		rehearsed bool
		want      []string
	}{
		{"", false, []string{"CPUs, no GPU: 1 thread of FMA", `{"name":"CPU, no GPU"}`, `"on_host":true`,
			`"name":"CPU, 1 thread of FMA"`}},
		{"NVIDIA H100", false, []string{"events that the device recorded", `{"name":"NVIDIA H100"}`, `"on_host":false`,
			`"rehearsed":false`}},
		{"Rehearsal", true, []string{"SIMULATED, no GPU", `{"name":"SIMULATED, no GPU"}`, `"rehearsed":true`,
			`node1, SIMULATED"`}},
	} {
		trace := aTrace()
		trace.GPU, trace.Rehearsed = c.gpu, c.rehearsed
		var b strings.Builder
		if err := trace.Write(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q, %v: %s is not in\n%s", c.gpu, c.rehearsed, want, b.String())
			}
		}
	}
}
