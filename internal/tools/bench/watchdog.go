package main

import (
	"fmt"
	"time"

	"busbar/internal/board"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/mpi"
)

// watchTick is how often rank's watchdog looks (rank/hang/watchdog.go).
const watchTick = 500 * time.Millisecond

// watchdogTable compares runs with and without a watchdog. Rank's own is part of the program rank; a goroutine stands
// for it that does at each tick what the watchdog does while an operation runs.
func watchdogTable(c config) error {
	fmt.Fprintln(c.out, "\nThe watchdog: runs of half a second, 8 B back to back, in turns with and without a goroutine "+
		"that does what rank's watchdog does at")
	fmt.Fprintf(c.out, "each tick (it reads where the loop is, and writes it). Target for rank's tick of %s: the "+
		"interval includes 1 and is narrower than ±1 %%. With a\n", watchTick)
	fmt.Fprintln(c.out, "hundred times as many ticks it can be seen what they cost: rank's a hundredth of it. np 2 has "+
		"four busy threads.")
	fmt.Fprintln(c.out, "\n| np | tick | with | without | ratio | 95 % interval | pairs | on target "+
		"|\n|---:|---:|---:|---:|---:|---|---:|---|")
	for _, n := range []int{1, 2} {
		if err := c.selves(n, "watchdog"); err != nil {
			return err
		}
	}
	return nil
}

// compareWatched is what each rank does; rank 0 prints the rows.
func compareWatched(c config) error {
	r, err := c.rehearse()
	if err != nil {
		return err
	}
	p, give, err := r.pair(8)
	if err != nil {
		return err
	}
	for _, tick := range []time.Duration{watchTick, watchTick / 100} {
		found, err := p.watched(tick, 8*c.budget)
		if err != nil {
			return err
		}
		if r.world.Rank() == 0 {
			target := ""
			if tick == watchTick {
				target = yes(found.lo <= 1 && found.hi >= 1 && narrow(found))
			}
			fmt.Fprintf(c.out, "| %d | %s | %s | %s | %.4f | %.4f – %.4f | %d | %s |\n", r.world.Size(), tick,
				seconds(found.ours),
				seconds(found.bare), found.median, found.lo, found.hi, found.pairs, target)
		}
	}
	give()
	return r.end()
}

// watched lets runs with a watchdog (ours) and without (bare) take turns: 20 pairs, and more until the interval is
// narrow or the budget is used up.
func (p *pair) watched(tick, budget time.Duration) (r ratio, err error) {
	const run = 0.5 // seconds: at least one tick
	t, err := p.runOurs(coll.Throughput, 1000)
	if err != nil {
		return r, err
	}
	n := operations(t, maxSamples)
	batches := max(1, min(maxSamples, int(run/(t*float64(n)))))
	var times [2][]float64
	for spent := 0.0; len(times[0]) < 20 || spent < budget.Seconds() && !narrow(r); {
		first := len(times[0]) % 2
		for i := range times {
			which := first ^ i
			if t, err = p.runLong(batches, n, which == 0, tick); err != nil {
				return r, err
			}
			times[which] = append(times[which], t)
			spent += t * float64(batches*n)
		}
		r = compare(times[0], times[1])
	}
	return r, nil
}

// narrow is narrower than ±1 %.
func narrow(r ratio) bool { return r.hi-r.lo < 0.02 }

// runLong is the time of one operation in seconds over many batches and the barriers between them, the largest over
// the ranks.
func (p *pair) runLong(batches, n int, watched bool, tick time.Duration) (float64, error) {
	if watched {
		defer watch(p.ours, tick)()
	}
	s, err := p.ours.Run(batches, n)
	if err != nil {
		return 0, err
	}
	t := []float64{float64(s.End[batches-1]-s.Start[0]) / 1e9 / float64(batches*n)}
	err = p.comm.Allreduce(t, mpi.Max)
	return t[0], err
}

// watch looks at a loop at each tick and writes on a board where it is, as a watchdog does, until stop is called.
func watch(l *loop.Loop, tick time.Duration) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		slot := board.Private(1).Slot(0)
		ticks := time.NewTicker(tick)
		defer ticks.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
				at, stage := l.Position()
				l.Broken()
				slot.Write(board.Entry{Phase: "measure", Case: "all_reduce", Iteration: at, Stage: stage.String()}, loop.Now())
			}
		}
	}()
	return func() { close(done); <-gone }
}
