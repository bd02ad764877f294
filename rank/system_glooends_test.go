package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
)

// A rank of Gloo that dies or is stopped is named, amid small messages and large ones, and what was measured is kept.
// A rank 0 that dies takes the end of its file along, and MPICH's launcher kills all ranks at once when one is.
func TestGlooRankEnds(t *testing.T) {
	t.Parallel()
	glooShim(t)
	for _, c := range []struct {
		mpirun string
		np     int
		size   string
		victim int
		with   syscall.Signal
	}{
		{openMPI, 3, "8", 2, syscall.SIGKILL},
		{openMPI, 2, "8M", 1, syscall.SIGKILL},
		{openMPI, 2, "8M", 0, syscall.SIGKILL},
		{openMPI, 3, "8", 1, syscall.SIGSTOP},
		{openMPI, 2, "8M", 0, syscall.SIGSTOP},
		{mpich, 2, "8", 0, syscall.SIGSTOP},
		{mpich, 2, "8M", 1, syscall.SIGSTOP},
		{mpich, 2, "8M", 1, syscall.SIGKILL},
	} {
		t.Run(fmt.Sprintf("%s, %s bytes, rank %d %s", c.mpirun, c.size, c.victim, c.with), func(t *testing.T) {
			parallelOn(t, c.mpirun)
			out := t.TempDir()
			r := rankRun{mpirun: c.mpirun, np: c.np,
				args: []string{"--backend", "gloo", "--collective", "all_reduce", "-b", c.size, "-e", c.size,
					"-n", "3", "-w", "1", "-c", "0", "-N", "0", "--deadline", hangDeadline, "--out", out}}.start(t)
			before := r.awaitPoints(out, 2)
			who := fmt.Sprintf("rank %d on %s (pid %d)", c.victim, hostName(), r.pid(c.victim))
			r.signal(c.victim, c.with)
			o := r.wait()
			f := readOne(t, out)
			checkKept(t, f, before)
			killed := c.with == syscall.SIGKILL
			if o.code == 0 || !killed && o.code != exit.Hang {
				t.Error(o)
			}
			switch {
			case killed && (c.victim == 0 || c.mpirun == mpich): // the launcher alone speaks
				return
			case !strings.Contains(o.stderr, who):
				t.Errorf("%s is not named: %s", who, o)
			}
			switch {
			case killed:
				checkEnd(t, f, result.Aborted, exit.Failed)
			case c.victim != 0 || f.End != nil: // Open MPI wakes its ranks before it ends them
				checkEnd(t, f, result.Aborted, exit.Hang)
			default:
				return
			}
			if !strings.Contains(f.End.Reason, who) {
				t.Errorf("the end does not name %s: %s", who, f.End.Reason)
			}
		})
	}
}
