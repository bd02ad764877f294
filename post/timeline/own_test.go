package timeline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/program"
	steps "busbar/internal/step"
	"busbar/post/trace"
)

// drawnPlan is a plan without a meaning: some segments, and operations of any kind.
func drawnPlan(r *rand.Rand) *steps.Plan {
	kinds := []coll.Collective{coll.AllReduce, coll.AllGather, coll.ReduceScatter}
	p := &steps.Plan{Model: "drawn", World: []int{1, 2, 5, 64}[r.IntN(4)],
		Point: steps.Point{Strategy: steps.DDP, Bucket: steps.All, Type: coll.Float32}}
	for range 1 + r.IntN(5) {
		work := []steps.Work{steps.Forward, steps.Backward, steps.Optimizer}[r.IntN(3)]
		p.Segments = append(p.Segments, steps.Segment{Name: string(work) + " all_reduce::layer<4>(int)", Work: work})
	}
	for i := range r.IntN(6) {
		p.Ops = append(p.Ops, steps.Op{Name: fmt.Sprintf("bucket %d", i), Collective: kinds[r.IntN(len(kinds))],
			Count: 4 * (1 + r.Int64N(1000))})
	}
	return p
}

// drawnSpans are segments one after the other, and operations at any time beside them.
func drawnSpans(r *rand.Rand, p *steps.Plan) (s program.Spans) {
	at := r.Int64N(1 << 50)
	s.Step.Start = at - r.Int64N(1000)
	first := at
	for range p.Segments {
		at += r.Int64N(3) * r.Int64N(10_000)
		took := 1 + r.Int64N(100_000)
		s.Segments = append(s.Segments, program.Span{Start: at, End: at + took})
		at += took
	}
	for range p.Ops {
		start := first + r.Int64N(at-first+20_000)
		s.Ops = append(s.Ops, program.Span{Start: start, End: start + 1 + r.Int64N(80_000)})
	}
	s.Step.End = at + r.Int64N(1000)
	return s
}

