package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// sleepPause is how long a rank outside a sub-world sleeps between two looks at whether it is over.
const sleepPause = 2 * time.Millisecond

// measureAll measures world by world and returns the exit code of the run, which is known on rank 0.
func (j *job) measureAll(ctx context.Context, p *plan) (int, error) {
	tally := &tally{start: j.start}
	for _, n := range p.worlds {
		if n > j.size {
			if err := j.skipWorld(p, n, tally); err != nil {
				return 0, err
			}
			continue
		}
		color := -1 // in no sub-world
		if j.rank < n {
			color = 0
		}
		j.watch.Phase(fmt.Sprintf("split a world of %d", n), 0)
		sub, err := j.world.Split(color, j.rank)
		if err != nil {
			return 0, err
		}
		if sub != nil {
			if err := j.measureWorld(ctx, p, j.libraries, sub, tally); err != nil {
				return 0, err
			}
			if err := sub.Free(); err != nil {
				return 0, err
			}
		}
		if n < j.size { // the others sleep until this world is done; they do not spin
			if j.rank < n {
				j.watch.Phase("leave the sub-world", 0)
			} else {
				j.watch.Rest("wait for the sub-world")
			}
			if err := j.world.BarrierSleeping(sleepPause); err != nil {
				return 0, err
			}
		}
		over, err := share(j, func() (bool, error) { return tally.over, nil })
		if err != nil {
			return 0, err
		}
		if over {
			break
		}
	}
	return tally.code(), nil
}

// tally is what became of the whole run's points, on rank 0.
type tally struct {
	start  time.Time
	points map[result.Status]int
	over   bool // asked to stop
}

func (t *tally) add(s result.Status) {
	if t.points == nil {
		t.points = map[result.Status]int{}
	}
	t.points[s]++
}

// code is the exit code that the points deserve. Wrong data weighs most; a point that was planned and could not be
// measured is a failure, one that was left out by plan is not.
func (t *tally) code() int {
	switch {
	case t.points[result.Wrong] > 0:
		return exitWrong
	case t.points[result.Failed]+t.points[result.OOM]+t.points[result.Timeout] > 0:
		return exitPoints
	case t.over:
		return exitInterrupted + int(syscall.SIGTERM)
	}
	return exitOK
}

// skipWorld writes the file of a world that this launch is too small for: every point of it is skipped, with the reason.
func (j *job) skipWorld(p *plan, n int, tally *tally) error {
	if j.rank != 0 {
		return nil
	}
	for _, lib := range j.libraries {
		if p.past != nil && len(p.past.Unfit(lib.name(), n)) > 0 {
			j.screen.note("world %d: skipped again, this launch has %d ranks", n, j.size)
			continue
		}
		cases, err := p.sweep.Plan(n, places(lib.name()))
		if err != nil {
			return err
		}
		j.watch.Phase(fmt.Sprintf("write the file of a world of %d", n), time.Duration(len(cases))*writeTime)
		run := j.header(p, lib, nil)
		run.World, run.Sweep.Points = n, len(cases)
		w, err := result.Create(j.cfg.out, run, nil)
		if err != nil {
			return &codeError{exitEnvironment, err}
		}
		s := j.ledger.open(w, len(cases))
		reason := fmt.Sprintf("a world of %d does not fit this launch of %d ranks", n, j.size)
		for _, c := range cases {
			if err := j.keep(s, tally, skipped(c, reason), nil, nil); err != nil {
				return err
			}
		}
		j.screen.skippedWorld(n, j.size, len(cases), w.Path())
		if err := j.ledger.close(s, exitOK); err != nil {
			return err
		}
	}
	return nil
}

// writeTime is how long a slow shared filesystem may take for one record.
const writeTime = 50 * time.Millisecond

// keep writes a record and counts it; rank 0 only.
func (j *job) keep(s *sheet, t *tally, r *result.Record, median, late []float64) error {
	if err := j.ledger.add(s, r, median, late); err != nil {
		return err
	}
	t.add(r.Status)
	return nil
}

// skipped is the record of a point that is left out by plan.
func skipped(c coll.Case, reason string) *result.Record {
	return &result.Record{Kind: result.KindCase, Case: c, Status: result.Skipped, Reason: reason, Check: result.Check{Result: "none"}}
}
