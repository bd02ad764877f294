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
	if s.backend, err = s.lib.Open(s.world, s.method()); err != nil {
		return err
	}
	s.preparing()
	own := make([]float64, len(s.cases))
	for i, c := range s.cases {
		if own[i] = backend.PageBytes; c.World == s.world.Size { // groups have their own
			own[i] = s.backend.Memory(c)
		}
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
			points += len(turn{s, i}.missing(cycle))
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
		return len(t.missing(cycle)) > 0 && !t.session.room[t.i].Over()
	})
	for k, t := range w.turns {
		missing := t.missing(cycle)
		if len(missing) == 0 {
			continue
		}
		if w.run.stopped(ctx) {
			w.run.tally.over = true
			return measured, nil
		}
		var results []*groupResult
		if r := t.session.leftOutByMemory(t.i); r != nil {
			results = append(results, &groupResult{Record: r})
		} else if budget, why := w.pace.Next(k); why != nil {
			for _, c := range missing {
				r := bench.NotMeasured(result.Record{Case: c}, result.Skipped, why)
				results = append(results, &groupResult{Record: r})
			}
		} else {
			measured = true
			if results, err = t.measure(missing, t.session.cycle(cycle), budget); err != nil {
				return measured, err
			}
		}
		for _, r := range results {
			if r.Record.Cycle = t.session.cycle(cycle); !slices.Contains(missing, r.Record.Case) {
				continue // of a group of which an earlier run has it
			}
			w.place(r.Record)
			if err := t.session.keep(r); err != nil {
				return measured, err
			}
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
		if _, err := w.sessions[o.Session].perform(o); err != nil {
			return err
		}
	}
}

// perform executes an order. Rank 0 returns the results. Collective.
func (s *session) perform(o order) ([]*groupResult, error) {
	s.run.number++
	var r *result.Record
	var err error
	switch of := s.cases[o.Case].Groups; {
	case of.Division.IsDimension():
		r, err = measureInDimensions(s, o)
	case of.Divided():
		return s.measureInGroups(o)
	default:
		r, err = s.observed(o, nil)
	}
	if r == nil {
		return nil, err
	}
	if r.FirstUse > 0 {
		s.used[r.Collective] = true
	}
	return []*groupResult{newResult(s.worldRun, r)}, err
}

// newResult returns a record with the times of all ranks of its world.
func newResult(w *worldRun, r *result.Record) *groupResult {
	return &groupResult{w.world.Name(0), r, bench.Shorten(r.Ranks, w.world.World)}
}

// observed measures a case. Rank 0 records network traffic and host load during it. Collective.
func (s *session) observed(o order, t *together) (*result.Record, error) {
	if s.world.Rank != 0 {
		return s.measure(o, t)
	}
	before := s.counters.Read()
	r, err := s.measure(o, t)
	if err != nil {
		return nil, err
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
func (s *session) keep(r *groupResult) error {
	if err := s.run.keep(s.sheet, r.Record, r.AllRanks); err != nil {
		return err
	}
	s.pace.Kept(r.Record)
	s.run.Screen.Row(s.lib.Name(), r.Record)
	return nil
}

// measure measures the case of the current order; t is nil unless other groups measure at the same time. Collective.
func (s *session) measure(o order, t *together) (*result.Record, error) {
	c := s.cases[o.Case]
	b, name, group := measuring(s, c)
	if len(s.sessions) > 1 {
		name = s.lib.Name() + " " + name
	}
	s.run.Watch.CaseOf(s.run.number, name, group)
	defer s.run.Watch.Case(s.run.number, "")
	options := s.options(o)
	if t != nil {
		options.Together = t
	}
	return bench.Measure(s.world.World, b, c, options)
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
