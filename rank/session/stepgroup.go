package session

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"busbar/internal/bench"
	"busbar/internal/program"
	"busbar/internal/result"
	"busbar/rank/launch"
)

// stepGroup holds points that differ only by bucket size. Their rounds are interleaved.
type stepGroup struct {
	s      *stepSession
	points []*stepPoint
	runs   []*stepPoint // points in measurement
	round  int          // the last round, from 1
	stop   stepStop
}

// errStepLost means that a point failed while all ranks are alive; its verdict has the reason.
var errStepLost = errors.New("the point failed")

// measure binds the points of the group, checks their data, warms up, measures rounds and keeps the records. over
// reports that the run ends. Collective.
func (g *stepGroup) measure(ctx context.Context) (over bool, err error) {
	for _, do := range []func() error{g.bind, g.checkData, g.fill, g.warmUp} {
		if err := do(); err != nil {
			return false, err
		}
	}
	if over, err = g.measureRounds(ctx); err != nil {
		return false, err
	}
	return over, g.keep(over)
}

// bind prepares the points that fit memory and library.
func (g *stepGroup) bind() error {
	for _, p := range g.points {
		if p.verdict.Over() {
			continue
		}
		p.check.Result = "off"
		if err := g.bindOne(p); err != nil {
			return err
		}
		if !p.verdict.Over() {
			g.runs = append(g.runs, p)
		}
	}
	return nil
}

// bindOne binds a point. It sets the verdict if the library does not support the point.
func (g *stepGroup) bindOne(r *stepPoint) error {
	g.begin(r)
	defer g.s.run.Watch.Case(g.s.run.number, "")
	g.s.run.Watch.Phase("prepare", 0)
	var err error
	r.train, err = g.s.trainer.Train(g.s.computing, r.plan)
	v, fatal := g.s.world.Prepared(err)
	if fatal == nil && v.Over() {
		r.verdict = v
		if r.train != nil {
			fatal = r.train.Close()
		}
	}
	if fatal == nil && !v.Over() {
		r.notes = r.train.Notes()
	}
	return fatal
}

// begin records the current point.
func (g *stepGroup) begin(r *stepPoint) {
	s := g.s
	s.run.number++
	s.run.Watch.Case(s.run.number, s.run.Plan.Step.Model.Name+" "+r.Point.String())
	if s.world.Rank == 0 {
		s.run.Ledger.Begin(s.sheet, &result.StepRecord{N: r.n, Point: r.Point})
	}
}

// each calls a function for every point in measurement. If a point fails, it recovers the library and binds the other
// points again.
func (g *stepGroup) each(order []*stepPoint, do func(*stepPoint) error) error {
	for _, r := range order {
		if r.verdict.Over() {
			continue
		}
		g.begin(r)
		g.s.run.Watch.InStep(r.train)
		err := do(r)
		g.s.run.Watch.InStep(nil)
		g.s.run.Watch.Case(g.s.run.number, "")
		if errors.Is(err, errStepLost) {
			err = g.recover()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recover resets the library after a point failed, binds the other points again and clears their shared memory.
func (g *stepGroup) recover() error {
	var left []*stepPoint
	for _, r := range g.runs {
		if err := r.train.Close(); err != nil {
			return err
		}
		if !r.verdict.Over() {
			left = append(left, r)
		}
	}
	g.s.run.Watch.Phase("recover", 0)
	if err := g.s.backend.(bench.Recoverer).Recover(); err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	g.runs = nil
	for _, r := range left {
		if err := g.bindOne(r); err != nil {
			return err
		}
		if !r.verdict.Over() {
			g.runs = append(g.runs, r)
		}
	}
	return g.fill()
}

// run runs one step of a point in a mode. It returns errStepLost if an operation fails while all ranks are alive.
func (g *stepGroup) run(r *stepPoint, m program.Mode, phase string) (start, end int64, err error) {
	g.s.run.Watch.Phase(phase, g.expected(r, m))
	start, end, err = r.train.Run(m)
	if _, ok := g.s.backend.(bench.Recoverer); ok {
		var v bench.Verdict
		if v, err = g.s.world.Ran(err); err == nil && v.Over() {
			r.verdict = v
			return 0, 0, errStepLost
		}
	}
	if err != nil {
		return 0, 0, &bench.Fatal{
			Phase: fmt.Sprintf("%s of %s %s", phase, g.s.run.Plan.Step.Model.Name, r.Point),
			Err:   err,
		}
	}
	took := []float64{float64(max(end-start, 1)) / 1e9} // above 0 on all ranks, so that all join the exchange below
	if r.expected[m] == 0 {                             // the first step of a mode sets its expected time
		err = g.s.world.Max(took)
	}
	r.expected[m] = took[0]
	return start, end, err
}

// The assumed speed of a step without a measurement, for the watchdog: that of a slow network.
const (
	slowNetwork   = 100e6 // B/s
	slowOperation = 1e-3  // s
)

// expected returns the expected time of a step.
func (g *stepGroup) expected(r *stepPoint, m program.Mode) time.Duration {
	if t := r.expected[m]; t > 0 {
		return seconds(t)
	}
	var sum float64
	if m.Computes() {
		for _, s := range r.plan.Segments {
			sum += s.Seconds()
		}
	}
	if m.Communicates() {
		sum += slowOperation*float64(len(r.plan.Ops)) + float64(r.plan.Bytes)*float64(r.plan.World)/slowNetwork
	}
	return seconds(sum)
}

// warmUp runs rounds that are not recorded.
func (g *stepGroup) warmUp() error {
	for range g.s.run.Plan.Sweep.Warmup {
		err := g.each(g.runs, func(r *stepPoint) error {
			for _, m := range program.Modes {
				if _, _, err := g.run(r, m, "warm-up, "+m.String()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// measureRounds measures rounds until rank 0 decides to stop.
func (g *stepGroup) measureRounds(ctx context.Context) (over bool, err error) {
	// The garbage collector runs before each round, not while operations are timed.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	g.stop.begin(g.s.run.Plan.Sweep.Options, len(g.runs), g.s.run.Plan.Options.Flags.Budget != nil)
	for {
		next := stepGoesOn
		if g.s.world.Rank == 0 {
			next = g.decide(ctx)
		}
		if err := launch.Broadcast(g.s.world.Group, &next); err != nil {
			return false, err
		}
		if next != stepGoesOn {
			return next == stepOver, nil
		}
		runtime.GC()
		if err := g.measureRound(); err != nil {
			return false, err
		}
	}
}

// stepDecision is the decision of rank 0 between two rounds.
type stepDecision int32

const (
	stepGoesOn stepDecision = iota
	stepEnough
	stepOver
)

// decide decides what follows a round. Rank 0 only.
func (g *stepGroup) decide(ctx context.Context) stepDecision {
	if len(g.alive()) == 0 {
		return stepEnough
	}
	if g.s.run.stopped(ctx) {
		g.stop.reason = stoppedByRequest
		return stepOver
	}
	if g.stop.enough(g.alive()) {
		return stepEnough
	}
	return stepGoesOn
}

// alive returns the points that did not fail.
func (g *stepGroup) alive() (left []*stepPoint) {
	for _, r := range g.runs {
		if !r.verdict.Over() {
			left = append(left, r)
		}
	}
	return left
}
