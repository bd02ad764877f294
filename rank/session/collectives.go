package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/ledger"
	"busbar/rank/machine"
	"busbar/rank/pace"
	"busbar/rank/screen"
)

// session is one library in one world, on this rank.
type session struct {
	*worldRun
	lib     backend.Library
	backend backend.Backend
	cases   []coll.Case
	room    []bench.Verdict // by case: whether its buffers fit

	// Rank 0 only.
	used   map[coll.Collective]bool // collectives whose first operation was timed
	sheet  *ledger.Sheet
	done   result.Done
	header result.Run
}

// open prepares the library for its cases. Collective.
func (s *session) open() (err error) {
	s.used = map[coll.Collective]bool{}
	if s.cases, err = s.run.Plan.Cases(s.lib.Name(), s.world.Size); err != nil {
		return err
	}
	if s.backend, err = s.lib.Open(s.world, s.method()); err != nil {
		return err
	}
	s.preparing()
	own := make([]float64, len(s.cases))
	for i, c := range s.cases {
		own[i] = s.backend.Memory(c)
	}
	if s.room, err = s.makeRoom(own); err != nil {
		return err
	}
	return s.backend.Ready()
}

// method returns the measuring method of this session.
func (s *session) method() backend.Method {
	p := s.run.Plan
	return backend.Method{Layout: p.Options.Layout(p.Sweep, s.cases, s.world.Rank), Aggregate: p.Sweep.Aggregate,
		Iterations: p.Sweep.Iterations}
}

// resume finds the runs that this session continues. All files of the launch join their campaign. Rank 0 only.
func (s *session) resume() {
	p := s.run.Plan
	if p.Past == nil {
		s.done = result.Done{}
		return
	}
	s.done, s.header.Resumes = p.Past.Done(s.header.Key())
	if p.Campaign == p.Launch && len(s.header.Resumes) > 0 {
		p.Campaign = cmp.Or(p.Past.Campaign(s.header.Resumes), p.Launch)
	}
}

// countPoints counts the points of the plan that are to be measured.
func (s *session) countPoints() (points int) {
	for cycle := range max(1, s.run.Plan.Options.Cycles) {
		for i := range s.cases {
			if s.wanted(i, cycle) {
				points++
			}
		}
	}
	return points
}

// openFile creates the results file of this library in this world.
func (s *session) openFile() (err error) {
	s.header.Campaign = s.run.Plan.Campaign
	s.sheet, err = s.run.createFile(s.header, s.rankLines())
	return err
}

// file returns the results file for the screen.
func (s *session) file() screen.File { return screen.File{Run: &s.header, Path: s.sheet.Path()} }

// cycle returns the number of a cycle in records; 0 if there is only one.
func (s *session) cycle(i int) int {
	if s.run.Plan.Options.Cycles == 1 {
		return 0
	}
	return i + 1
}

// wanted reports whether a case must be measured in a cycle: no earlier run has it.
func (s *session) wanted(i, cycle int) bool {
	return !s.done.Has(result.Point(s.lib.Name(), s.cases[i], s.cycle(cycle)))
}

// measureCases measures all cases of all libraries. Collective.
func (w *worldRun) measureCases(ctx context.Context) error {
	if w.world.Rank != 0 {
		return w.follow()
	}
	if err := w.openFiles(); err != nil {
		return err
	}
	return w.lead(ctx)
}

// openFiles creates the files of all libraries and orders their cases. Rank 0 only.
func (w *worldRun) openFiles() error {
	for _, s := range w.sessions { // each may change the campaign of all files
		s.header = s.runHeader()
		s.resume()
		s.header.Sweep.Points = s.countPoints()
	}
	var files []screen.File
	for _, s := range w.sessions {
		if err := s.openFile(); err != nil {
			return err
		}
		files = append(files, s.file())
	}
	w.turns = takeTurns(w.sessions)
	var cases []coll.Case
	for _, t := range w.turns {
		cases = append(cases, t.session.cases[t.i])
	}
	w.counters = machine.OpenCounters("/")
	_, perNode := w.nodes()
	options := w.run.Plan.Sweep.Options
	w.pace = &pace.Pace{
		Cases:   cases,
		Options: options,
		PerNode: perNode,
		Until:   w.run.until(w.world.Size),
	}
	w.run.Screen.Head(files, screen.Ranks(files[0].Run), options)
	for _, note := range append(w.run.Plan.Sweep.Unmet(), w.run.Plan.Sweep.LeftOut(w.world.Size)...) {
		w.run.Screen.Note("%s", note)
	}
	return nil
}

// endFiles records clock reductions of GPUs and closes the files of all libraries. Rank 0 only.
func (w *worldRun) endFiles() error {
	var sheets []*ledger.Sheet
	for _, s := range w.sessions {
		w.run.Ledger.Throttled(s.sheet, backend.ThrottledOf(s.backend))
		sheets = append(sheets, s.sheet)
	}
	return w.run.endFiles(sheets...)
}

// order is the next action of all ranks of a world: measure a case, or stop.
type order struct {
	Session int32
	Case    int32 // -1: stop
	Budget  time.Duration
	Left    time.Duration // of --time-limit; 0: no limit
	First   bool          // time the first operation of the collective
}

// stop is the order that ends a world.
var stop = order{Case: -1}

// give distributes the order of rank 0. Collective.
func (w *worldRun) give(o *order) error { return launch.Broadcast(w.world.Group, o) }

