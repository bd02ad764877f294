package main

import (
	"context"
	"fmt"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/mpi"
)

// session is one world being measured on this rank.
type session struct {
	j        *job
	p        *plan
	comm     *mpi.Comm
	world    bench.World
	lib      library
	backend  backend
	setup    []result.Setup
	used     map[coll.Collective]bool // collectives whose first operation was timed; rank 0 only
	cases    []coll.Case
	room     []room // by case
	clock    bench.Clock
	hosts    []string // by rank, for people
	machines []string // by rank: equal where ranks share a clock and memory

	// Rank 0 only.
	sheet    *sheet
	tally    *tally
	counters *counterFiles
	pace     *pace
	done     map[result.PointKey]bool
	run      result.Run
}

// measureWorld measures the whole plan with one library on one (sub-)world. Collective over comm.
func (j *job) measureWorld(ctx context.Context, p *plan, lib library, comm *mpi.Comm, tally *tally) error {
	s := &session{j: j, p: p, lib: lib, comm: comm, tally: tally, used: map[coll.Collective]bool{}}
	for _, f := range j.ranks[:comm.Size()] {
		s.hosts, s.machines = append(s.hosts, f.Host), append(s.machines, f.Machine)
	}
	s.world = bench.World{Rank: comm.Rank(), Size: comm.Size(), Hosts: s.hosts, Comm: mpiComm{comm}}
	j.watch.Phase(fmt.Sprintf("prepare a world of %d", comm.Size()), 0)
	var err error
	if s.cases, err = p.sweep.Plan(comm.Size(), places(lib.name())); err != nil {
		return err
	}
	if s.backend, err = lib.open(s); err != nil {
		return err
	}
	j.watch.Phase(fmt.Sprintf("prepare a world of %d", comm.Size()), 0)
	if err := s.prepareClock(); err != nil {
		return err
	}
	if err := s.prepareMemory(); err != nil {
		return err
	}
	if err := s.backend.ready(); err != nil {
		return err
	}
	if s.world.Rank == 0 {
		if err := s.openFile(); err != nil {
			return err
		}
		err = s.lead(ctx)
	} else {
		err = s.follow()
	}
	if err != nil {
		return err
	}
	j.watch.Phase(fmt.Sprintf("close a world of %d", comm.Size()), 0)
	if err := s.backend.close(); err != nil {
		return err
	}
	if s.world.Rank != 0 {
		return nil
	}
	s.counters.close()
	if tally.over {
		j.ledger.finish(result.Interrupted, "asked to end by SIGUSR1", tally.code(), "")
		return nil
	}
	return j.ledger.close(s.sheet, tally.code())
}

// prepareClock learns what the clock can do, what synchronised ranks look like that do nothing, and how far apart the
// clocks of the hosts are.
func (s *session) prepareClock() error {
	var err error
	if s.clock, err = measureClock(); err != nil {
		return err
	}
	off, err := measureOffsets(s.comm, s.machines, s.clock)
	if err != nil {
		return err
	}
	s.clock.Common, s.clock.Offset, s.clock.Uncertainty = true, off.own, off.uncertainty
	return s.measureSkew()
}

// openFile makes the results file of this world.
func (s *session) openFile() error {
	j := s.j
	s.run = j.header(s.p, s.lib, s)
	s.run.Setup = s.setup
	if s.p.past != nil {
		s.done, s.run.Resumes = s.p.past.Done(s.run.Key())
		s.run.Resumes = append(s.p.past.Unfit(s.lib.name(), s.world.Size), s.run.Resumes...)
		if s.p.campaign == s.p.launch && len(s.run.Resumes) > 0 {
			s.run.Campaign = s.p.past.Campaign(s.run.Resumes)
		}
	}
	for cycle := range max(1, j.cfg.cycles) {
		for i := range s.cases {
			if s.wanted(i, cycle) {
				s.run.Sweep.Points++
			}
		}
	}
	j.watch.Phase("open the results file", 0)
	w, err := result.Create(j.cfg.out, s.run, s.rankLines())
	if err != nil {
		return &codeError{exitEnvironment, err}
	}
	w.Warn = func(text string) { fmt.Fprintf(j.stderr, "rank: %s\n", text) }
	s.sheet = j.ledger.open(w, s.run.Sweep.Points)
	s.counters = openCounters("/")
	_, perNode := shape(s.machines)
	s.pace = &pace{cases: s.cases, options: s.p.sweep.Options, perNode: perNode, until: j.until(s.p, s.world.Size, s.lib), planned: s.run.Sweep.Points}
	j.screen.world(s, w.Path())
	return nil
}

