package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/program"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/ledger"
	"busbar/rank/plan"
	"busbar/rank/screen"
	"busbar/sweeps"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// fakeTrainer is a library without transfers and with scripted times.
type fakeTrainer struct {
	backend.Backend
	world bench.World

	ran       []string // bucket and mode, in order
	recovered int
	bound     int // trainings that are not closed
	unclean   int // steps with elements other than zero

	refuse func(p step.Point) error           // by train
	fail   func(p step.Point, runs int) error // by run, with the number of steps so far
	times  func(p step.Point, m program.Mode) time.Duration
}

func (f *fakeTrainer) Progress() []step.Progress             { return []step.Progress{step.NoCalls} }
func (f *fakeTrainer) Computing() (backend.Computing, error) { return nil, nil }

func (f *fakeTrainer) Recover() error {
	f.recovered++
	return nil
}

func (f *fakeTrainer) Train(_ backend.Computing, p *step.Plan) (backend.Training, error) {
	if f.refuse != nil {
		if err := f.refuse(p.Point); err != nil {
			return nil, err
		}
	}
	f.bound++
	t := &fakeTraining{f: f, p: p}
	for i := range p.Ops {
		c, err := p.Case(i)
		if err != nil {
			return nil, err
		}
		t.memory = append(t.memory, bytes.Repeat([]byte{0xFF}, int(c.RecvCount(0))*c.Type.Size()))
	}
	return t, nil
}

// fakeTraining is one plan of a fakeTrainer.
type fakeTraining struct {
	f      *fakeTrainer
	p      *step.Plan
	memory [][]byte
	mode   program.Mode
}

func (t *fakeTraining) Run(m program.Mode) (start, end int64, err error) {
	t.mode = m
	t.f.ran = append(t.f.ran, fmt.Sprintf("%s %s", t.p.Point.Bucket, m))
	if slices.ContainsFunc(t.memory, func(m []byte) bool { return !bytes.Equal(m, make([]byte, len(m))) }) {
		t.f.unclean++
	}
	if t.f.fail != nil {
		if err := t.f.fail(t.p.Point, len(t.f.ran)); err != nil {
			return 0, 0, err
		}
	}
	took := 10 * time.Millisecond
	if t.f.times != nil {
		took = t.f.times(t.p.Point, m)
	}
	return 1000, 1000 + int64(took), nil
}

func (t *fakeTraining) Position() (uint64, string) { return 0, "" }

// Spans returns 4 ms of computing, and operations that start with it and last 2 ms longer.
func (t *fakeTraining) Spans() program.Spans {
	s := program.Spans{Segments: make([]program.Span, len(t.p.Segments)), Ops: make([]program.Span, len(t.p.Ops))}
	const ms = 1_000_000
	for i := range s.Segments {
		if t.mode.Computes() {
			s.Segments[i] = program.Span{Start: 1, End: 1 + 4*ms}
		}
	}
	for i := range s.Ops {
		if t.mode.Communicates() {
			s.Ops[i] = program.Span{Start: 1, End: 1 + 6*ms}
		}
	}
	return s
}

func (t *fakeTraining) Buffers(op int) bench.Buffers {
	return bench.Buffers{Send: bench.Host(t.memory[op]), Recv: bench.Host(t.memory[op])}
}

func (t *fakeTraining) Notes() []string { return []string{"a note"} }

func (t *fakeTraining) Close() error {
	t.f.bound--
	return nil
}

// fakeBuckets are the points of a group.
var fakeBuckets = []step.Cap{4 << 10, 8 << 10, step.All}

// broadcasts is a group of ranks that broadcasts the decisions of its world.
type broadcasts struct {
	launch.Comm
	world bench.World
}

func (b broadcasts) Rank() int { return b.world.Rank }

func (b broadcasts) Bcast(data []byte, _ int) error {
	x := make([]float64, len(data))
	for i, d := range data {
		x[i] = float64(d)
	}
	err := b.world.Bcast(x)
	for i := range x {
		data[i] = byte(x[i])
	}
	return err
}

