package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"busbar/internal/result"
)

// ledger is the open files of rank 0 and how the run ended. Its methods are called from the measuring goroutine, the
// watchdog, the side channel and the signal handler; whoever ends the run first decides how it ended.
type ledger struct {
	stderr io.Writer

	mu    sync.Mutex
	files []*sheet
	over  bool
}

// sheet is one open results file.
type sheet struct {
	w       *result.Writer
	planned int
	points  map[result.Status]int
	inHand  *result.Record // what is being measured; nil between cases
}

func (l *ledger) open(w *result.Writer, planned int) *sheet {
	s := &sheet{w: w, planned: planned, points: map[result.Status]int{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, s)
	return s
}

// add writes a record, with the lists of all ranks for the sidecar in a large world; after the end it does nothing.
func (l *ledger) add(s *sheet, r *result.Record, median, late []float64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	s.inHand = nil
	if err := s.w.AppendRanks(r, median, late); err != nil {
		return err
	}
	s.points[r.Status]++
	return nil
}

// begin says which point of a file is in hand, so that a sudden end can name it.
func (l *ledger) begin(s *sheet, r result.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.inHand = &r
}

// close ends one file whose world is done.
func (l *ledger) close(s *sheet, code int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	for i, f := range l.files {
		if f == s {
			l.files = append(l.files[:i], l.files[i+1:]...)
			break
		}
	}
	return s.w.End(s.end(result.Complete, "", code))
}

func (s *sheet) end(o result.Outcome, reason string, code int) result.End {
	done := 0
	for _, n := range s.points {
		done += n
	}
	return result.End{At: time.Now().UTC(), Outcome: o, Reason: reason, Code: code, Points: s.points,
		Left: max(0, s.planned-done), Load1: load1("/")}
}

// finish ends all open files at once; status is that of the point in hand, empty for none (it will be measured again).
// It says whether this call was the one that ended the run.
func (l *ledger) finish(o result.Outcome, reason string, code int, status result.Status) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	for _, s := range l.files {
		if s.inHand != nil && status != "" {
			r := *s.inHand
			r.Status, r.Reason, r.Check.Result = status, reason, "none"
			if err := s.w.Append(&r); err == nil {
				s.points[status]++
			}
		}
		if err := s.w.End(s.end(o, reason, code)); err != nil {
			fmt.Fprintf(l.stderr, "rank: %v\n", err)
		}
	}
	return true
}

// paths are the files that are open.
func (l *ledger) paths() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var p []string
	for _, s := range l.files {
		p = append(p, s.w.Path())
	}
	return p
}

// abortGrace is how long MPI_Abort may take to end the job before this process ends itself.
const abortGrace = 5 * time.Second

// die ends the whole job: MPI_Abort takes the other ranks along. It does not return.
func (j *job) die(code int) {
	go func() {
		if j.lib != nil && j.lib.Initialized() {
			j.lib.Abort(code)
		}
	}()
	if j.lib != nil && j.lib.Initialized() {
		time.Sleep(abortGrace)
	}
	os.Exit(code)
}