// lead goes through the plan on rank 0.
func (w *worldRun) lead(ctx context.Context) error {
	cycles := w.run.Plan.Options.Cycles
	for cycle := 0; cycles == 0 || cycle < cycles; cycle++ {
		w.pace.Cycles = max(1, cycles-cycle)
		measured, err := w.leadCycle(ctx, cycle)
		if err != nil {
			return err
		}
		// A run without a number of cycles ends at its time limit, or if a cycle measures nothing.
		if w.run.tally.over || cycles == 0 && (!measured || w.pace.Over()) {
			break
		}
	}
	return w.give(&stop)
}

// leadCycle goes through the plan once. measured reports whether it measured any case.
func (w *worldRun) leadCycle(ctx context.Context, cycle int) (measured bool, err error) {
	w.pace.Begin(func(k int) bool {
		t := w.turns[k]
		return t.session.wanted(t.i, cycle) && !t.session.room[t.i].Over()
	})
	for k, t := range w.turns {
		s := t.session
		if !s.wanted(t.i, cycle) {
			continue
		}
		if w.run.stopped(ctx) {
			w.run.tally.over = true
			return measured, nil
		}
		r := s.leftOutByMemory(t.i)
		if r == nil {
			budget, why := w.pace.Next(k)
			if why != nil {
				r = bench.NotMeasured(result.Record{Case: s.cases[t.i]}, result.Skipped, why)
			} else {
				measured = true
				if r, err = s.measureOne(t.i, s.cycle(cycle), budget); err != nil {
					return measured, err
				}
			}
		}
		r.Cycle = s.cycle(cycle)
		if err := s.keep(r); err != nil {
			return measured, err
		}
	}
	return measured, nil
}

// follow executes the orders of rank 0 on the other ranks.
func (w *worldRun) follow() error {
	for {
		w.run.Watch.Phase(hang.WaitForRank0, 0)
		var o order
		if err := w.give(&o); err != nil {
			return err
		}
		if o.Case < 0 {
			return nil
		}
		if _, err := w.sessions[o.Session].measure(o); err != nil {
			return err
		}
	}
}

// measureOne measures one case together with the other ranks.
func (s *session) measureOne(i, cycle int, budget time.Duration) (*result.Record, error) {
	s.run.Ledger.Begin(s.sheet, &result.Record{Kind: result.KindCase, Case: s.cases[i], Cycle: cycle})
	return s.observed(i, budget)
}

// observed measures a case and records network traffic and host load during it.
func (s *session) observed(i int, budget time.Duration) (*result.Record, error) {
	before := s.counters.Read()
	l, ok := s.lib.(backend.Connector)
	o := order{Session: int32(slices.Index(s.sessions, s)), Case: int32(i), Budget: budget,
		Left: s.pace.Remaining(), First: ok && l.ConnectsAtFirstUse() && !s.used[s.cases[i].Collective]}
	if err := s.give(&o); err != nil {
		return nil, err
	}
	r, err := s.measure(o)
	if err != nil {
		return nil, err
	}
	if r.FirstUse > 0 {
		s.used[r.Collective] = true
	}
	r.Notes = append(r.Notes, s.run.Plan.Sweep.Notes(r.Case)...)
	r.Load1 = machine.Load("/")
	after := s.counters.Read()
	r.Network = after.Since(before)
	hosts, _ := s.nodes()
	r.Warnings.Add(machine.LinkWarnings(before, after, hosts)...)
	return r, nil
}

// keep writes a record.
func (s *session) keep(r *result.Record) error {
	if err := s.run.keep(s.sheet, r, bench.Shorten(r.Ranks, s.world.World)); err != nil {
		return err
	}
	s.pace.Kept(r)
	s.run.Screen.Row(s.lib.Name(), r)
	return nil
}

// measure measures the case of the current order. Collective.
func (s *session) measure(o order) (*result.Record, error) {
	c := s.cases[o.Case]
	name := c.String()
	if len(s.sessions) > 1 {
		name = s.lib.Name() + " " + name
	}
	s.run.number++
	s.run.Watch.CaseOf(s.run.number, name, s.label)
	defer s.run.Watch.Case(s.run.number, "")
	return bench.Measure(s.world.World, s.backend, c, s.options(o))
}

// warmupTime is the default minimum warm-up time; five operations are enough if they take longer.
const warmupTime = 250 * time.Millisecond

// options returns the options of a case.
func (s *session) options(order order) bench.Options {
	p := s.run.Plan
	o := bench.Options{Precision: p.Sweep.Precision, Budget: order.Budget, Iterations: p.Sweep.Iterations,
		Warmup: p.Sweep.Warmup, Check: p.Sweep.Check, Aggregate: p.Sweep.Aggregate, Average: p.Options.Average,
		Clock: s.clock, FirstUse: order.First, Limit: order.Left, Watch: s.run.Watch}
	if g := backend.GraphOf(s.lib, p.Sweep.Iterations); g > 0 { // an operation is a launch of the graph
		o.Aggregate = max(1, o.Aggregate) * g
		o.Warmup = max(1, o.Warmup) // the first launch captures
		if o.Iterations > 0 {
			o.Iterations = p.Options.GPU.Graph
		}
	}
	if p.Sweep.Origins()["warmup"] == "default" {
		o.WarmupTime = warmupTime
	}
	if nodes, _ := s.nodes(); nodes > 1 {
		o.Compare = func() (float64, float64, error) {
			s.run.Watch.Phase("compare the clocks", 0)
			off, err := launch.MeasureClockOffsets(s.world.Group, s.machines, s.clock)
			return off.Own, off.Uncertainty + s.clock.Uncertainty, err
		}
	}
	return o
}
