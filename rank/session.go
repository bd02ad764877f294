package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/ledger"
	"busbar/rank/machine"
)

// session is one library measured in one world on this rank.
type session struct {
	*subworld
	lib     backend.Library
	backend backend.Backend
	used    map[coll.Collective]bool // collectives whose first operation was timed; rank 0 only
	cases   []coll.Case
	room    []room // by case

	// Rank 0 only.
	sheet *ledger.Sheet
	done  map[result.PointKey]bool
	run   result.Run
}

// head makes the header of this library's file in this world, and finds what it continues.
func (s *session) head() {
	j := s.j
	s.run = j.header(s.p, s.lib, s)
	s.run.Setup = backend.SetupOf(s.backend)
	if len(s.sessions) > 1 {
		for _, o := range s.sessions {
			s.run.Interleaved = append(s.run.Interleaved, o.lib.Name())
		}
	}
	if s.p.past != nil {
		s.done, s.run.Resumes = s.p.past.Done(s.run.Key())
		s.run.Resumes = append(s.p.past.Unfit(s.lib.Name(), s.world.Size), s.run.Resumes...)
		if s.p.campaign == s.p.launch && len(s.run.Resumes) > 0 { // for all files of this launch, so that they stay together
			s.p.campaign = cmp.Or(s.p.past.Campaign(s.run.Resumes), s.p.launch)
		}
	}
	for cycle := range max(1, j.cfg.cycles) {
		for i := range s.cases {
			if s.wanted(i, cycle) {
				s.run.Sweep.Points++
			}
		}
	}
}

// openFile makes the results file of this library in this world.
func (s *session) openFile() error {
	j := s.j
	j.watch.Phase("open the results file", 0)
	s.run.Campaign = s.p.campaign
	w, err := result.Create(j.cfg.out, s.run, s.rankLines())
	if err != nil {
		return exit.With(exit.Environment, err)
	}
	w.Warn = func(text string) { fmt.Fprintf(j.stderr, "rank: %s\n", text) }
	s.sheet = j.ledger.Open(w, s.run.Sweep.Points)
	return nil
}

// cycle is the number of a cycle in records: 0 where there is only one.
func (s *session) cycle(i int) int {
	if s.j.cfg.cycles == 1 {
		return 0
	}
	return i + 1
}

// wanted says whether a case is to be measured in a cycle, or is there from a run that this one continues.
func (s *session) wanted(i, cycle int) bool {
	return !s.done[result.Point(s.lib.Name(), s.cases[i], s.cycle(cycle))]
}

// measureOne measures one case, the other ranks following, and keeps its record.
func (s *session) measureOne(i, cycle int, budget time.Duration) error {
	c := s.cases[i]
	s.j.ledger.Begin(s.sheet, result.Record{Kind: result.KindCase, Case: c, Cycle: cycle})
	s.j.screen.Begin(s.lib.Name(), c)
	started := time.Now()
	r, err := s.observed(i, budget)
	if err != nil {
		return err
	}
	r.Cycle = cycle
	return s.keep(r, time.Since(started))
}

// observed measures a case, with what moved on the network meanwhile and how loaded this host is.
func (s *session) observed(i int, budget time.Duration) (*result.Record, error) {
	before := s.counters.Read()
	r, err := s.attempt(i, budget)
	if err != nil {
		return nil, err
	}
	r.Load1 = machine.Load("/")
	after := s.counters.Read()
	r.Network = after.Since(before)
	hosts, _ := shape(s.machines)
	r.Warnings.Add(machine.LinkWarnings(before, after, hosts)...)
	return r, nil
}

// attempt measures a case, and again where it failed and --retry allows it; what failed before stands as a warning.
func (s *session) attempt(i int, budget time.Duration) (*result.Record, error) {
	var failed []notice.Fact
	for try := 1; ; try++ {
		l, ok := s.lib.(backend.Connector)
		connects := ok && l.ConnectsAtFirstUse()
		o := command{What: orderMeasure, Session: int32(slices.Index(s.sessions, s)), Case: int32(i), Budget: budget,
			Left: s.pace.Remaining(), First: connects && !s.used[s.cases[i].Collective]}
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
		if r.Status != result.Failed && r.Status != result.OOM || try > s.j.cfg.retry {
			r.Warnings.Add(failed...)
			return r, nil
		}
		failed = append(failed, notice.AttemptFailed{Attempt: try, Status: string(r.Status), Cause: r.Cause})
	}
}

// keep writes a record that took so long to make.
func (s *session) keep(r *result.Record, took time.Duration) error {
	s.j.watch.Phase("write the record", 0)
	median, late := bench.Shorten(r.Ranks, s.world)
	if err := s.j.keep(s.sheet, s.tally, r, median, late); err != nil {
		return err
	}
	s.pace.Kept(r, took)
	s.j.screen.Row(s.lib.Name(), r)
	return nil
}

// warmupTime is how long operations are warmed up at least, unless five of them are over before.
const warmupTime = 250 * time.Millisecond

// measure is collective: all ranks measure the case that rank 0 has ordered.
func (s *session) measure(wanted command) (*result.Record, error) {
	c := s.cases[wanted.Case]
	name := c.String()
	if len(s.sessions) > 1 {
		name = s.lib.Name() + " " + name
	}
	s.j.number++
	s.j.watch.CaseOf(s.j.number, name, s.label)
	defer s.j.watch.Case(s.j.number, "")
	o := bench.Options{Precision: s.p.sweep.Precision, Budget: wanted.Budget, Iterations: s.p.sweep.Iterations, Warmup: s.p.sweep.Warmup,
		Check: s.p.sweep.Check, Aggregate: s.p.sweep.Aggregate, Average: s.j.cfg.average, Clock: s.clock, Watch: s.j.watch}
	if g := backend.GraphOf(s.lib, s.p.sweep.Iterations); g > 0 { // what is issued is a launch of the graph
		o.Aggregate = max(1, o.Aggregate) * g
		o.Warmup = max(1, o.Warmup) // the first launch captures
		if o.Iterations > 0 {
			o.Iterations = s.j.cfg.GPU.Graph
		}
	}
	o.FirstUse, o.Limit = wanted.First, wanted.Left
	o.Clock.EventStep = backend.EventStepOf(s.lib)
	if s.p.sweep.Origins()["warmup"] == "default" { // who asks for a number gets it
		o.WarmupTime = warmupTime
	}
	if nodes, _ := shape(s.machines); nodes > 1 {
		o.Compare = func() (float64, float64, error) {
			s.j.watch.Phase("compare the clocks", 0)
			off, err := launch.MeasureClockOffsets(s.comm, s.machines, s.clock)
			return off.Own, off.Uncertainty + s.clock.Uncertainty, err
		}
	}
	return bench.Measure(s.world, s.backend, c, o)
}