// until is when the time of a library's world is over: of what is left, each that still comes gets a share by what it
// costs at the least. Zero without a limit.
func (j *job) until(p *plan, world int, lib library) time.Time {
	if p.sweep.TimeLimit <= 0 {
		return time.Time{}
	}
	var mine, all time.Duration
	for i := len(p.worlds) - 1; i >= 0 && mine == 0; i-- {
		for k := len(j.libraries) - 1; k >= 0 && mine == 0; k-- {
			n, l := p.worlds[i], j.libraries[k]
			if n > j.size {
				continue
			}
			cases, err := p.sweep.Plan(n, places(l.name()))
			if err != nil {
				continue
			}
			cost := worldCost(cases, p.sweep.Options)
			all += cost
			if n == world && l == lib {
				mine = cost
			}
		}
	}
	left := time.Until(j.start.Add(p.sweep.TimeLimit))
	return time.Now().Add(time.Duration(float64(left) * float64(mine) / float64(max(1, all))))
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
	return !s.done[result.Point(s.lib.name(), s.cases[i], s.cycle(cycle))]
}

// The orders of rank 0 to the others: what to do next.
const (
	orderStop = iota
	orderMeasure
)

// lead goes through the plan on rank 0.
func (s *session) lead(ctx context.Context) error {
	number, cycles := uint64(0), s.j.cfg.cycles
	for cycle := 0; cycles == 0 || cycle < cycles; cycle++ {
		measured := false
		s.pace.cycles = max(1, cycles-cycle)
		s.pace.begin(func(i int) bool { return s.wanted(i, cycle) && s.room[i].fits() })
		for i := range s.cases {
			if !s.wanted(i, cycle) {
				continue
			}
			if s.j.askedToStop.Load() || ctx.Err() != nil {
				s.tally.over = true
				return s.order(orderStop, 0, 0, 0, false)
			}
			r := s.leftOutByMemory(i)
			if r == nil {
				budget, why := s.pace.next(i)
				if why == "" {
					number++
					measured = true
					if err := s.measureOne(i, s.cycle(cycle), number, budget); err != nil {
						return err
					}
					continue
				}
				r = skipped(s.cases[i], why)
			}
			r.Cycle = s.cycle(cycle)
			if err := s.keep(r, 0); err != nil {
				return err
			}
		}
		// A soak without end ends when its time is over, or when there is nothing in it to measure.
		if cycles == 0 && (!measured || s.pace.over()) {
			break
		}
	}
	return s.order(orderStop, 0, 0, 0, false)
}

func (s *session) order(what, i int, number uint64, budget time.Duration, first bool) error {
	return s.world.Bcast([]float64{float64(what), float64(i), float64(number), float64(budget), float64(b2i(first))})
}

// measureOne measures one case, the other ranks following, and keeps its record.
func (s *session) measureOne(i, cycle int, number uint64, budget time.Duration) error {
	c := s.cases[i]
	s.j.ledger.begin(s.sheet, result.Record{Kind: result.KindCase, Case: c, Cycle: cycle})
	s.j.screen.begin(c)
	before, started := s.counters.read(), time.Now()
	r, err := s.attempt(i, number, budget)
	if err != nil {
		return err
	}
	r.Cycle, r.Load1 = cycle, load1("/")
	after := s.counters.read()
	r.Network = after.since(before)
	r.Warnings = append(r.Warnings, linkWarnings(before, after)...)
	return s.keep(r, time.Since(started))
}

