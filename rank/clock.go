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
	// Two hosts' clocks may drift apart by this share of the time since their offset was measured.
	clockDrift = 50e-6
)

// measureClock finds the clock's step, the cost of a reading and of an empty iteration of the loop, in seconds.
func measureClock() (bench.Clock, error) {
	l, err := loop.New(loop.Steps{Issue: loop.Nothing()}, clockSamples)
	if err != nil {
		return bench.Clock{}, err
	}
	defer l.Close()
	s, err := l.Latency(clockSamples)
	if err != nil {
		return bench.Clock{}, err
	}
	cost := make([]float64, clockSamples)
	for i := range clockSamples {
		cost[i] = float64(s.End[i]-s.Start[i]) / 1e9 // one reading lies between: nothing else is timed
	}
	c := bench.Clock{Cost: stats.Median(cost), Resolution: step(s.Start) / 1e9}
	if s, err = l.Throughput(emptyBatch); err != nil {
		return c, err
	}
	c.Empty = float64(s.End[0]-s.Start[0]) / 1e9 / emptyBatch
	return c, nil
}

// step is the greatest common divisor of the stamps' differences: the step in which the clock counts, in ns.
func step(stamps []int64) float64 {
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
func measureOffsets(comm *mpi.Comm, hosts []string, clock bench.Clock) (offsets, error) {
	reading := 2 * (clock.Cost + clock.Resolution)
	first := map[string]int{}
	order := []string{}
	for r, h := range hosts {
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
			return offsets{}, fmt.Errorf("comparing the clocks of %s and %s: %w", hosts[0], h, err)
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
		if h == hosts[me] {
			off.own = found[2*i]
		}
		off.uncertainty = max(off.uncertainty, found[2*i+1])
	}
	off.uncertainty = 2*off.uncertainty + reading // between two hosts that are both not rank 0's
	return off, nil
}
