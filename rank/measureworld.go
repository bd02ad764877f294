package main

import (
	"cmp"
	"context"
	"fmt"
	"syscall"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/rank/backend"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/pace"
	"busbar/rank/screen"
	"busbar/sweeps"
)

// subworld is one world of a launch being measured on this rank, by every library in turn.
type subworld struct {
	j        *job
	p        *plan
	comm     launch.Comm
	world    bench.World
	clock    bench.Clock
	members  []int    // by rank: its number in the launch
	label    string   // what tells it from others at the same time; empty where there are none
	hosts    []string // by rank, for people
	machines []string // by rank: equal where ranks share a clock and memory
	area     backend.HostArea
	// hostShares is how many backends hold buffers in host memory of their own at the same time.
	hostShares int
	// neighbours is how many groups of a pattern hold such buffers on one machine at the same time.
	neighbours int
	sessions   []*session // one for each library

	// Rank 0 only.
	tally    *tally
	counters *machine.CounterFiles
	pace     *pace.Pace
	turns    []turn
}

// newSubworld is the world of a communicator of these ranks of the launch; nothing is opened in it yet.
func (j *job) newSubworld(p *plan, comm launch.Comm, members []int) *subworld {
	w := &subworld{j: j, p: p, comm: comm, members: members}
	for _, f := range w.facts() {
		w.hosts, w.machines = append(w.hosts, f.Host), append(w.machines, f.Machine)
	}
	w.world = bench.World{Rank: comm.Rank(), Size: comm.Size(), Hosts: w.hosts, Names: members, Comm: launch.Decisions(comm)}
	return w
}

// facts are those of the world's ranks, in their order.
func (w *subworld) facts() []launch.RankFacts {
	facts := make([]launch.RankFacts, len(w.members))
	for i, r := range w.members {
		facts[i] = w.j.ranks[r]
	}
	return facts
}

// firstRanks are the ranks of a world of n ranks of the launch.
func firstRanks(n int) []int {
	members := make([]int, n)
	for r := range members {
		members[r] = r
	}
	return members
}

// measureWorld measures the whole plan with these libraries on one (sub-)world, case by case in turn, so that what
// disturbs one disturbs the others too. Collective over comm.
func (j *job) measureWorld(ctx context.Context, p *plan, libraries []backend.Library, comm launch.Comm, tally *tally) error {
	w := j.newSubworld(p, comm, firstRanks(comm.Size()))
	w.tally, w.hostShares = tally, hostShares(libraries)
	j.watch.Phase(fmt.Sprintf("prepare a world of %d", comm.Size()), 0)
	if err := w.prepareClock(); err != nil {
		return err
	}
	for _, lib := range libraries {
		if err := w.open(lib); err != nil {
			return err
		}
	}
	if err := w.run(ctx); err != nil {
		return err
	}
	return w.close()
}

// open makes a library ready in this world.
func (w *subworld) open(lib backend.Library) error {
	s := &session{subworld: w, lib: lib, used: map[coll.Collective]bool{}}
	w.sessions = append(w.sessions, s)
	var err error
	if s.cases, err = w.p.sweep.Plan(w.world.Size, backend.Places(lib.Name())); err != nil {
		return err
	}
	if s.backend, err = lib.Open(w.forLibraries(), s.method()); err != nil {
		return err
	}
	w.j.watch.Phase(fmt.Sprintf("prepare a world of %d", w.world.Size), 0)
	if err := s.prepareMemory(); err != nil {
		return err
	}
	return s.backend.Ready()
}

func (w *subworld) run(ctx context.Context) error {
	if w.world.Rank != 0 {
		return w.follow()
	}
	points := 0
	for _, s := range w.sessions {
		s.head()
	}
	for _, s := range w.sessions {
		if err := s.openFile(); err != nil {
			return err
		}
		points += s.run.Sweep.Points
	}
	w.turns = takeTurns(w.sessions)
	var cases []coll.Case
	for _, t := range w.turns {
		cases = append(cases, t.session.cases[t.i])
	}
	w.counters = machine.OpenCounters("/")
	_, perNode := shape(w.machines)
	w.pace = &pace.Pace{Cases: cases, Options: w.p.sweep.Options, PerNode: perNode, Until: w.j.until(w.p, w.world.Size), Planned: points}
	var files []screen.File
	for _, s := range w.sessions {
		files = append(files, screen.File{Run: &s.run, Path: s.sheet.Path()})
	}
	w.j.screen.World(files, w.pace, w.p.sweep.Options)
	return w.lead(ctx)
}

func (w *subworld) close() error {
	w.j.watch.Phase(fmt.Sprintf("close a world of %d", w.world.Size), 0)
	for _, s := range w.sessions {
		if err := s.backend.Close(); err != nil {
			return err
		}
	}
	if err := w.area.Free(); err != nil {
		return err
	}
	if w.world.Rank != 0 {
		return nil
	}
	w.counters.Close()
	for _, s := range w.sessions {
		w.j.ledger.Throttled(s.sheet, backend.ThrottledOf(s.backend))
	}
	if w.tally.over {
		w.j.ledger.Finish(result.Interrupted, notice.RunSignalled{Signal: signalNames[syscall.SIGUSR1]}, w.tally.code(), "")
		return nil
	}
	for _, s := range w.sessions {
		if err := w.j.ledger.Close(s.sheet, w.tally.code()); err != nil {
			return err
		}
	}
	return nil
}