// ownTimeline writes the traces of ranks into a folder of their own and reads them back.
func ownTimeline(t *testing.T, traces ...steps.Trace) *Timeline {
	t.Helper()
	dir := t.TempDir()
	b := NewBuilder(Options{})
	for i := range traces {
		path := filepath.Join(dir, fmt.Sprintf("rank%d.json", traces[i].Rank))
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := traces[i].Write(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		read, err := trace.Read(t.Context(), path, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(read); err != nil {
			t.Fatal(err)
		}
	}
	return b.Timeline()
}

// same compares times to the nanosecond.
func (p *Parts) same(i steps.Intervals) bool {
	ns := func(ms float64) int64 { return int64(ms*1e6 + 0.5) }
	return ns(p.Span) == i.Span && ns(p.Compute) == i.Compute && ns(p.Comm) == i.Comm && ns(p.Overlap) == i.Overlap &&
		ns(p.Exposed) == i.Exposed && ns(p.Idle) == i.Idle
}

// What rank finds in the spans of its steps is what is read from the traces that it writes of them, whatever they are.
func TestOwnStepsReadBackAsTheyWere(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		plan := drawnPlan(r)
		rank := r.IntN(plan.World)
		own := steps.Trace{Tool: "busbar 9", Run: "r", Point: 1, Plan: plan, Backend: "mpi", Computing: "FMA", Rank: rank,
			Process: 77, Host: "n1"}
		var sum steps.Intervals
		for n := range 1 + r.IntN(3) {
			spans := drawnSpans(r, plan)
			own.Steps = append(own.Steps, steps.TracedStep{Number: 5 + n, Spans: spans})
			i := steps.IntervalsOf(spans)
			sum = steps.Intervals{Span: sum.Span + i.Span, Compute: sum.Compute + i.Compute, Comm: sum.Comm + i.Comm,
				Overlap: sum.Overlap + i.Overlap, Exposed: sum.Exposed + i.Exposed, Idle: sum.Idle + i.Idle}
		}
		found := ownTimeline(t, own)
		if len(found.Devices) != 1 {
			t.Fatalf("seed %d: %d devices", seed, len(found.Devices))
		}
		d := &found.Devices[0]
		if d.Rank == nil || *d.Rank != rank || d.World != plan.World || d.Host != "n1" {
			t.Errorf("seed %d: it is of %s of %d on %s, and was of rank %d of %d", seed, d.Label, d.World, d.Host, rank,
				plan.World)
		}
		if !d.same(sum) {
			t.Errorf("seed %d: in all %+v, want %+v", seed, d.Parts, sum)
		}
		if len(d.Steps) != len(own.Steps) {
			t.Fatalf("seed %d: %d steps of %d", seed, len(d.Steps), len(own.Steps))
		}
		for n, s := range d.Steps {
			if i := steps.IntervalsOf(own.Steps[n].Spans); !s.same(i) ||
				s.Name != fmt.Sprintf("ProfilerStep#%d", own.Steps[n].Number) {
				t.Errorf("seed %d: %s is %+v, want %+v", seed, s.Name, s.Parts, i)
			}
			if want := len(plan.Segments) + len(plan.Ops); s.Kernels != want || s.Partial != nil {
				t.Errorf("seed %d: %s has %d kernels (%v), want %d", seed, s.Name, s.Kernels, s.Partial, want)
			}
		}
		if len(d.Unknown) > 0 {
			t.Errorf("seed %d: %+v may be communication", seed, d.Unknown)
		}
	}
}

// Operations have the size, the type and the order that the plan gives them, so that ranks are matched and bandwidths
// are right.
func TestOwnOperationsAreThoseOfThePlan(t *testing.T) {
	plan := &steps.Plan{Model: "m", World: 2, Point: steps.Point{Strategy: steps.FSDP, Bucket: steps.PerLayer,
		Type: coll.Float8E4M3},
		Segments: []steps.Segment{{Name: "forward", Work: steps.Forward}},
		Ops: []steps.Op{
			{Name: "gather a", Collective: coll.AllGather, Count: 4096}, {Name: "reduce a", Collective: coll.ReduceScatter,
				Count: 2048}, {Name: "bucket 1", Collective: coll.AllReduce, Count: 1 << 20},
		}}
	spans := program.Spans{Segments: []program.Span{{Start: 10, End: 2000}}, Ops: []program.Span{{Start: 10, End: 1010},
		{Start: 1010, End: 3010}, {Start: 3010, End: 7010}}}
	var traces []steps.Trace
	for rank := range 2 {
		traces = append(traces, steps.Trace{Tool: "busbar 9", Plan: plan, Backend: "nccl", GPU: "NVIDIA H100",
			Computing: "FMA kernels", Device: rank, Rank: rank, Process: 10 + rank,
			Steps: []steps.TracedStep{{Number: 1, Spans: spans}, {Number: 2, Spans: spans}}})
	}
	found := ownTimeline(t, traces...)
	if a := found.Across; a == nil || a.Matched != 6 || a.Alone != 0 {
		t.Fatalf("of six operations on two ranks matched are %+v", a)
	}
	for _, d := range found.Devices {
		if d.GPU != "NVIDIA H100" || d.ID != *d.Rank {
			t.Errorf("%s is device %d, %s", d.Label, d.ID, d.GPU)
		}
		got := map[string]string{}
		for _, c := range d.Collectives {
			if c.Bytes == nil {
				t.Fatalf("%+v has no size", c)
			}
			got[c.Name] = fmt.Sprintf("%d %s %d %d %s", *c.Bytes, c.Type, c.Ranks, c.Calls, c.By)
		}
		for i := range plan.Ops {
			want, err := plan.Case(i)
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprintf("%d float8e4m3 2 2 busbar's own step", want.SizeBytes); got[want.Collective.String()] !=
				text {
				t.Errorf("%s is %q, want %q", want.Collective, got[want.Collective.String()], text)
			}
		}
	}
}

func TestOwnStepsSaySo(t *testing.T) {
	plan := &steps.Plan{Model: "resnet50", World: 1, Point: steps.Point{Strategy: steps.DDP, Bucket: 25 << 20,
		Type: coll.Float32, Progress: steps.Poll},
		Segments: []steps.Segment{{Name: "forward", Work: steps.Forward}}}
	spans := program.Spans{Segments: []program.Span{{Start: 10, End: 2000}}}
	for _, c := range []struct {
		gpu       string
		rehearsed bool
		says      string
		noGPU     bool
	}{
		{"", false, "This is busbar's own step (busbar 9; resnet50, ddp 25M float32, polling; mpi; CPUs, no GPU: 1 thread of FMA), not a training job.", true},
		{"Stand-in", true, "SIMULATED, no GPU: 1 thread of FMA", true},
		{"NVIDIA H100", false, "on a GPU: 1 thread of FMA", false},
	} {
		found := ownTimeline(t, steps.Trace{Tool: "busbar 9", Plan: plan, Backend: "mpi", GPU: c.gpu,
			Computing: "1 thread of FMA", Rehearsed: c.rehearsed, Process: 5,
			Steps: []steps.TracedStep{{Number: 1, Spans: spans}}})
		if says := found.InShortTexts()[0]; !strings.Contains(says, c.says) ||
			strings.Contains(says, "by threads of a rank") != c.noGPU {
			t.Errorf("%q is not what is said first: %s", c.says, says)
		}
		if f := found.Files[0]; f.Tool != "busbar 9" || f.NoGPU != c.noGPU {
			t.Errorf("file is %+v", f)
		}
		if len(found.Notes) != 1 || found.Notes[0].Code() != "busbar-trace" {
			t.Errorf("notes are %+v", found.Notes)
		}
	}
	g := newGPU()
	g.ran(gemm, 7, 0, 1e6)
	b := NewBuilder(Options{})
	if err := b.Add(&trace.File{Path: "torch.json", Devices: []*trace.Device{&g.Device}}); err != nil {
		t.Fatal(err)
	}
	if says := b.Timeline().InShortTexts()[0]; strings.Contains(says, "busbar") {
		t.Errorf("of a profiler's trace it is said: %s", says)
	}
}

// No kernel of anybody else is taken for one of busbar's steps.
func TestOwnNames(t *testing.T) {
	for name, want := range map[string]known{
		"busbar all_reduce (bucket 3)":         {comm: true, own: true, by: ownBy, what: coll.AllReduce},
		"busbar reduce_scatter (reduce x)":     {comm: true, own: true, by: ownBy, what: coll.ReduceScatter},
		"busbar backward all_reduce(int)":      {within: true, own: true, by: ownBy, what: coll.Other},
		"busbar optimizer":                     {within: true, own: true, by: ownBy, what: coll.Other},
		"busbar_fill(float*)":                  {what: 0},
		"void busbar::all_reduce<float>(int*)": {comm: true, by: "by its name", what: coll.AllReduce},
		"busbar all_reduced":                   {},
	} {
		got := recognise(name)
		if got.name == "" {
			t.Errorf("%q has no name", name)
		}
		if got.name = ""; want.by == "" {
			got.by, got.what, got.comm = "", 0, got.comm && got.own
		}
		if got != want {
			t.Errorf("%q is %+v, want %+v", name, got, want)
		}
	}
}
