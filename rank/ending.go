package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/timeout"
)

// ledger is the open files of rank 0 and how the run ended. Its methods are called from the measuring goroutine, the
// watchdog, the side channel and the signal handler; whoever ends the run first decides how it ended.
type ledger struct {
	stderr io.Writer

	mu    sync.Mutex
	files []*sheet
	over  bool

	named sync.Mutex
	names []string // of the files that are open

	elsewhere atomic.Bool // a file could not be written, and where its records are was said with that
}

// sheet is one open results file.
type sheet struct {
	w       *result.Writer
	planned int
	points  map[result.Status]int
	inHand  []result.Record     // what is being measured: of a pattern by several groups; none between cases
	step    []result.StepRecord // the same of training steps

	throttled []result.Throttled
	failed    bool // a record could not be written, which ends the run and is said with that
}

func (l *ledger) open(w *result.Writer, planned int) *sheet {
	s := &sheet{w: w, planned: planned, points: map[result.Status]int{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, s)
	l.named.Lock()
	defer l.named.Unlock()
	l.names = append(l.names, w.Path())
	return s
}

// add writes a record, with the lists of all ranks for the sidecar in a large world; after the end it does nothing.
func (l *ledger) add(s *sheet, r *result.Record, median, late []float64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	s.inHand = slices.DeleteFunc(s.inHand, func(h result.Record) bool { return h.Group.String() == r.Group.String() })
	if err := s.w.AppendRanks(r, median, late); err != nil {
		s.failed = true
		return err
	}
	s.points[r.Status]++
	return nil
}

// begin says which points of a file are in hand, so that a sudden end can name them.
func (l *ledger) begin(s *sheet, records ...result.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.inHand = records
}

// addRound writes a round of a training step; after the end it does nothing.
func (l *ledger) addRound(s *sheet, r *result.StepRound) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	err := s.w.AppendRound(r)
	s.failed = s.failed || err != nil
	return err
}

// addStep writes the record of a training step; after the end it does nothing.
func (l *ledger) addStep(s *sheet, r *result.StepRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return nil
	}
	s.step = nil
	if err := s.w.AppendStep(r); err != nil {
		s.failed = true
		return err
	}
	s.points[r.Status]++
	return nil
}

// beginStep says which training step of a file is in hand, so that a sudden end can name it.
func (l *ledger) beginStep(s *sheet, records ...result.StepRecord) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.step = records
}

// expect adds points to those that a file is to have.
func (l *ledger) expect(s *sheet, points int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.planned += points
}

// throttled keeps which GPUs hold back their clocks for the end of a file.
func (l *ledger) throttled(s *sheet, t []result.Throttled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.throttled = t
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
			l.files = slices.Delete(l.files, i, i+1)
			l.named.Lock()
			l.names = slices.Delete(l.names, i, i+1)
			l.named.Unlock()
			break
		}
	}
	return s.w.End(s.end(result.Complete, nil, code))
}

func (s *sheet) end(o result.Outcome, cause notice.Fact, code int) result.End {
	done := 0
	for _, n := range s.points {
		done += n
	}
	return result.End{At: time.Now().UTC(), Outcome: o, Why: result.Because(cause), Code: code, Points: s.points,
		Left: max(0, s.planned-done), Load1: machine.Load("/"), Throttled: s.throttled}
}

// finish ends all open files at once; status is that of the point in hand, empty for none (it will be measured again).
// It says whether this call was the one that ended the run. A filesystem that hangs does not keep it: what was synced
// before is on the disk, and only the end is missing.
func (l *ledger) finish(o result.Outcome, cause notice.Fact, code int, status result.Status) bool {
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

func (l *ledger) end(o result.Outcome, cause notice.Fact, code int, status result.Status) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	for _, s := range l.files {
		for _, r := range s.inHand {
			if status == "" {
				break
			}
			r.Status, r.Why, r.Check.Result = status, aborted(cause), "none"
			if err := s.w.Append(&r); err == nil {
				s.points[status]++
			}
		}
		s.giveUpSteps(status, cause)
		if err := s.w.End(s.end(o, cause, code)); err != nil {
			l.elsewhere.Store(true)
			if !s.failed {
				fmt.Fprintf(l.stderr, "rank: %v\n", err)
			}
		}
	}
	return true
}

// aborted is why the point in hand has no value.
func aborted(cause notice.Fact) result.Why {
	return result.Because(notice.PointAborted{Cause: notice.Kept{Fact: cause}})
}

// giveUpSteps writes the record of the training step in hand, where it gets one.
func (s *sheet) giveUpSteps(status result.Status, cause notice.Fact) {
	for _, r := range s.step {
		if status == "" {
			return
		}
		r.Status, r.Why, r.Check.Result = status, aborted(cause), "none"
		if err := s.w.AppendStep(&r); err == nil {
			s.points[status]++
		}
	}
}

// paths are the files that are open. It never waits for a filesystem.
func (l *ledger) paths() []string {
	l.named.Lock()
	defer l.named.Unlock()
	return slices.Clone(l.names)
}

// die ends the whole job: MPI_Abort takes the other ranks along, and rank 0's word does where MPI's does not arrive. It
// does not return.
func (j *job) die(code int) {
	if j.hub != nil {
		go j.hub.Broadcast(launch.Event{Kind: eventAbort})
	}
	j.nameless()
	time.Sleep(timeout.PassOn)
	go func() {
		if j.connected != nil && j.connected.Connected() {
			j.connected.Abort(code)
		}
	}()
	if j.connected != nil && j.connected.Connected() {
		time.Sleep(timeout.Abort)
	}
	os.Exit(code)
}

// yield lets whoever ends the run do so, and ends this process where that comes to nothing. It does not return.
func (j *job) yield(code int) {
	time.Sleep(timeout.CloseFiles + timeout.Abort)
	j.die(code)
}