// prepareClock learns what the clock can do, what synchronised ranks look like that do nothing, and how far apart the
// clocks of the hosts are.
func (w *subworld) prepareClock() error {
	var err error
	if w.clock, err = launch.MeasureClock(); err != nil {
		return err
	}
	off, err := launch.MeasureClockOffsets(w.comm, w.machines, w.clock)
	if err != nil {
		return err
	}
	w.clock.Common, w.clock.Offset, w.clock.Uncertainty = true, off.Own, off.Uncertainty
	return w.measureSkew()
}

// until is when the time of a world is over: of what is left, each world that still comes gets a share by what it costs
// at the least. Zero without a limit.
func (j *job) until(p *plan, world int) time.Time {
	if p.sweep.TimeLimit <= 0 {
		return time.Time{}
	}
	var mine, all time.Duration
	for i := len(p.worlds) - 1; i >= 0 && mine == 0; i-- {
		n := p.worlds[i]
		for _, l := range j.libraries {
			if l.Unfit(n) != "" {
				continue
			}
			cases, err := p.sweep.Plan(n, backend.Places(l.Name()))
			if err != nil {
				continue
			}
			cost := pace.WorldCost(cases, p.sweep.Options)
			all += cost
			if n == world {
				mine += cost
			}
		}
	}
	left := time.Until(j.start.Add(p.sweep.TimeLimit))
	return time.Now().Add(time.Duration(float64(left) * float64(mine) / float64(max(1, all))))
}

// The orders of rank 0 to the others: what to do next.
const (
	orderStop = iota
	orderMeasure
)

// command is rank 0's word to all: measure a case of a session, or stop.
type command struct {
	What    int32
	Session int32
	Case    int32
	Budget  time.Duration
	Left    time.Duration // of --time-limit; 0: no limit
	First   bool          // time the first operation of the collective
}

// give brings rank 0's order to all. Collective.
func (w *subworld) give(o *command) error { return launch.Broadcast(w.comm, o) }

// lead goes through the plan on rank 0.
func (w *subworld) lead(ctx context.Context) error {
	cycles := w.j.cfg.cycles
	for cycle := 0; cycles == 0 || cycle < cycles; cycle++ {
		measured := false
		w.pace.Cycles = max(1, cycles-cycle)
		w.pace.Begin(func(k int) bool { t := w.turns[k]; return t.session.wanted(t.i, cycle) && t.session.room[t.i].fits() })
		for k, t := range w.turns {
			s := t.session
			if !s.wanted(t.i, cycle) {
				continue
			}
			if w.j.askedToStop.Load() || ctx.Err() != nil {
				w.tally.over = true
				return w.give(&command{What: orderStop})
			}
			r := s.leftOutByMemory(t.i)
			if r == nil {
				budget, why := w.pace.Next(k)
				if why == nil {
					measured = true
					if err := s.measureOne(t.i, s.cycle(cycle), budget); err != nil {
						return err
					}
					continue
				}
				r = skipped(s.cases[t.i], why)
			}
			r.Cycle = s.cycle(cycle)
			if err := s.keep(r, 0); err != nil {
				return err
			}
		}
		// A soak without end ends when its time is over, or when there is nothing in it to measure.
		if cycles == 0 && (!measured || w.pace.Over()) {
			break
		}
	}
	return w.give(&command{What: orderStop})
}

// follow does on the other ranks what rank 0 orders.
func (w *subworld) follow() error {
	for {
		w.j.watch.Phase(hang.WaitForRank0, 0)
		var o command
		if err := w.give(&o); err != nil {
			return err
		}
		if o.What == orderStop {
			return nil
		}
		if _, err := w.sessions[o.Session].measure(o); err != nil {
			return err
		}
	}
}

// layout is how this rank's buffers lie.
func (s *session) layout() backend.Layout { return s.j.cfg.layout(s.p.sweep, s.cases, s.world.Rank) }

// layout is that of a rank's buffers for these cases. As nccl-tests, --like nccl-tests walks through the largest size, and
// no further than its operations come.
func (c *config) layout(s *sweeps.Sweep, cases []coll.Case, rank int) backend.Layout {
	l := backend.Layout{Rank: rank, Rotate: c.rotate}
	if !c.packed {
		return l
	}
	l.Packed = cmp.Or(s.Iterations, backend.GraphOperations) * max(1, s.Aggregate)
	for _, of := range cases {
		l.Rotate = max(l.Rotate, of.SizeBytes)
	}
	return l
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

// skewSamples is how many times measureSkew synchronises.
const skewSamples = 300

// measureSkew adds to the clock's uncertainty how late a rank comes out of the synchronisation that goes before every
// operation: a delay of that size is no rank's fault. Collective.
func (w *subworld) measureSkew() error {
	if w.world.Size == 1 {
		return nil
	}
	b, err := backend.NewBarrier(w.comm)
	if err != nil {
		return err
	}
	defer b.Close() //nolint:errcheck // nothing was run
	l, err := loop.New(loop.Steps{Issue: loop.Nothing(), Sync: b.Step, Context: b.Context}, skewSamples)
	if err != nil {
		return err
	}
	defer l.Close()
	stamps, err := l.Run(skewSamples, 1)
	if err != nil {
		return err
	}
	base := stamps.Start[0]
	if err := launch.Broadcast(w.comm, &base); err != nil {
		return err
	}
	mine := make([]float64, skewSamples)
	first := make([]float64, skewSamples)
	for i, at := range stamps.Start {
		mine[i] = float64(at-base)/1e9 - w.clock.Offset
		first[i] = -mine[i]
	}
	if err := w.world.Max(first); err != nil {
		return err
	}
	for i := range mine {
		mine[i] += first[i]
	}
	skew := []float64{stats.Median(mine)}
	if err := w.world.Max(skew); err != nil {
		return err
	}
	w.clock.Uncertainty += skew[0]
	return nil
}