// fakeSteps runs a group of three buckets on two ranks to the end of its rounds, and returns the result of rank 0.
func fakeSteps(t *testing.T, o sweeps.Options, script func(f *fakeTrainer)) (*stepGroup, *fakeTrainer) {
	t.Helper()
	model, err := step.Parse("uniform:6x1K", nil)
	must.NoError(t, err)
	p := &plan.Plan{Options: &plan.Options{}, Sweep: &sweeps.Sweep{Options: o}, Step: &plan.Steps{Model: model}}
	groups, trainers := make([]*stepGroup, 2), make([]*fakeTrainer, 2)
	header := &result.Step{}
	for _, bucket := range fakeBuckets {
		header.Points = append(header.Points, step.Point{Strategy: step.DDP, Bucket: bucket, Type: coll.Float32})
	}
	file, err := result.Create(t.TempDir(), result.Run{Step: header}, nil)
	must.NoError(t, err)
	for rank, err := range benchtest.Run(2, func(world bench.World) error {
		run := &Run{Plan: p, Watch: hang.NewWatchdog(time.Minute, func(launch.State) {}),
			Ledger:    ledger.New(io.Discard),
			Screen:    screen.New(false, nil, ""),
			StopAsked: func() bool { return false }}
		f := &fakeTrainer{world: world}
		script(f)
		w := &worldRun{run: run, world: &backend.World{World: world, Group: broadcasts{world: world}}}
		s := &stepSession{session: &session{worldRun: w, lib: mpiNamed{}, backend: f}, trainer: f}
		if world.Rank == 0 {
			s.sheet = run.Ledger.Open(file, 3)
		}
		g := &stepGroup{s: s}
		for i, point := range header.Points {
			plan, err := step.NewPlan(model, point, 2, step.Options{})
			if err != nil {
				return err
			}
			g.points = append(g.points, &stepPoint{n: i + 1, Point: point, plan: plan})
		}
		groups[world.Rank], trainers[world.Rank] = g, f
		for _, do := range []func() error{g.bind, g.checkData, g.fill, g.warmUp} {
			if err := do(); err != nil {
				return err
			}
		}
		_, err := g.measureRounds(context.Background())
		return err
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	return groups[0], trainers[0]
}

// mpiNamed is a library with a name.
type mpiNamed struct{ backend.Library }

func (mpiNamed) Facts() result.Backend { return result.Backend{Library: "a library"} }

// In every round each point has all its modes in a row, and both orders rotate.
func TestStepRounds(t *testing.T) {
	g, f := fakeSteps(t, sweeps.Options{Iterations: 4, Warmup: 1}, func(f *fakeTrainer) {
		f.times = func(p step.Point, m program.Mode) time.Duration {
			if f.world.Rank == 1 && m == program.Comm {
				return 30 * time.Millisecond // the slowest rank counts
			}
			return 10 * time.Millisecond
		}
	})
	if g.round != 4 || len(f.ran) != 5*3*4 || g.stop.reason != "fixed" {
		t.Fatalf("%d rounds (%s), %d steps", g.round, g.stop.reason, len(f.ran))
	}
	firsts := []string{}
	for round := range 4 {
		steps := f.ran[12*(round+1):]
		for k := range 3 {
			bucket, _, _ := strings.Cut(steps[4*k], " ")
			for i, m := range modeOrder(round) {
				test.EqOp(t, fmt.Sprintf("%s %s", bucket, m), steps[4*k+i], test.Sprint(round+1))
			}
		}
		firsts = append(firsts, steps[0])
	}
	test.SliceEqOp(t, []string{"4K compute", "8K comm", "all sequential", "4K overlapped"}, firsts)
	for _, r := range g.runs { // other sums would grow from step to step
		for i, m := range r.train.(*fakeTraining).memory {
			if !bytes.Equal(m, make([]byte, len(m))) {
				t.Errorf("%s: operation %d is not timed on zeros", r.Point, i)
			}
		}
	}
	x := g.runs[0].rounds[0]
	test.EqOp(t, (step.Round{Compute: 0.01, Comm: 0.03, Sequential: 0.01, Overlapped: 0.01, ComputeAlone: 0.004,
		ComputeBusy: 0.004, CommAlone: 0.006, CommBusy: 0.006, Hidden: 0.004}), x)
	r := g.runs[0]
	if n := len(r.traced); n != 4 || r.traced[n-1].Number != 4 {
		t.Errorf("%d steps are kept, the last of round %d", n, r.traced[n-1].Number)
	}
	for n := range step.TracedSteps {
		r.trace(5+n, 0, program.Spans{})
	}
	if n := len(r.traced); n != step.TracedSteps || len(r.began) != n || r.traced[0].Number != 5 {
		t.Errorf("%d steps are kept, the first of round %d", n, r.traced[0].Number)
	}
}

// In four rounds each mode has each position once, and follows each other mode once.
func TestModeOrder(t *testing.T) {
	places, follows := map[[2]int]int{}, map[[2]program.Mode]int{}
	for round := range 4 {
		order := modeOrder(round)
		for i, m := range order {
			places[[2]int{i, int(m)}]++
			if i > 0 {
				follows[[2]program.Mode{order[i-1], m}]++
			}
		}
	}
	if len(places) != 16 || len(follows) != 12 {
		t.Errorf("%d places of 16, %d successions of 12", len(places), len(follows))
	}
}

// The first point of a round starts with each mode in turn.
func TestTurnOrder(t *testing.T) {
	for points := 1; points <= 8; points++ {
		begins := map[[2]int]int{} // position of the first point, its first mode
		for round := range 4 * points {
			first := turned([]int{0, 1, 2, 3, 4, 5, 6, 7}[:points], round)[0]
			begins[[2]int{first, int(modeOrder(orderNumber(round, points))[0])}]++
		}
		test.EqOp(t, 4*points, len(begins), test.Sprint(points))
	}
}

// An unsupported point is a record, and the others are measured.
func TestUnsupportedStepPoints(t *testing.T) {
	g, _ := fakeSteps(t, sweeps.Options{Iterations: 3}, func(f *fakeTrainer) {
		f.refuse = func(p step.Point) error {
			switch {
			case p.Bucket == 8<<10:
				return &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: "not this one"}}
			case p.Bucket == step.All && f.world.Rank == 1:
				return &bench.MemoryError{Needed: 7, Err: errors.New("no room")}
			}
			return nil
		}
	})
	if len(g.runs) != 1 || len(g.runs[0].rounds) != 3 {
		t.Errorf("%d points are measured", len(g.runs))
	}
	if v := g.points[1].verdict; v.Status != result.Unsupported ||
		v.Cause != (notice.LibraryLacks{Problem: "not this one"}) {
		t.Errorf("%+v", v)
	}
	if v := g.points[2].verdict; v.Status != result.OOM || v.Needed != 7 || !failedOn(v.Cause, 1, "node00") {
		t.Errorf("%+v", v)
	}
}

