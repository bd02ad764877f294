// Package ledger writes the results files of rank 0 during a run. The first caller that ends the run decides how the
// files end.
package ledger

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/machine"
	"busbar/rank/timeout"
)

// Ledger holds the open files of rank 0 and the end of the run. The measuring goroutine, the watchdog, the side channel
// and the signal handler call its methods.
type Ledger struct {
	stderr io.Writer

	mu    sync.Mutex
	files []*Sheet
	over  bool

	named sync.Mutex
	names []string // of the open files

	elsewhere atomic.Bool // a write failed, and its error named the location of the records
}

// Sheet is one open results file.
type Sheet struct {
	w       *result.Writer
	planned int
	points  map[result.Status]int
	inHand  []result.Entry // in measurement: several groups of a pattern; none between points

	throttled []result.Throttled
	failed    bool // a write failed, which ends the run
}

// Open adds a file for this number of points.
func (l *Ledger) Open(w *result.Writer, planned int) *Sheet {
	s := &Sheet{w: w, planned: planned, points: map[result.Status]int{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, s)
	l.named.Lock()
	defer l.named.Unlock()
	l.names = append(l.names, w.Path())
	return s
}

// Add writes a record. In large worlds the times of all ranks go to the sidecar. After the end it does nothing.
func (l *Ledger) Add(s *Sheet, e result.Entry, all result.AllRanks) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	s.inHand = slices.DeleteFunc(s.inHand, e.SamePoint)
	if err := s.w.AppendRanks(e, all); err != nil {
		s.failed = true
		return err
	}
	s.points[e.State()]++
	return nil
}

// Begin stores the current points of a file, so that a sudden end can name them. It takes ownership of the records.
func (l *Ledger) Begin(s *Sheet, records ...result.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.inHand = records
}

// AddRound writes a round of a training step; after the end it does nothing.
func (l *Ledger) AddRound(s *Sheet, r *result.StepRound) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	err := s.w.AppendRound(r)
	s.failed = s.failed || err != nil
	return err
}

// Expect adds points to the expected number of a file.
func (l *Ledger) Expect(s *Sheet, points int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.planned += points
}

// Throttled stores which GPUs reduced their clocks, for the end of a file: each rank once, with all reasons.
func (l *Ledger) Throttled(s *Sheet, more []result.Throttled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range more {
		i := slices.IndexFunc(s.throttled, func(k result.Throttled) bool { return k.Rank == t.Rank })
		if i < 0 {
			s.throttled = append(s.throttled, t)
			continue
		}
		for _, reason := range t.Reasons {
			if !slices.Contains(s.throttled[i].Reasons, reason) {
				s.throttled[i].Reasons = append(s.throttled[i].Reasons, reason)
			}
		}
	}
	slices.SortFunc(s.throttled, func(a, b result.Throttled) int { return cmp.Compare(a.Rank, b.Rank) })
}

// Close ends the file of a finished world.
func (l *Ledger) Close(s *Sheet, code int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	for i, f := range l.files {
		if f == s {
			l.files = slices.Delete(l.files, i, i+1)
			l.named.Lock()
			l.names = slices.Delete(l.names, i, i+1)
			l.named.Unlock()
			break
		}
	}
	return s.w.End(s.end(result.Complete, nil, code))
}

func (s *Sheet) end(o result.Outcome, cause notice.Fact, code int) result.End {
	done := 0
	for _, n := range s.points {
		done += n
	}
	return result.End{At: time.Now().UTC(), Outcome: o, Why: result.Because(cause), Code: code, Points: s.points,
		Left: max(0, s.planned-done), Load1: machine.Load("/"), Throttled: s.throttled}
}

// Finish ends all open files. status is that of the current point; empty if a later run shall measure it. Finish
// reports whether this call ended the run. If the filesystem hangs, only the end of the files is missing: records are
// synced.
func (l *Ledger) Finish(o result.Outcome, cause notice.Fact, code int, status result.Status) bool {
	first := make(chan bool, 1)
	go func() { first <- l.end(o, cause, code, status) }()
	select {
	case b := <-first:
		return b
	case <-time.After(timeout.CloseFiles):
		fmt.Fprintf(l.stderr, "rank: the results folder does not answer; the files have no end\n")
		return true
	}
}

func (l *Ledger) end(o result.Outcome, cause notice.Fact, code int, status result.Status) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	for _, s := range l.files {
		s.giveUp(status, cause)
		if err := s.w.End(s.end(o, cause, code)); err != nil {
			l.elsewhere.Store(true)
			if !s.failed {
				fmt.Fprintf(l.stderr, "rank: %v\n", err)
			}
		}
	}
	return true
}

// giveUp writes the records of the current points with a status; none if it is empty.
func (s *Sheet) giveUp(status result.Status, cause notice.Fact) {
	if status == "" {
		return
	}
	for _, e := range s.inHand {
		e.Abort(status, result.Because(notice.PointAborted{Cause: notice.Kept{Fact: cause}}))
		if err := s.w.Append(e); err == nil {
			s.points[status]++
		}
	}
}

// Paths returns the open files. It never waits for a filesystem.
func (l *Ledger) Paths() []string {
	l.named.Lock()
	defer l.named.Unlock()
	return slices.Clone(l.names)
}

// Reported reports whether a write failed and its error named the location of the records.
func (l *Ledger) Reported() bool { return l.elsewhere.Load() }

// New returns a ledger without files, which reports errors on stderr.
func New(stderr io.Writer) *Ledger { return &Ledger{stderr: stderr} }

// Path returns the path of the file.
func (s *Sheet) Path() string { return s.w.Path() }

// TraceFolder returns the folder of the traces of training steps that the file names.
func (s *Sheet) TraceFolder() string { return s.w.TraceFolder() }
