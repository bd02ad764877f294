package launch

import (
	"fmt"

	"busbar/internal/bench"
	"busbar/internal/loop"
	"busbar/internal/stats"
)

// ClockName is the clock that all times are read from.
const ClockName = "CLOCK_MONOTONIC_RAW"

const (
	clockSamples = 2000
	emptyBatch   = 200_000
	offsetRounds = 20
)

// MeasureClock finds the clock's step, the cost of a reading and of an empty iteration of the loop, in seconds.
func MeasureClock() (bench.Clock, error) {
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

// ClockOffsets is what is known of the hosts' clocks against rank 0's.
type ClockOffsets struct {
	Own         float64 // this rank's clock minus rank 0's, in seconds
	Uncertainty float64 // of any rank against any other
}

// MeasureClockOffsets compares the clocks of the hosts of comm with rank 0's: one rank a host plays ping-pong with rank
// 0 and keeps the exchange with the shortest round trip. Ranks of one host share its clock. Collective.
func MeasureClockOffsets(comm Comm, machines []string, clock bench.Clock) (ClockOffsets, error) {
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
		return ClockOffsets{Uncertainty: reading}, nil
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
			return ClockOffsets{}, fmt.Errorf("comparing the clocks of ranks 0 and %d: %w", leader, err)
		}
		if me == leader {
			found[2*i+2], found[2*i+3] = -o, u // o: the peer's clock minus ours
		}
	}
	if err := comm.Sum(found); err != nil {
		return ClockOffsets{}, err
	}
	var off ClockOffsets
	for i, h := range order {
		if h == machines[me] {
			off.Own = found[2*i]
		}
		off.Uncertainty = max(off.Uncertainty, found[2*i+1])
	}
	off.Uncertainty = 2*off.Uncertainty + reading // between two hosts that are both not rank 0's
	return off, nil
}