// A coarse clock does not delay any rank.
func TestStepsBelowClockResolution(t *testing.T) {
	g, _ := fakeSteps(t, sweeps.Options{Iterations: 3}, func(f *fakeTrainer) {
		f.times = func(step.Point, program.Mode) time.Duration {
			return time.Duration(1-f.world.Rank) * time.Millisecond
		}
	})
	if g.round != 3 || g.runs[0].rounds[2].Compute != 1e-3 {
		t.Errorf("%d rounds, the last is %+v", g.round, g.runs[0].rounds)
	}
}

// Rotations of points and modes remain independent if a point is skipped.
func TestOrderOfRemainingPoints(t *testing.T) {
	_, f := fakeSteps(t, sweeps.Options{Iterations: 8}, func(f *fakeTrainer) {
		f.refuse = func(p step.Point) error {
			if p.Bucket == step.All {
				return &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: "not this one"}}
			}
			return nil
		}
	})
	begins := map[string]bool{}
	for round := range 8 {
		begins[f.ran[8*round]] = true
	}
	if len(begins) != 8 {
		t.Errorf("eight rounds of two points begin in %d ways: %v", len(begins), begins)
	}
}

// A failed point has its reason; the library is reset, and the other points keep their rounds.
func TestFailedStepPoint(t *testing.T) {
	failed := false
	g, f := fakeSteps(t, sweeps.Options{Iterations: 5}, func(f *fakeTrainer) {
		f.fail = func(p step.Point, runs int) error {
			if f.world.Rank == 0 || p.Bucket != 8<<10 || runs < 20 {
				return nil
			}
			failed = true
			return &bench.OperationError{Status: result.Failed, Err: errors.New("a remote rank is gone")}
		}
	})
	if !failed || f.recovered != 1 || f.bound != 2 {
		t.Fatalf("%d recoveries, %d bound", f.recovered, f.bound)
	}
	if v := g.points[1].verdict; v.Status != result.Failed ||
		v.Cause != (notice.RankFailed{Rank: 1, Host: "node00", Problem: "a remote rank is gone"}) {
		t.Errorf("%+v", v)
	}
	for _, r := range g.alive() {
		test.EqOp(t, 5, len(r.rounds), test.Sprint(r.Point))
	}
	test.EqOp(t, 2, len(g.alive()))
	test.EqOp(t, 0, f.unclean)
}

