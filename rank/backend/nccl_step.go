package backend

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/program"
	"busbar/internal/step"
)

// Progress implements Trainer: a stream of its own does the communication.
func (b *ncclBackend) Progress() []step.Progress { return nil }

// gpuTraining is a step's plan on two streams of this rank's GPU.
type gpuTraining struct {
	b       *ncclBackend
	plan    *step.Plan
	ops     []*nccl.Operation
	waiter  *nccl.Waiter
	program *cudart.Program
	loop    *loop.Loop
	last    program.Spans
	remarks []string
}

// Train implements Trainer.
func (b *ncclBackend) Train(c Computing, p *step.Plan) (Training, error) {
	if b.bytes < p.Bytes {
		return nil, &bench.MemoryError{Needed: min(p.Bytes, math.MaxInt64/2), Err: errSmallBuffers}
	}
	t := &gpuTraining{b: b, plan: p}
	if err := t.bind(c.(*gpuComputing)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *gpuTraining) bind(c *gpuComputing) (err error) {
	b := t.b
	if t.waiter, err = b.comm.Waiter(b.l.driver.Table(), c.stream.Pointer()); err != nil {
		return err
	}
	spec := cudart.ProgramSpec{Compute: c.stream, Comm: b.stream, Work: c.work(), Wait: t.waiter.Wait(),
		Sync: b.barrier.Step, SyncContext: b.barrier.Context, Ranges: b.l.nvtx != nil}
	var pieces [][]float64
	for _, s := range t.plan.Segments {
		pieces = append(pieces, s.Pieces)
	}
	for i, amounts := range c.rate.Amounts(pieces) {
		spec.Segments = append(spec.Segments, cudart.Segment{Name: t.plan.Segments[i].Name, Pieces: amounts})
	}
	for i, o := range t.plan.Ops {
		op, err := t.prepare(i)
		if err != nil {
			return err
		}
		steps := op.Steps()
		spec.Ops = append(spec.Ops, cudart.Op{Link: program.Link{After: o.After, Before: o.Before}, Name: o.Name,
			Issue: steps.Issue, Context: steps.Context, Error: op.Error})
	}
	t.remark(c)
	if t.program, err = b.l.gpu.NewProgram(spec); err != nil {
		return err
	}
	t.loop, err = loop.New(t.program.Steps(), 1)
	return err
}

// prepare binds an operation of the plan to the memory at its place.
func (t *gpuTraining) prepare(i int) (*nccl.Operation, error) {
	c, err := t.plan.Case(i)
	if err != nil {
		return nil, err
	}
	base, in, out := t.place(i, c)
	op, err := t.b.comm.Prepare(t.b.spec(c, base+cudart.Pointer(in.at), base+cudart.Pointer(out.at)))
	if err == nil {
		t.ops = append(t.ops, op)
	}
	return op, unsupported(err)
}

// place is where the memory of an operation begins, and in it this rank's input and output.
func (t *gpuTraining) place(i int, c coll.Case) (base cudart.Pointer, in, out extent) {
	in, out = t.b.views(c)
	return t.b.area + cudart.Pointer(t.plan.Ops[i].At), in, out
}

// remark collects notes on how the step runs.
func (t *gpuTraining) remark(c *gpuComputing) {
	t.remarks = append(t.remarks, c.notes...)
	for _, o := range t.ops {
		for _, n := range o.Notes() {
			if !slices.Contains(t.remarks, n) {
				t.remarks = append(t.remarks, n)
			}
		}
	}
	if t.b.l.shared(t.b.w.Names) {
		t.remarks = append(t.remarks, "ranks share a GPU: their computing and communication alternate on it, "+
			"and no value describes a training")
	}
}

// Notes implements Training.
func (t *gpuTraining) Notes() []string { return t.remarks }

// Buffers implements Training.
func (t *gpuTraining) Buffers(op int) bench.Buffers {
	c, err := t.plan.Case(op)
	if err != nil { // the plan was bound with it
		panic(err)
	}
	base, in, out := t.place(op, c)
	return bench.Buffers{Send: deviceMemory{t.b.mover, base + cudart.Pointer(in.at), in.n},
		Recv: deviceMemory{t.b.mover, base + cudart.Pointer(out.at), out.n}}
}

// Run implements Training. The profiler sees the step as a range, and inside it its segments and operations.
func (t *gpuTraining) Run(m program.Mode) (start, end int64, err error) {
	if err := t.b.profile.begin(t.b.l); err != nil {
		return 0, 0, err
	}
	t.program.SetMode(m)
	t.b.l.nvtx.Push(fmt.Sprintf("%s %s, %s", t.plan.Model, t.plan.Point, m))
	defer t.b.l.nvtx.Pop()
	s, err := t.b.run(t.loop, 1, 1, ncclCalls{failed: t.program.Error, issued: t.program.Issued,
		over: func() (err error) { t.last, err = t.program.Spans(); return err }})
	if err != nil {
		return 0, 0, err
	}
	return s.Start[0], s.End[0], nil
}

// profilerRange is the driver's own profiler range.
type profilerRange struct{ begun bool }

// begin begins it at the first step, where --profile-range asks for it; it ends with the world.
func (r *profilerRange) begin(l *ncclLibrary) error {
	if !l.h.Options.Profile || r.begun {
		return nil
	}
	r.begun = true
	return l.driver.ProfilerStart()
}

func (r *profilerRange) end(l *ncclLibrary) error {
	if !r.begun {
		return nil
	}
	r.begun = false
	return l.driver.ProfilerStop()
}

// Spans implements Training.
func (t *gpuTraining) Spans() program.Spans { return t.last }

// Position implements Training: what the device is seen to be at. Of two ranks, the one that has issued less
// is behind; if both have issued everything, the one whose device has done less.
func (t *gpuTraining) Position() (part uint64, doing string) {
	r := t.program.Reached()
	if !r.Running {
		return 0, ""
	}
	return uint64(r.Put+r.Segments+r.Ops) + 1, t.doing(r)
}

func (t *gpuTraining) doing(r cudart.Reached) string {
	var words []string
	if r.Putting >= 0 {
		words = append(words, "issuing "+t.plan.Ops[r.Putting].Name)
	}
	if r.Mode.Computes() && r.Segments < len(t.plan.Segments) {
		if op := t.needed(r); op >= 0 {
			words = append(words, "waiting for "+t.plan.Ops[op].Name)
		} else {
			words = append(words, "computing "+t.plan.Segments[r.Segments].Name)
		}
	}
	if r.Mode.Communicates() && r.Ops < len(t.plan.Ops) && r.Putting < 0 && t.begun(r) {
		words = append(words, t.plan.Ops[r.Ops].Name+" in flight")
	}
	if len(words) == 0 {
		return "at the end of the step"
	}
	return strings.Join(words, ", ")
}

// needed is the operation that the segment in hand waits for; -1: none.
func (t *gpuTraining) needed(r cudart.Reached) int {
	if r.Mode != program.Overlapped {
		return -1
	}
	for i := len(t.plan.Ops) - 1; i >= r.Ops; i-- {
		if t.plan.Ops[i].Before <= r.Segments {
			return i
		}
	}
	return -1
}

// begun reports whether the current operation has what it waits for.
func (t *gpuTraining) begun(r cudart.Reached) bool {
	switch r.Mode {
	case program.Overlapped:
		return t.plan.Ops[r.Ops].After < r.Segments
	case program.Sequential:
		return r.Segments == len(t.plan.Segments)
	}
	return true
}

// Close implements Training.
func (t *gpuTraining) Close() error {
	t.b.l.h.Watch.Attach(nil, nil)
	if t.loop != nil {
		t.loop.Close()
	}
	var err error
	if t.program != nil {
		err = t.program.Close()
	}
	for _, o := range t.ops {
		err = errors.Join(err, o.Close())
	}
	t.ops = nil
	t.waiter.Close()
	return err
}
