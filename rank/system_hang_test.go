package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/hang"
)

// hangDeadline is that of tests in which something hangs: short, and longer than any phase takes on a busy machine.
const hangDeadline = "6s"

// A rank that is stopped hangs all others: the watchdog names it and what was in hand.
func TestRankHangs(t *testing.T) {
	t.Parallel()
	for _, w := range []struct {
		mpirun string
		np     int
	}{{openMPI, 3}, {mpich, 2}} {
		t.Run(w.mpirun, func(t *testing.T) {
			parallelOn(t, w.mpirun)
			out := t.TempDir()
			r := rankRun{mpirun: w.mpirun, np: w.np, args: endless(out, "--deadline", hangDeadline)}.start(t)
			before := r.awaitPoints(out, 5)
			victim := r.pid(1)
			r.signal(1, syscall.SIGSTOP)
			o := r.wait()
			if o.code != exit.Hang {
				t.Errorf("want exit code %d: %s", exit.Hang, o)
			}
			f := readOne(t, out)
			checkWhole(t, f, result.OK, result.Timeout)
			checkEnd(t, f, result.Aborted, exit.Hang)
			checkKept(t, f, before)
			last := f.Records[len(f.Records)-1]
			if last.Status != result.Timeout || last.Time != nil || last.Check.Result != "none" {
				t.Errorf("the point in hand is not kept as a timeout: %+v", last)
			}
			for _, want := range []string{fmt.Sprintf("rank 1 on %s (pid %d)", hostName(), victim), "in phase ",
				last.Case.String()} {
				for where, text := range map[string]string{"end": f.End.Reason, "record": last.Reason,
					"stderr": o.stderr} {
					if !strings.Contains(text, want) {
						t.Errorf("%s: no %q in %q", where, want, text)
					}
				}
			}
			checkMerges(t, out)
		})
	}
}

// When rank 0 is the one that is stopped the others name it, and the file says no other thing once rank 0 wakes up.
func TestRank0Hangs(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 3, args: endless(out, "--deadline", hangDeadline)}.start(t)
	before := r.awaitPoints(out, 5)
	r.signal(0, syscall.SIGSTOP)
	o := r.wait()
	who := "rank 0 on " + hostName()
	if o.code != exit.Hang || !strings.Contains(o.stderr, who) || !strings.Contains(o.stderr, "in phase ") {
		t.Errorf("want exit code %d and %q: %s", exit.Hang, who, o)
	}
	f := readOne(t, out)
	checkKept(t, f, before)
	if f.End != nil { // Open MPI wakes its ranks before it ends them
		checkEnd(t, f, result.Aborted, exit.Hang)
		if !strings.Contains(f.End.Reason, who) {
			t.Errorf("the end does not name %s: %s", who, f.End.Reason)
		}
	}
}

// A rank that hangs while the job starts is named as well.
func TestRankHangsAtTheStart(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 2, args: endless(out, "--deadline", hangDeadline)}.start(t)
	r.signal(1, syscall.SIGSTOP)
	o := r.wait()
	if o.code == 0 || !strings.Contains(o.stderr, "in phase ") && !strings.Contains(o.stderr, "rank 1") {
		t.Errorf("a rank that never came is not named: %s", o)
	}
}

// A job that was suspended whole, longer than its deadline, goes on as if nothing had been, though not all ranks wake
// up at once.
func TestSuspended(t *testing.T) {
	out := t.TempDir()
	// Not in parallel, and without yielding: rank 0 is to use its processor as soon as it waits for rank 1.
	r := rankRun{mpirun: openMPI, np: 2, args: endless(out, "--deadline", "5s"),
		env: []string{"OMPI_MCA_mpi_yield_when_idle=0"}}.start(t)
	r.awaitPoints(out, 3)
	r.signal(1, syscall.SIGSTOP)
	before := r.awaitStandstill(out)
	r.signal(0, syscall.SIGSTOP)
	time.Sleep(hang.WatchGap + 2*hang.Tick) // what is tested
	spent := r.processorTime(0)
	r.signal(0, syscall.SIGCONT)
	r.await("rank 0 to look at its watch", func() bool { return r.processorTime(0) > spent+2*hang.Tick })
	r.signal(1, syscall.SIGCONT)
	r.awaitPoints(out, before+20)
	r.signal(launcher, syscall.SIGTERM)
	r.wait()
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	checkEnd(t, f, result.Interrupted, 143)
}