// Garbage of a round is collected before the next round.
func TestGarbageOfStepRounds(t *testing.T) {
	var collected []uint32 // by each step of rank 0
	fakeSteps(t, sweeps.Options{Iterations: 4}, func(f *fakeTrainer) {
		f.times = func(step.Point, program.Mode) time.Duration {
			var m runtime.MemStats
			if f.world.Rank == 0 {
				runtime.ReadMemStats(&m)
				collected = append(collected, m.NumGC)
			}
			return time.Millisecond
		}
	})
	for i := 12; i < len(collected); i += 12 {
		if collected[i] == collected[i-12] {
			t.Errorf("no garbage collection between steps %d and %d", i-12, i)
		}
	}
}

// Data that no operation has changed is wrong, and is not timed.
func TestStepDataIsChecked(t *testing.T) {
	g, f := fakeSteps(t, sweeps.Options{Iterations: 3, Check: 1}, func(*fakeTrainer) {})
	if len(g.alive()) != 0 || len(f.ran) != 3 {
		t.Errorf("%d points are measured, %d steps were run", len(g.alive()), len(f.ran))
	}
	for _, p := range g.points {
		if p.verdict.Status != result.Wrong || wrongIn(p.verdict.Cause) != "bucket 1" {
			t.Errorf("%s: %+v", p.Point, p.verdict)
		}
	}
}

// atPart is a step that hangs.
type atPart struct {
	part  uint64
	doing string
}

func (p atPart) Position() (uint64, string) { return p.part, p.doing }

// A hang in a step reports segments and operations; the rank that started fewer of them is behind.
func TestHangInAStep(t *testing.T) {
	w := hang.NewWatchdog(time.Minute, func(launch.State) {})
	w.Case(7, "resnet50 ddp 25M float32, polling")
	w.Phase("round 3, overlapped", 0)
	var states []launch.State
	for _, p := range []atPart{{12, "waiting for bucket 3"}, {9, "computing backward bucket 3"}} {
		w.InStep(p)
		states = append(states, w.State())
	}
	w.InStep(nil)
	if s := w.State(); s.Stage != "" || s.Iteration != 0 {
		t.Errorf("without a step it is %+v", s)
	}
	states[0].Host, states[1].Host = "node1", "node2"
	text := hang.Diagnose(
		[]launch.Report{{Rank: 1, Host: "node2", Standing: launch.Answered, State: states[1]}},
		states[0],
	).Problem
	want := "rank 1 on node2 is still at part 9 (computing backward bucket 3) of resnet50 ddp 25M float32, polling, " +
		"in phase round 3, overlapped, " +
		"while rank 0 on node1 is at part 12 (waiting for bucket 3)"
	test.StrHasPrefix(t, want, text)
}

// A compute time that differs from the model's time is a warning.
func TestWrongPace(t *testing.T) {
	p := &step.Plan{Segments: []step.Segment{{Pieces: []float64{0.06, 0.04}}}}
	for took, warned := range map[float64]bool{0.1: false, 0.12: false, 0.13: true, 0.07: true} {
		f := step.Figures{Compute: step.Time{Figure: step.Figure{Value: took}}}
		test.EqOp(t, warned, len(wrongPace(p, f)) > 0, test.Sprint(took))
	}
}

// failedOn reports whether a fact is the failure of a rank.
func failedOn(f notice.Fact, rank int, host string) bool {
	failed, is := f.(notice.RankFailed)
	return is && failed.Rank == rank && failed.Host == host
}

// wrongIn returns the part with wrong data.
func wrongIn(f notice.Fact) string {
	wrong, _ := f.(notice.DataWrong)
	return wrong.Of
}
