package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/ledger"
)

// sleepPause is how long a rank outside a sub-world sleeps between two looks at whether it is over.
const sleepPause = 2 * time.Millisecond

// measureAll measures world by world and returns the exit code of the run, which is known on rank 0.
func (j *job) measureAll(ctx context.Context, p *plan) (int, error) {
	tally := &tally{start: j.start}
	measureWorld := j.measureWorld
	if p.step != nil {
		measureWorld = j.measureSteps
	}
	for _, n := range p.worlds {
		libraries, err := j.fitting(p, n, tally)
		if err != nil {
			return 0, err
		}
		if len(libraries) == 0 {
			continue
		}
		j.watch.Case(j.number, "") // which begins a new count of steps
		color := -1                // in no sub-world
		if j.rank < n {
			color = 0
		}
		j.watch.Phase(fmt.Sprintf("split a world of %d", n), 0)
		sub, err := j.world.Split(color, j.rank)
		if err != nil {
			return 0, err
		}
		if sub != nil {
			if err := measureWorld(ctx, p, libraries, sub, tally); err != nil {
				return 0, err
			}
			if err := sub.Free(); err != nil {
				return 0, err
			}
		}
		if n < j.size { // the others sleep until this world is done; they do not spin
			if j.rank < n {
				j.watch.Phase(hang.LeaveWorld, 0)
			} else {
				j.watch.Rest(hang.WaitOutside)
			}
			if err := j.world.BarrierSleeping(sleepPause); err != nil {
				return 0, err
			}
		}
		after, err := share(j, func() (between, error) { return between{tally.over, j.number}, nil })
		if err != nil {
			return 0, err
		}
		if after.Over {
			break
		}
		j.number = after.Number
	}
	return tally.code(), nil
}

// between is what rank 0 tells all ranks between two worlds.
type between struct {
	Over   bool   // asked to stop
	Number uint64 // of the last case: ranks that were outside have not counted
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
		return exit.Wrong
	case t.points[result.Failed]+t.points[result.OOM]+t.points[result.Timeout] > 0:
		return exit.Points
	case t.over:
		return exit.Interrupted + int(syscall.SIGTERM)
	}
	return exit.OK
}

// fitting are the libraries that can be measured in a world; for the others rank 0 writes that they cannot, which may
// be thousands of points, and the other ranks wait for that. Collective.
func (j *job) fitting(p *plan, n int, tally *tally) (libraries []backend.Library, err error) {
	var unfit []backend.Library
	for _, lib := range j.libraries {
		if lib.Unfit(n) == "" {
			libraries = append(libraries, lib)
		} else {
			unfit = append(unfit, lib)
		}
	}
	if len(unfit) == 0 {
		return libraries, nil
	}
	if j.rank != 0 {
		j.watch.Phase(hang.WaitForRank0, 0)
	}
	_, err = j.onRoot(func() ([]byte, error) {
		for _, lib := range unfit {
			if err := j.skipWorld(p, lib, n, lib.Unfit(n), tally); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	return libraries, err
}

// skipWorld writes the file of a world that cannot be measured: every point of it is skipped, with the reason.
func (j *job) skipWorld(p *plan, lib backend.Library, n int, why string, tally *tally) error {
	if p.past != nil && len(p.past.Unfit(lib.Name(), n)) > 0 {
		j.screen.Wrapped("# ", fmt.Sprintf("%sworld %d: skipped again: it %s", j.nameAmong(lib), n, why))
		return nil
	}
	if p.step != nil {
		return j.skipStepWorld(p, lib, n, why, tally)
	}
	cases, err := p.sweep.Plan(n, backend.Places(lib.Name()))
	if err != nil {
		return err
	}
	phase := fmt.Sprintf("write the file of a world of %d", n)
	j.watch.Phase(phase, 0)
	run := j.header(p, lib, nil)
	run.World, run.Sweep.Points = n, len(cases)
	w, err := result.Create(j.cfg.out, run, nil)
	if err != nil {
		return exit.With(exit.Environment, err)
	}
	s := j.ledger.Open(w, len(cases))
	for _, c := range cases {
		j.watch.Phase(phase, 0)
		if err := j.keep(s, tally, skipped(c, notice.WorldUnfit{World: n, Why: why}), nil, nil); err != nil {
			return err
		}
	}
	j.screen.SkippedWorld(j.nameAmong(lib), n, why, len(cases), w.Path())
	return j.ledger.Close(s, exit.OK)
}

// nameAmong is a library's name before a sentence, where there are several.
func (j *job) nameAmong(lib backend.Library) string {
	if len(j.libraries) < 2 {
		return ""
	}
	return lib.Name() + ": "
}

// keep writes a record and counts it; rank 0 only.
func (j *job) keep(s *ledger.Sheet, t *tally, r *result.Record, median, late []float64) error {
	if err := j.ledger.Add(s, r, median, late); err != nil {
		return err
	}
	t.add(r.Status)
	return nil
}

// skipped is the record of a point that is left out by plan.
func skipped(c coll.Case, why notice.Fact) *result.Record {
	return bench.NotMeasured(result.Record{Case: c}, result.Skipped, why)
}
