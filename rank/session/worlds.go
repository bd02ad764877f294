package session

import (
	"context"
	"fmt"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/pace"
)

// sleepPause is how long a rank outside a sub-world sleeps between two looks at whether it is over.
const sleepPause = 2 * time.Millisecond

// measureWorlds measures the plan world by world.
func (r *Run) measureWorlds(ctx context.Context) error {
	for _, n := range r.Plan.Worlds {
		libraries, err := r.fitting(n)
		if err != nil {
			return err
		}
		if len(libraries) == 0 {
			continue
		}
		if err := r.measureFirst(ctx, n, libraries); err != nil {
			return err
		}
		after, err := launch.Share(r.Comm, func() (between, error) { return between{r.tally.over, r.number}, nil })
		if err != nil || after.Over {
			return err
		}
		r.number = after.Number
	}
	return nil
}

// between is what rank 0 tells all ranks between two worlds.
type between struct {
	Over   bool   // asked to stop
	Number uint64 // of the last case: ranks that were outside have not counted
}

// measureFirst measures a world of the first n ranks while the others sleep. Collective.
func (r *Run) measureFirst(ctx context.Context, n int, libraries []backend.Library) error {
	r.Watch.Case(r.number, "") // which begins a new count of steps
	color := -1                // in no sub-world
	if r.rank() < n {
		color = 0
	}
	r.Watch.Phase(fmt.Sprintf("split a world of %d", n), 0)
	comm, err := r.Comm.Split(color, r.rank())
	if err != nil {
		return err
	}
	if comm != nil {
		if err := r.measureWorld(ctx, libraries, comm); err != nil {
			return err
		}
		if err := comm.Free(); err != nil {
			return err
		}
	}
	if n == r.Comm.Size() {
		return nil
	}
	if comm != nil {
		r.Watch.Phase(hang.LeaveWorld, 0)
	} else {
		r.Watch.Rest(hang.WaitOutside)
	}
	return r.Comm.BarrierSleeping(sleepPause)
}

// measureWorld measures the plan with these libraries in one world: cases in turn, so that what disturbs one library
// disturbs the others too, or the steps of one library after another. Collective over comm.
func (r *Run) measureWorld(ctx context.Context, libraries []backend.Library, comm launch.Comm) error {
	w := r.newWorld(comm, firstRanks(comm.Size()))
	if err := w.prepare(); err != nil {
		return err
	}
	if r.Plan.Step != nil {
		w.memory.hostShares = 1
		return w.measureSteps(ctx, libraries)
	}
	if err := w.open(libraries); err != nil {
		return err
	}
	if err := w.measureCases(ctx); err != nil {
		return err
	}
	if err := w.close(); err != nil || w.world.Rank != 0 {
		return err
	}
	return w.endFiles()
}

// fitting returns the libraries that can be measured in a world. For the others rank 0 writes that they cannot, which
// may be thousands of points, and the other ranks wait for that. Collective.
func (r *Run) fitting(n int) (libraries []backend.Library, err error) {
	var unfit []backend.Library
	for _, lib := range r.Libraries {
		if lib.Unfit(n) == "" {
			libraries = append(libraries, lib)
		} else {
			unfit = append(unfit, lib)
		}
	}
	if len(unfit) == 0 {
		return libraries, nil
	}
	if r.rank() != 0 {
		r.Watch.Phase(hang.WaitForRank0, 0)
	}
	return libraries, launch.OnRoot(r.Comm, func() error {
		for _, lib := range unfit {
			if err := r.skipWorld(lib, n, lib.Unfit(n)); err != nil {
				return err
			}
		}
		return nil
	})
}

// skipWorld writes the file of a world that cannot be measured: every point of it is skipped, with the reason. Rank 0
// only.
func (r *Run) skipWorld(lib backend.Library, n int, why string) error {
	if past := r.Plan.Past; past != nil && len(past.Unfit(lib.Name(), n)) > 0 {
		r.Screen.Wrapped("# ", fmt.Sprintf("%sworld %d: skipped again: it %s", r.nameAmong(lib), n, why))
		return nil
	}
	header := r.header(lib, nil)
	records, err := r.skippedPoints(&header, lib, n, notice.WorldUnfit{World: n, Why: why})
	if err != nil {
		return err
	}
	header.World, header.Sweep.Points = n, len(records)
	sheet, err := r.createFile(header, nil)
	if err != nil {
		return err
	}
	for _, record := range records {
		if err := r.keep(sheet, record, result.AllRanks{}); err != nil {
			return err
		}
	}
	r.Screen.SkippedWorld(r.nameAmong(lib), n, why, len(records), sheet.Path())
	return r.Ledger.Close(sheet, exit.OK)
}

// skippedPoints returns the records of all points of a world, skipped for a reason. Of steps it completes the header.
func (r *Run) skippedPoints(header *result.Run, lib backend.Library, n int, why notice.Fact) ([]result.Entry, error) {
	if r.Plan.Step != nil {
		return r.skippedSteps(header, lib, n, why)
	}
	cases, err := r.Plan.Cases(lib.Name(), n)
	records := make([]result.Entry, len(cases))
	for i, c := range cases {
		records[i] = skipped(c, why)
	}
	return records, err
}

// until returns when the time of a world is over: of what is left, each world that still comes gets a share by what it
// costs at the least. Zero without a limit.
func (r *Run) until(world int) time.Time {
	limit := r.Plan.Sweep.TimeLimit
	if limit <= 0 {
		return time.Time{}
	}
	var mine, all time.Duration
	for i := len(r.Plan.Worlds) - 1; i >= 0 && mine == 0; i-- {
		n := r.Plan.Worlds[i]
		for _, l := range r.Libraries {
			if l.Unfit(n) != "" {
				continue
			}
			cases, err := r.Plan.Cases(l.Name(), n)
			if err != nil {
				continue
			}
			cost := pace.WorldCost(cases, r.Plan.Sweep.Options)
			all += cost
			if n == world {
				mine += cost
			}
		}
	}
	left := time.Until(r.Start.Add(limit))
	return time.Now().Add(time.Duration(float64(left) * float64(mine) / float64(max(1, all))))
}
