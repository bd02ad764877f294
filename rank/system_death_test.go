package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
)

// A rank dies: what was measured stays, and rank 0 says who it was.
func TestRankIsKilled(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 3, args: endless(out)}.start(t)
	before := r.awaitPoints(out, 8)
	victim := r.pid(2)
	r.signal(2, syscall.SIGKILL)
	o := r.wait()
	if o.code == 0 {
		t.Errorf("exit code 0 though a rank was killed\n%s", o)
	}
	f := readOne(t, out)
	checkWhole(t, f, result.OK, result.Failed)
	checkEnd(t, f, result.Aborted, exit.Failed)
	who := fmt.Sprintf("rank 2 on %s (pid %d)", hostName(), victim)
	if !strings.Contains(f.End.Reason, who) || !strings.Contains(o.stderr, who) {
		t.Errorf("the end does not name %s: %s\n%s", who, f.End.Reason, o)
	}
	checkKept(t, f, before)
	checkMerges(t, out)
}

// Rank 0 has the files: when it dies there is no end, but every record that was on disk.
func TestRank0IsKilled(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 3, args: endless(out)}.start(t)
	before := r.awaitPoints(out, 8)
	r.signal(0, syscall.SIGKILL)
	o := r.wait()
	if o.code == 0 || !strings.Contains(o.stderr, "rank 0") {
		t.Errorf("rank 0 was killed, and that is not said\n%s", o)
	}
	f := readOne(t, out)
	if f.End != nil {
		t.Errorf("a rank 0 that was killed wrote an end: %+v", f.End)
	}
	checkKept(t, f, before)
	checkMerges(t, out)
}

// The launcher dies: its ranks end, and what was measured stays.
func TestLauncherIsKilled(t *testing.T) {
	t.Parallel()
	for _, mpirun := range []string{openMPI, mpich} {
		t.Run(mpirun, func(t *testing.T) {
			parallelOn(t, mpirun)
			out := t.TempDir()
			r := rankRun{mpirun: mpirun, np: 2, args: endless(out)}.start(t)
			before := r.awaitPoints(out, 3)
			r.signal(launcher, syscall.SIGKILL)
			r.wait()
			checkKept(t, readOne(t, out), before)
		})
	}
}

func checkKept(t *testing.T, f *result.File, before int) {
	t.Helper()
	ok := 0
	for _, r := range f.Records {
		if r.Status == result.OK {
			ok++
		}
	}
	if ok < before {
		t.Errorf("%d points were on disk, %d are left", before, ok)
	}
}

// checkMerges lets post read what is there.
func checkMerges(t *testing.T, dir string) {
	t.Helper()
	c := exec.Command(compiled(t).post, "merge", "-o", t.TempDir(), dir)
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("post merge: %v\n%s", err, said)
	}
}
