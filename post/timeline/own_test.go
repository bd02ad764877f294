package timeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/program"
	steps "busbar/internal/step"
)

// drawnPlan is a random plan of segments and operations of any kind.
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

// drawnSpans are consecutive segments, with operations at any time.
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

// readBack writes the trace of a rank and reads it.
func readBack(t *testing.T, own *steps.Trace) Device {
	t.Helper()
	var text bytes.Buffer
	must.NoError(t, own.Write(&text))
	path := filepath.Join(t.TempDir(), "own.json")
	must.NoError(t, os.WriteFile(path, text.Bytes(), 0o666))
	tl, _, err := Read(t.Context(), []string{path}, Options{})
	must.NoError(t, err)
	must.Len(t, 1, tl.Devices)
	return tl.Devices[0]
}

// same compares times to the nanosecond.
func (p *Parts) same(i steps.Intervals) bool {
	ns := func(ms float64) int64 { return int64(ms*1e6 + 0.5) }
	return ns(p.Span) == i.Span && ns(p.Compute) == i.Compute && ns(p.Comm) == i.Comm && ns(p.Overlap) == i.Overlap &&
		ns(p.Exposed) == i.Exposed && ns(p.Idle) == i.Idle
}

// The values from rank's spans equal those from the traces that it writes of them.
func TestOwnStepsRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		plan := drawnPlan(r)
		rank := r.IntN(plan.World)
		own := steps.Trace{Plan: plan, Process: 77, TraceAbout: steps.TraceAbout{Tool: "busbar 9", Run: "r", Point: 1,
			Backend: "mpi", Computing: "FMA", Rank: rank, Host: "n1"}}
		for n := range 1 + r.IntN(3) {
			own.Steps = append(own.Steps, steps.TracedStep{Number: 5 + n, Spans: drawnSpans(r, plan)})
		}
		d := readBack(t, &own)
		must.EqOp(t, rank, *d.Rank)
		must.EqOp(t, plan.World, d.World)
		must.EqOp(t, "n1", d.Host)
		must.Len(t, len(own.Steps), d.Steps)
		for n, s := range d.Steps {
			want := steps.IntervalsOf(own.Steps[n].Spans)
			must.True(t, s.same(want), must.Sprint(seed, s.Parts, want))
			must.EqOp(t, fmt.Sprintf("ProfilerStep#%d", own.Steps[n].Number), s.Name)
			must.EqOp(t, len(plan.Segments)+len(plan.Ops), s.Kernels)
		}
		must.Len(t, 0, d.Unknown)
	}
}

// Kernel names of other programs do not match busbar's steps.
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
		must.True(t, got.name != "")
		if got.name = ""; !want.comm && !want.within {
			got.what = 0
		}
		must.EqOp(t, want, got)
	}
}
