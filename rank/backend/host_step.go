package backend

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
	"unsafe"

	"busbar/internal/bench"
	"busbar/internal/loop"
	"busbar/internal/operation"
	"busbar/internal/program"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// calibrateTime is how long all ranks compute at once to find out how fast they are.
const calibrateTime = 300 * time.Millisecond

// hostComputing is the threads of a rank that compute on a host.
type hostComputing struct {
	crew  *program.Crew
	speed float64 // units of work in a second
}

// Computing implements Trainer. Every rank is given the same work, as in a training, so the slowest rank's speed sets
// how much of it takes a second; the others finish sooner.
func (b *hostBackend) Computing() (Computing, error) {
	crew, err := program.NewCrew(b.h.Options.Compute.Threads)
	if err != nil {
		return nil, exit.Environmentf("%v", err)
	}
	c := &hostComputing{crew: crew}
	if err := b.w.Group.Barrier(); err != nil {
		return nil, err
	}
	c.speed = crew.Calibrate(calibrateTime)
	if err := b.w.Group.Barrier(); err != nil {
		return nil, err
	}
	slowest := []float64{-c.speed}
	if err := b.w.Max(slowest); err != nil {
		return nil, err
	}
	c.speed = -slowest[0]
	return c, nil
}

func (c *hostComputing) String() string { return units.Count(c.crew.Threads(), "thread") + " of FMA" }

func (c *hostComputing) Close() error {
	c.crew.Close()
	return nil
}

// units are the work that takes as long as each segment does. The next segment compensates the rounding
// of the one before, so the sum does not depend on how a step is cut.
func (c *hostComputing) units(segments []step.Segment) []uint64 {
	all := make([]uint64, len(segments))
	owed := 0.0
	for i, s := range segments {
		owed += s.Seconds() * c.speed
		all[i] = uint64(max(0, math.Round(owed)))
		owed -= float64(all[i])
	}
	return all
}

// bindPlan binds a plan to the reserved memory.
func (b *hostBackend) bindPlan(c *hostComputing, p *step.Plan, sync *launch.Barrier) (Training, error) {
	area := b.w.Area.bytes()
	if p.Bytes > int64(len(area)) {
		return nil, &bench.MemoryError{Needed: p.Bytes, Err: errSmallBuffers}
	}
	t := &hostTraining{b: b, plan: p, sync: sync}
	spec := program.HostSpec{Segments: c.units(p.Segments), Sync: sync.Step, SyncContext: sync.Context}
	if p.Point.Progress == step.Poll {
		spec.Interval = b.h.Options.Compute.Poll
	}
	for i := range p.Ops {
		o, err := t.bind(i, area)
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
		spec.Ops = append(spec.Ops, o)
	}
	var err error
	if t.host, err = program.NewHost(c.crew, spec); err == nil {
		t.loop, err = loop.New(t.host.Steps(), 1)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// hostTraining is a plan bound to a library on a host.
type hostTraining struct {
	b     *hostBackend
	plan  *step.Plan
	sync  *launch.Barrier
	calls []hostCall
	views []bench.Buffers
	host  *program.Host
	loop  *loop.Loop
}

// bind makes operation i of the plan ready.
func (t *hostTraining) bind(i int, area []byte) (o program.HostOp, err error) {
	op := t.plan.Ops[i]
	c, err := t.plan.Case(i)
	if err != nil {
		return o, err
	}
	if err := t.b.lacks(c.Type, c.Op); err != nil {
		return o, err
	}
	mine := area[op.At : op.At+c.MemoryBytes(t.b.Rank)]
	call, err := t.b.bind(operation.Host{Spec: operation.Spec{Case: c}, Recv: unsafe.Pointer(unsafe.SliceData(mine))})
	if err != nil {
		return o, err
	}
	t.calls, t.views = append(t.calls, call), append(t.views, t.b.buffers(c, nil, mine))
	o.Link = program.Link{After: op.After, Before: op.Before}
	if t.plan.Point.Progress == step.Thread {
		steps := call.Steps()
		o.Issue, o.Context = steps.Issue, steps.Context
		return o, nil
	}
	o.Async, err = call.Async()
	return o, err
}

// Run implements Training.
func (t *hostTraining) Run(m program.Mode) (start, end int64, err error) {
	t.host.SetMode(m)
	s, err := t.loop.Run(1, 1)
	var failed *loop.StepError
	if errors.As(err, &failed) {
		return 0, 0, t.failed(failed)
	}
	if err != nil {
		return 0, 0, err
	}
	return s.Start[0], s.End[0], nil
}

// failed names the operation whose error ended a step.
func (t *hostTraining) failed(e *loop.StepError) error {
	op, code := t.host.Failed()
	if e.Stage == loop.Sync || op < 0 {
		return fmt.Errorf("barrier before a step: %w", t.sync.Failed(e.Code))
	}
	failed := t.calls[op].failed(&loop.StepError{Code: code, Stage: loop.Issue, At: e.At})
	return fmt.Errorf("%s: %w", t.plan.Ops[op].Name, failed)
}

// Position implements Training.
func (t *hostTraining) Position() (part uint64, doing string) {
	switch _, stage := t.loop.Position(); stage {
	case loop.Idle:
		return 0, ""
	case loop.Sync:
		return 0, "waiting for all ranks to begin a step"
	}
	at := t.host.InHand()
	op := ""
	if at.Op >= 0 {
		op = t.plan.Ops[at.Op].Name
	}
	switch {
	case at.Segment >= 0 && op != "":
		return at.Parts, fmt.Sprintf("computing %s, %s in flight", t.plan.Segments[at.Segment].Name, op)
	case at.Segment >= 0:
		return at.Parts, "computing " + t.plan.Segments[at.Segment].Name
	case op != "":
		return at.Parts, "waiting for " + op
	}
	return at.Parts, "between two segments"
}

// Spans implements Training.
func (t *hostTraining) Spans() program.Spans { return t.host.Spans() }

// Buffers implements Training.
func (t *hostTraining) Buffers(op int) bench.Buffers { return t.views[op] }

// Notes implements Training: those of all operations, each once.
func (t *hostTraining) Notes() (all []string) {
	for _, c := range t.calls {
		for _, n := range c.Notes() {
			if !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// Close implements Training.
func (t *hostTraining) Close() (err error) {
	if t.loop != nil {
		t.loop.Close()
	}
	if t.host != nil {
		t.host.Close()
	}
	for _, c := range t.calls {
		err = errors.Join(err, c.Close())
	}
	return err
}
