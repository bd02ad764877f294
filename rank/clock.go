package main

import (
	"fmt"

	"busbar/internal/bench"
	"busbar/internal/loop"
	"busbar/internal/stats"
	"busbar/mpi"
)

const (
	clockName    = "CLOCK_MONOTONIC_RAW"
	clockSamples = 2000
	emptyBatch   = 200_000
	offsetRounds = 20
	skewSamples  = 300
)

// measureClock finds the clock's step, the cost of a reading and of an empty iteration of the loop, in seconds.
func measureClock() (bench.Clock, error) {
	l, err := loop.New(loop.Steps{Issue: loop.Nothing()}, clockSamples)
	if err != nil {
		return bench.Clock{}, err
	}
	defer l.Close()
	s, err := l.Run(clockSamples, 1)
	if err != nil {
		return bench.Clock{}, err
	}
	cost := make([]float64, clockSamples)
	for i := range clockSamples {
		cost[i] = float64(s.End[i]-s.Start[i]) / 1e9 // one reading lies between: nothing else is timed
	}
	c := bench.Clock{Cost: stats.Median(cost), Resolution: tick(s.Start) / 1e9}
	if s, err = l.Run(1, emptyBatch); err != nil {
		return c, err
	}
	c.Empty = float64(s.End[0]-s.Start[0]) / 1e9 / emptyBatch
	return c, nil
}

// tick is the greatest common divisor of the stamps' differences: the step in which the clock counts, in ns.
func tick(stamps []int64) float64 {
	var g int64
	for i := 1; i < len(stamps); i++ {
		for a, b := g, stamps[i]-stamps[0]; ; a, b = b, a%b {
			if b == 0 {
				g = a
				break
			}
		}
	}
	return float64(g)
}

// offsets is what is known of the hosts' clocks against rank 0's.
type offsets struct {
	own         float64 // this rank's clock minus rank 0's, in seconds
	uncertainty float64 // of any rank against any other
}

// measureOffsets compares the clocks of the hosts of comm with rank 0's: one rank a host plays ping-pong with rank 0
// and keeps the exchange with the shortest round trip. Ranks of one host share its clock. Collective.
func measureOffsets(comm *mpi.Comm, machines []string, clock bench.Clock) (offsets, error) {
	reading := 2 * (clock.Cost + clock.Resolution)
	first := map[string]int{}
	order := []string{}
	for r, h := range machines {
		if _, ok := first[h]; !ok {
			first[h] = r
			order = append(order, h)
		}
	}
	if len(order) == 1 {
		return offsets{uncertainty: reading}, nil
	}
	me := comm.Rank()
	// Offset and uncertainty by host, filled by rank 0's partner; the sum over ranks spreads them.
	found := make([]float64, 2*len(order))
	for i, h := range order[1:] {
		leader := first[h]
		if me != 0 && me != leader {
			continue
		}
		peer := leader
		if me == leader {
			peer = 0
		}
		o, u, err := comm.ClockOffset(peer, offsetRounds)
		if err != nil {
			return offsets{}, fmt.Errorf("comparing the clocks of ranks 0 and %d: %w", leader, err)
		}
		if me == leader {
			found[2*i+2], found[2*i+3] = -o, u // o: the peer's clock minus ours
		}
	}
	if err := comm.Allreduce(found, mpi.Sum); err != nil {
		return offsets{}, err
	}
	var off offsets
	for i, h := range order {
		if h == machines[me] {
			off.own = found[2*i]
		}
		off.uncertainty = max(off.uncertainty, found[2*i+1])
	}
	off.uncertainty = 2*off.uncertainty + reading // between two hosts that are both not rank 0's
	return off, nil
}

// measureSkew adds to the clock's uncertainty how late a rank comes out of the synchronisation that goes before every
// operation: a delay of that size is no rank's fault. Collective.
func (w *subworld) measureSkew() error {
	if w.world.Size == 1 {
		return nil
	}
	b, err := newBarrier(w.comm)
	if err != nil {
		return err
	}
	defer b.close() //nolint:errcheck // nothing was run
	l, err := loop.New(loop.Steps{Issue: loop.Nothing(), Sync: b.step, Context: b.context}, skewSamples)
	if err != nil {
		return err
	}
	defer l.Close()
	stamps, err := l.Run(skewSamples, 1)
	if err != nil {
		return err
	}
	root := make([]byte, 8)
	putInt(root, int(stamps.Start[0]))
	if err := w.comm.Bcast(root, 0); err != nil {
		return err
	}
	base := int64(getInt(root))
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
