package session

import (
	"cmp"
	"fmt"

	"busbar/internal/bench"
	"busbar/internal/loop"
	"busbar/internal/stats"
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/pace"
)

// worldRun is one world of a launch on this rank; its libraries are interleaved.
type worldRun struct {
	run      *Run
	world    *backend.World // as libraries see it
	clock    bench.Clock
	label    string   // distinguishes simultaneous worlds; "" for a single world
	machines []string // by rank: equal for ranks that share a clock and memory
	memory   *memory
	sessions []*session // one per library
	division *division  // nil unless it is divided into groups

	dimensions *dimensions // nil unless it is divided in two ways at once

	// Rank 0 only.
	counters *machine.CounterFiles
	pace     *pace.Pace
	turns    []turn
}

// newWorld returns the world of a communicator of these ranks, with nothing open.
func (r *Run) newWorld(comm launch.Comm, members []int) *worldRun {
	w := &worldRun{run: r}
	var hosts []string
	for _, rank := range members {
		f := r.Ranks[rank]
		hosts, w.machines = append(hosts, f.Host), append(w.machines, f.Machine)
	}
	own := comm.Rank()
	w.memory = &memory{
		group:  comm,
		rank:   machine.RankMemory{Rank: members[own], Host: hosts[own], Machine: w.machines[own]},
		stderr: r.Stderr,
	}
	w.world = &backend.World{Group: comm, Area: &backend.HostArea{}, Memory: w.memory, World: bench.World{
		Rank: own, Size: comm.Size(), Hosts: hosts, Names: members, Comm: launch.Decisions(comm)}}
	return w
}

// World returns the world of all ranks, for --preflight.
func (r *Run) World() *backend.World {
	return r.newWorld(r.Comm, firstRanks(r.Comm.Size())).world
}

// firstRanks returns the ranks of a world of the first n ranks.
func firstRanks(n int) []int {
	members := make([]int, n)
	for r := range members {
		members[r] = r
	}
	return members
}

// facts returns the facts of the world's ranks, by rank.
func (w *worldRun) facts() []launch.RankFacts {
	facts := make([]launch.RankFacts, len(w.world.Names))
	for i, r := range w.world.Names {
		facts[i] = w.run.Ranks[r]
	}
	return facts
}

// places returns the places of the world's ranks.
func (w *worldRun) places() []machine.Place {
	var places []machine.Place
	for _, f := range w.facts() {
		places = append(places, machine.Place{Host: f.Host, CPUs: f.CPUs, Quota: f.Quota})
	}
	return places
}

// prepare measures the clock, the skew of synchronised ranks and the clock offsets between hosts. Collective.
func (w *worldRun) prepare() error {
	w.preparing()
	var err error
	if w.clock, err = launch.MeasureClock(); err != nil {
		return err
	}
	off, err := launch.MeasureClockOffsets(w.world.Group, w.machines, w.clock)
	if err != nil {
		return err
	}
	w.clock.Common, w.clock.Offset, w.clock.Uncertainty = true, off.Own, off.Uncertainty
	return w.measureSkew()
}

// preparing reports the preparation of the world to the watchdog.
func (w *worldRun) preparing() {
	w.run.Watch.Phase(fmt.Sprintf("prepare a world of %d", w.world.Size), 0)
}

// open opens the libraries. Collective.
func (w *worldRun) open(libraries []backend.Library) error {
	w.memory.hostShares = hostShares(libraries)
	for _, lib := range libraries {
		cases, err := w.run.Plan.Cases(lib.Name(), w.world.Size)
		if err != nil {
			return err
		}
		s := &session{worldRun: w, lib: lib, cases: cases}
		w.sessions = append(w.sessions, s)
		if err := s.open(); err != nil {
			return err
		}
	}
	return nil
}

// close closes the libraries. Collective.
func (w *worldRun) close() error {
	if err := cmp.Or(w.division.close(), w.dimensions.close()); err != nil {
		return err
	}
	if err := closeLibraries(w); err != nil {
		return err
	}
	return w.world.Area.Free()
}

// closeLibraries closes the libraries, but keeps the host memory. Collective.
func closeLibraries(w *worldRun) error {
	w.run.Watch.Phase(fmt.Sprintf("close a world of %d", w.world.Size), 0)
	for _, s := range w.sessions {
		if err := s.backend.Close(); err != nil {
			return err
		}
	}
	return nil
}

// nodes returns the number of machines of the world and the maximum number of ranks on one.
func (w *worldRun) nodes() (nodes, ranksPerNode int) { return machine.CountNodes(w.machines) }

// skewSamples is the number of barriers of measureSkew.
const skewSamples = 300

// measureSkew adds the exit skew of the barrier before every operation to the clock's uncertainty: no rank causes a
// delay of that size. Collective.
func (w *worldRun) measureSkew() error {
	if w.world.Size == 1 {
		return nil
	}
	stamps, err := w.synchronise()
	if err != nil {
		return err
	}
	base := stamps[0]
	if err := launch.Broadcast(w.world.Group, &base); err != nil {
		return err
	}
	mine := make([]float64, len(stamps))
	first := make([]float64, len(stamps))
	for i, at := range stamps {
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

// synchronise returns when this rank left each of skewSamples barriers, in nanoseconds of its clock.
func (w *worldRun) synchronise() ([]int64, error) {
	b, err := backend.NewBarrier(w.world.Group)
	if err != nil {
		return nil, err
	}
	defer b.Close() //nolint:errcheck // nothing was run
	l, err := loop.New(loop.Steps{Issue: loop.Nothing(), Sync: b.Step, Context: b.Context}, skewSamples)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	stamps, err := l.Run(skewSamples, 1)
	return append([]int64{}, stamps.Start...), err
}
