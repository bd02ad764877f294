package session

import (
	"context"
	"fmt"
	"slices"
	"time"

	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
)

// sleepPause is the polling interval of a rank outside a sub-world.
const sleepPause = 2 * time.Millisecond

// measureWorlds measures the plan world by world.
func (r *Run) measureWorlds(ctx context.Context) error {
	if !slices.ContainsFunc(r.Plan.Worlds, r.fits) {
		lib, n := r.Libraries[0], r.Plan.Worlds[0]
		return r.unfit(fmt.Sprintf("no world of the plan fits: world %d on %s %s: start more ranks, or set --worlds", n,
			lib.Name(), lib.Unfit(n)))
	}
	for _, n := range r.Plan.Worlds {
		libraries := r.fitting(n)
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

// between is the message of rank 0 to all ranks between two worlds.
type between struct {
	Over   bool   // stop requested
	Number uint64 // of the last case: ranks outside the world did not count
}

// measureFirst measures a world of the first n ranks while the others sleep. Collective.
func (r *Run) measureFirst(ctx context.Context, n int, libraries []backend.Library) error {
	r.Watch.Case(r.number, "") // starts a new count of steps
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

// measureWorld measures the plan with these libraries in one world. Cases are interleaved, so that a disturbance
// affects all libraries; steps are measured library by library. Collective over comm.
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

// fitting returns the libraries that support a world; rank 0 prints why it skips the others.
func (r *Run) fitting(n int) (libraries []backend.Library) {
	for _, lib := range r.Libraries {
		if why := lib.Unfit(n); why != "" {
			r.Screen.Wrapped("# ", fmt.Sprintf("%s: world %d skipped: %s", lib.Name(), n, why))
			continue
		}
		libraries = append(libraries, lib)
	}
	return libraries
}

// unfit is the error of a plan without a world that fits. Rank 0 reports it.
func (r *Run) unfit(what string) error {
	if r.rank() != 0 {
		return exit.ErrElsewhere
	}
	return exit.Environmentf("%s", what)
}

// fits reports whether any library supports a world.
func (r *Run) fits(n int) bool {
	return slices.ContainsFunc(r.Libraries, func(l backend.Library) bool { return l.Unfit(n) == "" })
}

// until returns the time limit of a world: each remaining world that fits has an equal share. It is zero without a
// limit.
func (r *Run) until(world int) time.Time {
	limit := r.Plan.Sweep.TimeLimit
	if limit <= 0 {
		return time.Time{}
	}
	left := 0
	for _, n := range r.Plan.Worlds[slices.Index(r.Plan.Worlds, world):] {
		if r.fits(n) {
			left++
		}
	}
	return time.Now().Add(time.Until(r.Start.Add(limit)) / time.Duration(left))
}
