package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/mpi"
)

// session is one world being measured on this rank.
type session struct {
	j       *job
	p       *plan
	comm    *mpi.Comm
	world   bench.World
	backend *mpiBackend
	cases   []coll.Case
	fits    []bool // by case: its buffers fit every rank
	clock   bench.Clock
	hosts   []string

	// Rank 0 only.
	sheet    *sheet
	tally    *tally
	counters *counterFiles
	pace     *pace
	done     map[result.PointKey]bool
	run      result.Run
}

// measureWorld measures the whole plan on one (sub-)world. Collective over comm.
func (j *job) measureWorld(ctx context.Context, p *plan, comm *mpi.Comm, tally *tally) error {
	s := &session{j: j, p: p, comm: comm, tally: tally}
	s.hosts = make([]string, comm.Size())
	for r := range s.hosts {
		s.hosts[r] = j.ranks[r].Host
	}
	s.world = bench.World{Rank: comm.Rank(), Size: comm.Size(), Hosts: s.hosts, Comm: mpiComm{comm}}
	s.backend = &mpiBackend{comm: comm, rank: comm.Rank(), watch: j.watch, aggregate: max(1, p.sweep.Aggregate), rotate: j.cfg.rotate}
	j.watch.Phase(fmt.Sprintf("prepare a world of %d", comm.Size()), 0)
	var err error
	if s.cases, err = p.sweep.Plan(comm.Size(), mpiPlaces); err != nil {
		return err
	}
	if s.clock, err = measureClock(); err != nil {
		return err
	}
	why, err := s.planMemory()
	if err != nil {
		return err
	}
	var room []coll.Case
	for i, c := range s.cases {
		if s.fits[i] {
			room = append(room, c)
		}
	}
	if err := s.backend.reserve(room); err != nil {
		return err
	}
	if s.world.Rank == 0 {
		if err := s.openFile(); err != nil {
			return err
		}
		err = s.lead(ctx, why)
	} else {
		err = s.follow()
	}
	if err != nil {
		return err
	}
	if err := s.backend.release(); err != nil {
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

// planMemory finds which cases fit the memory that is free on every rank; why says what bounds them, on rank 0.
func (s *session) planMemory() (why string, err error) {
	bounds, err := memoryBounds("/")
	if err != nil && s.world.Rank == 0 {
		fmt.Fprintf(s.j.stderr, "rank: %v\n", err)
	}
	mine, err := json.Marshal(rankMemory{Rank: s.world.Rank, Host: s.hosts[s.world.Rank], Bounds: bounds})
	if err != nil {
		return "", err
	}
	all, err := s.comm.Gatherv(mine, 0)
	if err != nil {
		return "", err
	}
	limit := []float64{0}
	if s.world.Rank == 0 {
		memory := make([]rankMemory, len(all))
		for i, b := range all {
			if err := json.Unmarshal(b, &memory[i]); err != nil {
				return "", err
			}
		}
		m := planMemory(memory, mpiScratch)
		limit[0], why = float64(m.Bytes), m.Why
	}
	// What a case takes differs by rank (a root has more); the largest counts.
	if err := s.world.Bcast(limit); err != nil {
		return "", err
	}
	need := make([]float64, len(s.cases))
	for i, c := range s.cases {
		need[i] = float64(s.backend.memory(c))
	}
	if err := s.world.Max(need); err != nil {
		return "", err
	}
	s.fits = make([]bool, len(s.cases))
	for i := range s.cases {
		s.fits[i] = need[i] <= limit[0]
	}
	return why, nil
}

// openFile makes the results file of this world.
func (s *session) openFile() error {
	j := s.j
	h := header{world: s.world.Size, hosts: s.hosts, clock: s.clock}
	s.run = j.header(s.p, "mpi", j.lib, h)
	if s.p.past != nil {
		s.done, s.run.Resumes = s.p.past.Done(s.run.Key())
		if s.p.campaign == s.p.launch && len(s.run.Resumes) > 0 {
			s.run.Campaign = s.p.past.Campaign(s.run.Resumes)
		}
	}
	planned, past := 0, map[coll.Case]bool{}
	for _, c := range s.cases {
		left := 0
		for cycle := range max(1, j.cfg.cycles) {
			if !s.done[result.Point("mpi", c, s.cycle(cycle))] {
				left++
			}
		}
		planned += left
		past[c] = left == 0
	}
	s.run.Sweep.Points = planned
	j.watch.Phase("open the results file", 0)
	w, err := result.Create(j.cfg.out, s.run, s.rankLines())
	if err != nil {
		return err
	}
	w.Warn = func(text string) { fmt.Fprintf(j.stderr, "rank: %s\n", text) }
	s.sheet = j.ledger.open(w, planned)
	s.counters = openCounters("/")
	s.pace = newPace(j, s.p, s.cases, past, planned)
	j.screen.world(s, w.Path())
	return nil
}

// cycle is the number of a cycle in records: 0 where there is only one.
func (s *session) cycle(i int) int {
	if !s.j.cfg.cyclesOn || s.j.cfg.cycles == 1 {
		return 0
	}
	return i + 1
}

func (s *session) rankLines() []result.Rank {
	lines := make([]result.Rank, s.world.Size)
	for r := range lines {
		f := s.j.ranks[r]
		lines[r] = result.Rank{Kind: result.KindRank, Rank: r, Host: f.Host, LocalRank: f.LocalRank, PID: f.PID, CPUs: f.CPUs, Device: "cpu"}
	}
	return lines
}

// The orders of rank 0 to the others: what to do next.
const (
	orderStop = iota
	orderMeasure
)

// lead goes through the plan on rank 0.
func (s *session) lead(ctx context.Context, why string) error {
	number := uint64(0)
	for cycle := 0; s.j.cfg.cycles == 0 || cycle < s.j.cfg.cycles; cycle++ {
		for i, c := range s.cases {
			if s.done[result.Point("mpi", c, s.cycle(cycle))] {
				continue
			}
			if s.j.askedToStop.Load() || ctx.Err() != nil {
				s.tally.over = true
				return s.world.Bcast([]float64{orderStop, 0, 0, 0})
			}
			if reason := s.leftOut(i, why); reason != "" {
				r := skipped(c, reason)
				if !s.fits[i] {
					r.Needed = s.backend.memory(c)
				}
				r.Cycle = s.cycle(cycle)
				if err := s.keep(r); err != nil {
					return err
				}
				continue
			}
			number++
			if err := s.measureOne(i, s.cycle(cycle), number); err != nil {
				return err
			}
		}
	}
	return s.world.Bcast([]float64{orderStop, 0, 0, 0})
}

// leftOut says why a case is left out by plan; empty: it is measured.
func (s *session) leftOut(i int, why string) string {
	if !s.fits[i] {
		return fmt.Sprintf("memory: it takes %s of buffers a rank; %s", binary(s.backend.memory(s.cases[i])), why)
	}
	return s.pace.leftOut(i)
}

// measureOne measures one case, the other ranks following, and keeps its record.
func (s *session) measureOne(i, cycle int, number uint64) error {
	c := s.cases[i]
	budget := s.pace.budget()
	if err := s.world.Bcast([]float64{orderMeasure, float64(i), float64(number), float64(budget)}); err != nil {
		return err
	}
	s.j.ledger.begin(s.sheet, result.Record{Kind: result.KindCase, Case: c, Cycle: cycle})
	s.j.screen.begin(c)
	before, started := s.counters.read(), time.Now()
	r, err := s.measure(i, number, budget)
	if err != nil {
		return err
	}
	r.Cycle, r.Load1 = cycle, load1("/")
	after := s.counters.read()
	r.Network = after.since(before)
	r.Warnings = append(r.Warnings, linkWarnings(before, after)...)
	s.pace.took(i, time.Since(started))
	return s.keep(r)
}

func (s *session) keep(r *result.Record) error {
	s.j.watch.Phase("write the record", 0)
	median, late := bench.Shorten(r.Ranks, s.hosts)
	if err := s.j.keep(s.sheet, s.tally, r, median, late); err != nil {
		return err
	}
	s.j.screen.row(r)
	return nil
}

// follow does on the other ranks what rank 0 orders.
func (s *session) follow() error {
	for {
		s.j.watch.Phase("wait for rank 0", 0)
		order := make([]float64, 4)
		if err := s.world.Bcast(order); err != nil {
			return err
		}
		if order[0] == orderStop {
			return nil
		}
		if _, err := s.measure(int(order[1]), uint64(order[2]), time.Duration(order[3])); err != nil {
			return err
		}
	}
}

// measure is collective: all ranks measure case i.
func (s *session) measure(i int, number uint64, budget time.Duration) (*result.Record, error) {
	c := s.cases[i]
	s.j.watch.Case(number, c.String())
	defer s.j.watch.Case(number, "")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection while something is timed
	s.j.watch.Phase("compare the clocks", 0)
	off, err := measureOffsets(s.comm, s.hosts, s.clock)
	if err != nil {
		return nil, err
	}
	clock := s.clock
	clock.Common, clock.Offset = true, off.own
	clock.Uncertainty = off.uncertainty
	if s.nodes() > 1 {
		clock.Uncertainty += clockDrift * budget.Seconds()
	}
	o := bench.Options{Precision: s.p.sweep.Precision, Budget: budget, Iterations: s.p.sweep.Iterations, Warmup: s.p.sweep.Warmup,
		Check: s.p.sweep.Check, Aggregate: s.p.sweep.Aggregate, Average: s.j.cfg.average, Clock: clock, Watch: s.j.watch}
	return bench.Measure(s.world, s.backend, c, o)
}

func (s *session) nodes() int {
	n, _ := shape(s.hosts)
	return n
}

// shape counts the nodes and the largest number of ranks on one.
func shape(hosts []string) (nodes, ranksPerNode int) {
	count := map[string]int{}
	for _, h := range hosts {
		count[h]++
		ranksPerNode = max(ranksPerNode, count[h])
	}
	return len(count), ranksPerNode
}

// header is what a run's header is made of beside the job's own facts.
type header struct {
	world int
	nodes int
	hosts []string
	clock bench.Clock
}

// header fills the first line of a results file.
func (j *job) header(p *plan, backend string, lib *mpi.MPI, h header) result.Run {
	info := j.lib.Info()
	environment, slurm := environment(os.Environ())
	nodes, perNode := shape(h.hosts)
	machine := machineFacts("/")
	warm := p.sweep.Warmup
	run := result.Run{Kind: result.KindRun, Schema: result.Schema, ID: result.NewID(), Launch: p.launch, Campaign: p.campaign,
		Start: time.Now().UTC(), Tool: "busbar " + toolVersion(), Build: buildIdentity(), Command: append([]string{"rank"}, j.args...),
		Backend: result.Backend{Name: backend, Library: "not loaded for a world that does not fit"}, Variant: j.cfg.variant,
		MPI: result.MPI{Family: info.Family, Library: info.Library, Standard: info.Standard, Path: info.LibMPIPath, Shim: info.ShimPath,
			ThreadLevel: info.ThreadLevel.String(), LargeCounts: info.LargeCounts, Launcher: launcherName(j.launch)},
		World: h.world, Nodes: nodes, RanksPerNode: perNode, Device: "cpu (" + machine.CPU + ")",
		Sweep: result.Sweep{Name: sweepName(p.sweep), Source: p.sweep.Source, Origins: p.sweep.Origins()},
		Method: result.Method{Clock: clockName, ClockResolution: h.clock.Resolution, ClockCost: h.clock.Cost, EmptyIteration: h.clock.Empty,
			Precision: p.sweep.Precision, Budget: p.sweep.Budget.Seconds(), Iterations: p.sweep.Iterations, Warmup: warm,
			Aggregate: p.sweep.Aggregate, CheckRounds: p.sweep.Check, Average: j.cfg.average.String(), Rotate: j.cfg.rotate,
			Cycle: j.cfg.cycles, Deadline: j.cfg.deadline.Seconds()},
		Machine: machine, Environment: environment, Slurm: slurm, Topology: topology("/")}
	if lib != nil {
		run.Backend = backendFacts(info)
	}
	var places []place
	for r := range h.hosts {
		places = append(places, place{Rank: r, Host: j.ranks[r].Host, CPUs: j.ranks[r].CPUs, Quota: j.ranks[r].Quota})
	}
	run.Warnings = oversubscribed(places)
	if load := machine.Load1; load > 0.25*float64(machine.Cores) {
		run.Warnings = append(run.Warnings, fmt.Sprintf("load: %s had a load average of %.2f before the run; other work disturbs the figures", machine.Host, load))
	}
	return run
}

func launcherName(l mpi.Launch) string {
	if l.Name == "" {
		return "none"
	}
	return l.Name
}
