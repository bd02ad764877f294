package timeline

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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
		b.Add(read)
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
		own := steps.Trace{Plan: plan, Process: 77, TraceAbout: steps.TraceAbout{Tool: "busbar 9", Run: "r", Point: 1,
			Backend: "mpi", Computing: "FMA", Rank: rank, Host: "n1"}}
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

// No kernel of anybody else is taken for one of busbar's steps.
func TestOwnNames(t *testing.T) {
	for name, want := range map[string]known{
		"busbar all_reduce (bucket 3)":         {comm: true, own: true, what: coll.AllReduce},
		"busbar reduce_scatter (reduce x)":     {comm: true, own: true, what: coll.ReduceScatter},
		"busbar backward all_reduce(int)":      {within: true, own: true, what: coll.Other},
		"busbar optimizer":                     {within: true, own: true, what: coll.Other},
		"busbar_fill(float*)":                  {what: 0},
		"void busbar::all_reduce<float>(int*)": {comm: true, what: coll.AllReduce},
		"busbar all_reduced":                   {comm: true, what: coll.AllReduce},
	} {
		got := recognise(name)
		if got.name == "" {
			t.Errorf("%q has no name", name)
		}
		if got.name = ""; !want.comm && !want.within {
			got.what = 0
		}
		if got != want {
			t.Errorf("%q is %+v, want %+v", name, got, want)
		}
	}
}
