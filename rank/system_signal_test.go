package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"busbar/internal/result"
)

// TERM and INT end a run at once and keep what was measured, whoever gets them.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mpirun string
		signal syscall.Signal
		target int
		code   int // that the end names
	}{
		{openMPI, syscall.SIGTERM, launcher, 143},
		{openMPI, syscall.SIGTERM, 0, 143},
		{openMPI, syscall.SIGTERM, 1, 143},
		{openMPI, syscall.SIGINT, launcher, 143}, // this mpirun makes SIGTERM of it
		{openMPI, syscall.SIGINT, 0, 130},
		{openMPI, syscall.SIGINT, 1, 130},
		{mpich, syscall.SIGTERM, launcher, 143},
		{mpich, syscall.SIGINT, launcher, 130},
		{mpich, syscall.SIGTERM, 1, 143},
	} {
		t.Run(fmt.Sprintf("%s %s to %d", c.mpirun, c.signal, c.target), func(t *testing.T) {
			parallelOn(t, c.mpirun)
			out := t.TempDir()
			r := rankRun{mpirun: c.mpirun, np: 2, args: endless(out)}.start(t)
			before := r.awaitPoints(out, 3)
			r.signal(c.target, c.signal)
			o := r.wait()
			if o.code == 0 && !losesCode(c.mpirun, c.target) {
				t.Error("exit code 0 though the run was interrupted")
			}
			f := readOne(t, out)
			checkWhole(t, f, result.OK)
			checkEnd(t, f, result.Interrupted, c.code)
			checkKept(t, f, before)
			name := map[int]string{143: "SIGTERM", 130: "SIGINT"}[c.code]
			if c.target == 1 {
				name += " to rank 1 on " + hostName()
			}
			if !strings.HasPrefix(f.End.Reason, name) {
				t.Errorf("the end says %q, want %q", f.End.Reason, name)
			}
			for _, want := range []string{"interrupted by " + name, f.Path, "--resume"} {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("no %q is said: %s", want, o)
				}
			}
		})
	}
}

// USR1 lets the case in hand end, and then the run. A rank that is stopped keeps a case in hand.
func TestAskedToEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mpirun string
		target int
	}{{openMPI, launcher}, {openMPI, 0}, {openMPI, 1}, {mpich, launcher}} {
		t.Run(fmt.Sprintf("%s to %d", c.mpirun, c.target), func(t *testing.T) {
			parallelOn(t, c.mpirun)
			out := t.TempDir()
			r := rankRun{mpirun: c.mpirun, np: 2, args: endless(out)}.start(t)
			r.awaitPoints(out, 1)
			r.signal(1, syscall.SIGSTOP)
			before := r.awaitStandstill(out)
			r.signal(c.target, syscall.SIGUSR1)
			r.signal(1, syscall.SIGCONT)
			o := r.wait()
			if o.code != 143 && !losesCode(c.mpirun, c.target) {
				t.Errorf("want exit code 143: %s", o)
			}
			f := readOne(t, out)
			checkWhole(t, f, result.OK)
			checkEnd(t, f, result.Interrupted, 143)
			if len(f.Records) <= before {
				t.Errorf("%d records, there were %d before the signal: the case in hand is lost", len(f.Records),
					before)
			}
			if !strings.Contains(f.End.Reason, "SIGUSR1") || !strings.Contains(o.stdout, "--resume") {
				t.Errorf("the end says %q\n%s", f.End.Reason, o)
			}
		})
	}
}

// losesCode is true of MPICH's mpirun, which now and then gives 0 for ranks that did not when it gets the signal
// itself.
func losesCode(mpirun string, target int) bool { return mpirun == mpich && target == launcher }

// awaitStandstill waits until rank 0 spends its time waiting for another rank, and counts the records.
func (r *running) awaitStandstill(dir string) (points int) {
	r.t.Helper()
	spent := r.processorTime(0)
	r.await("rank 0 to wait", func() bool {
		if now := r.awaitPoints(dir, 0); now != points {
			points, spent = now, r.processorTime(0)
		}
		return r.processorTime(0) > spent+200*time.Millisecond
	})
	return points
}

// Without a launcher the exit codes are the rank's own.
func TestInterruptedAlone(t *testing.T) {
	t.Parallel()
	for _, mpi := range []string{"openmpi", "mpich"} {
		for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130,
			syscall.SIGUSR1: 143} {
			t.Run(fmt.Sprintf("%s %s", mpi, signal), func(t *testing.T) {
				parallelOn(t, "mpirun."+mpi)
				out := t.TempDir()
				r := rankRun{args: endless(out, "--mpi", mpi)}.start(t)
				before := r.awaitPoints(out, 3)
				r.signal(0, signal)
				if o := r.wait(); o.code != code {
					t.Errorf("want exit code %d: %s", code, o)
				}
				f := readOne(t, out)
				checkWhole(t, f, result.OK)
				checkEnd(t, f, result.Interrupted, code)
				checkKept(t, f, before)
			})
		}
	}
}

// A run that is interrupted before anything is measured ends with the same code.
func TestInterruptedAtTheStart(t *testing.T) {
	parallel(t)
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130} {
		r := rankRun{args: endless(t.TempDir())}.start(t)
		r.await("the MPI library to be loaded", func() bool { return r.maps(0, "libmpi") })
		r.signal(0, signal)
		if o := r.wait(); o.code != code {
			t.Errorf("%s: want exit code %d: %s", signal, code, o)
		}
	}
}

// A batch system tells everybody at once, and more than once: the run ends once.
func TestSignalsFromAllSides(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 3, args: endless(out)}.start(t)
	targets := []int{0, 1, 2, launcher, 0}
	for _, target := range targets[:3] {
		r.pid(target)
	}
	before := r.awaitPoints(out, 3)
	for _, target := range targets {
		r.signal(target, syscall.SIGTERM)
	}
	r.wait()
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	checkEnd(t, f, result.Interrupted, 143)
	checkKept(t, f, before)
	text, err := os.ReadFile(f.Path)
	if err != nil || strings.Count(string(text), `"kind":"end"`) != 1 {
		t.Errorf("%v\n%s", err, text[max(0, len(text)-2000):])
	}
}