// attempt measures a case, and again where it failed and --retry allows it; what failed before stands as a warning.
func (s *session) attempt(i int, number uint64, budget time.Duration) (*result.Record, error) {
	var failed []string
	for try := 1; ; try++ {
		_, connects := s.lib.(*ncclLibrary) // its first operation of a collective does
		first := connects && !s.used[s.cases[i].Collective]
		if err := s.order(orderMeasure, i, number, budget, first); err != nil {
			return nil, err
		}
		r, err := s.measure(i, number, budget, first)
		if err != nil {
			return nil, err
		}
		if r.FirstUse > 0 {
			s.used[r.Collective] = true
		}
		if r.Status != result.Failed && r.Status != result.OOM || try > s.j.cfg.retry {
			r.Warnings = append(r.Warnings, failed...)
			return r, nil
		}
		failed = append(failed, fmt.Sprintf("attempt %d: %s: %s", try, r.Status, r.Reason))
	}
}

// keep writes a record that took so long to make.
func (s *session) keep(r *result.Record, took time.Duration) error {
	s.j.watch.Phase("write the record", 0)
	median, late := bench.Shorten(r.Ranks, s.hosts)
	if err := s.j.keep(s.sheet, s.tally, r, median, late); err != nil {
		return err
	}
	s.pace.kept(r, took)
	s.j.screen.row(r)
	return nil
}

// follow does on the other ranks what rank 0 orders.
func (s *session) follow() error {
	for {
		s.j.watch.Phase(waitForRank0, 0)
		order := make([]float64, 5)
		if err := s.world.Bcast(order); err != nil {
			return err
		}
		if order[0] == orderStop {
			return nil
		}
		if _, err := s.measure(int(order[1]), uint64(order[2]), time.Duration(order[3]), order[4] != 0); err != nil {
			return err
		}
	}
}

// warmupTime is how long operations are warmed up at least, unless five of them are over before.
const warmupTime = 250 * time.Millisecond

// measure is collective: all ranks measure case i.
func (s *session) measure(i int, number uint64, budget time.Duration, first bool) (*result.Record, error) {
	c := s.cases[i]
	s.j.watch.Case(number, c.String())
	defer s.j.watch.Case(number, "")
	o := bench.Options{Precision: s.p.sweep.Precision, Budget: budget, Iterations: s.p.sweep.Iterations, Warmup: s.p.sweep.Warmup,
		Check: s.p.sweep.Check, Aggregate: s.p.sweep.Aggregate, Average: s.j.cfg.average, Clock: s.clock, Watch: s.j.watch}
	if g := graphOf(s.j.cfg, s.p, s.lib); g > 0 { // what is issued is a launch of the graph
		o.Aggregate = max(1, o.Aggregate) * g
		o.Warmup = max(1, o.Warmup) // the first launch captures
		if o.Iterations > 0 {
			o.Iterations = s.j.cfg.gpu.graph
		}
	}
	o.FirstUse = first
	if s.p.sweep.Origins()["warmup"] == "default" { // who asks for a number gets it
		o.WarmupTime = warmupTime
	}
	if nodes, _ := shape(s.machines); nodes > 1 {
		o.Compare = func() (float64, float64, error) {
			s.j.watch.Phase("compare the clocks", 0)
			off, err := measureOffsets(s.comm, s.machines, s.clock)
			return off.own, off.uncertainty + s.clock.Uncertainty, err
		}
	}
	return bench.Measure(s.world, s.backend, c, o)
}

// layout is how this rank's buffers lie.
func (s *session) layout() layout { return layout{rank: s.world.Rank, rotate: s.j.cfg.rotate} }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shape counts the machines and the largest number of ranks on one.
func shape(machines []string) (nodes, ranksPerNode int) {
	count := map[string]int{}
	for _, m := range machines {
		count[m]++
		ranksPerNode = max(ranksPerNode, count[m])
	}
	return len(count), ranksPerNode
}
