// Package session measures a plan on the ranks of a launch: collectives world by world, training steps, or groups of
// nodes. Rank 0 decides the order and keeps each record before the next case starts.
package session

import (
	"context"
	"fmt"
	"io"
	"syscall"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/ledger"
	"busbar/rank/plan"
	"busbar/rank/screen"
)

// Run measures a plan on this rank.
type Run struct {
	Plan      *plan.Plan
	Comm      launch.Comm        // of all ranks
	Ranks     []launch.RankFacts // by rank
	Libraries []backend.Library  // in plan order
	Watch     *hang.Watchdog
	Ledger    *ledger.Ledger
	Screen    *screen.Screen
	Stderr    io.Writer
	Start     time.Time
	Program   Program
	// StopAsked reports whether the run must end after the current case. Rank 0 only.
	StopAsked func() bool

	number uint64 // of the current case, counted through all worlds
	tally  tally  // rank 0 only
}

// Program describes the program and MPI for the first line of a results file.
type Program struct {
	Tool    string // name and version
	Command []string
	MPI     result.MPI
}

// Measure measures the plan and returns the exit code of the run on rank 0. Collective.
func (r *Run) Measure(ctx context.Context) (code int, err error) {
	if r.Plan.Pattern != nil {
		err = r.measurePattern(ctx)
	} else {
		err = r.measureWorlds(ctx)
	}
	return r.tally.code(), err
}

// rank returns the number of this rank.
func (r *Run) rank() int { return r.Comm.Rank() }

// stopped reports whether the run must end after the current case. Rank 0 only.
func (r *Run) stopped(ctx context.Context) bool { return r.StopAsked() || ctx.Err() != nil }

// keep writes a record and counts it. Rank 0 only.
func (r *Run) keep(s *ledger.Sheet, record result.Entry, all result.AllRanks) error {
	r.Watch.Phase("write the record", 0)
	if err := r.Ledger.Add(s, record, all); err != nil {
		return err
	}
	r.tally.add(record.State())
	return nil
}

// endFiles closes the files of a world, as interrupted if the run ends early. Rank 0 only.
func (r *Run) endFiles(sheets ...*ledger.Sheet) error {
	if r.tally.over {
		r.Ledger.Finish(result.Interrupted, notice.RunSignalled{Signal: "SIGUSR1"}, r.tally.code(), "")
		return nil
	}
	for _, s := range sheets {
		if err := r.Ledger.Close(s, r.tally.code()); err != nil {
			return err
		}
	}
	return nil
}

// tally counts the points of the whole run by outcome. Rank 0 only.
type tally struct {
	points map[result.Status]int
	over   bool // stop requested
}

func (t *tally) add(s result.Status) {
	if t.points == nil {
		t.points = map[result.Status]int{}
	}
	t.points[s]++
}

// code returns the exit code of the points. Wrong data has precedence; failed points follow. Points that the plan skips
// do not count.
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

// createFile creates the results file of a run with this number of points. Rank 0 only.
func (r *Run) createFile(header result.Run, ranks []result.Rank) (*ledger.Sheet, error) {
	r.Watch.Phase("open the results file", 0)
	w, err := result.Create(r.Plan.Options.Out, header, ranks)
	if err != nil {
		return nil, exit.With(exit.Environment, err)
	}
	w.Warn = func(text string) { fmt.Fprintf(r.Stderr, "rank: %s\n", text) }
	return r.Ledger.Open(w, header.Sweep.Points), nil
}
