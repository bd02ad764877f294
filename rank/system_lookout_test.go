package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/hang"
)

const noSideChannel = "BUSBAR_SIDE_CHANNEL=off"

// named is the shared memory on this host that has a name.
func named() (all []string) {
	for _, folder := range []string{"/dev/shm", os.TempDir()} {
		names, _ := filepath.Glob(filepath.Join(folder, "busbar-*Z_*-*"))
		all = append(all, names...)
	}
	return all
}

// awaitNameless waits until no memory has a name but what had one before: another job's lasts for milliseconds.
func awaitNameless(t *testing.T, before []string) {
	t.Helper()
	await(t, "shared memory to have no name", func() bool {
		return !slices.ContainsFunc(named(), func(name string) bool { return !slices.Contains(before, name) })
	})
}

// Where TCP is forbidden a rank that is stopped, whichever it is, is named from the memory of its host.
func TestRankHangsWithoutSideChannel(t *testing.T) {
	t.Parallel()
	nccl := []string{"--rehearse", "--backend", "nccl"}
	for _, c := range []struct {
		mpirun     string
		np, victim int
		more       []string
	}{{openMPI, 3, 1, nil}, {openMPI, 3, 0, nil}, {mpich, 2, 1, nil}, {openMPI, 3, 2, nccl}, {openMPI, 3, 0, nccl}} {
		t.Run(fmt.Sprintf("%s %d %v", c.mpirun, c.victim, c.more), func(t *testing.T) {
			parallelOn(t, c.mpirun)
			out, memory := t.TempDir(), named()
			r := rankRun{mpirun: c.mpirun, np: c.np, env: []string{noSideChannel},
				args: endless(out, append(c.more, "--deadline", hangDeadline)...)}.start(t)
			before := r.awaitPoints(out, 3)
			victim := r.pid(c.victim)
			r.signal(c.victim, syscall.SIGSTOP)
			o := r.wait()
			if o.code != exit.Hang {
				t.Errorf("want exit code %d: %s", exit.Hang, o)
			}
			for _, want := range []string{fmt.Sprintf("hang: rank %d on %s (pid %d) does not answer", c.victim,
				hostName(), victim),
				fmt.Sprintf("rank %d was last heard of", c.victim), hang.ProcessStopped} {
				if !strings.Contains(o.stderr, want) {
					t.Errorf("no %q: %s", want, o)
				}
			}
			f := readOne(t, out)
			if f.End != nil { // a rank 0 that is stopped may not be woken up before it is killed
				checkEnd(t, f, result.Aborted, exit.Hang)
			}
			checkKept(t, f, before)
			checkMerges(t, out)
			awaitNameless(t, memory)
		})
	}
}

// A rank that is stopped on another host is named with what it did last. Where TCP between hosts is forbidden each host
// reports its own ranks, also where rank 0 sees nothing of the one that is stopped. Ranks of other hosts than rank 0's
// may wait longer for a rank 0 that is stopped.
func TestRankHangsOnOneOfTwoHosts(t *testing.T) {
	t.Parallel()
	for victim, want := range map[int][]string{
		3: {"rank 3 on node2 (pid PID) does not answer", "rank 3 was last heard of", hang.ProcessStopped},
		0: {"rank 0 on node1 (pid PID) does not answer", "rank 0 was last heard of", "no report from ranks 2 on node2"},
		2: {"rank 2 on node2 (pid PID) does not answer", "rank 2 was last heard of",
			"no report from ranks 0 on node1", "no report from ranks 2 on node2"},
	} {
		t.Run(fmt.Sprint(victim), func(t *testing.T) {
			parallel(t)
			out := t.TempDir()
			run := onNodes(t, openMPI, 4, 2, endless(out, "--deadline", hangDeadline)...)
			if victim != 3 {
				run.env = append(run.env, noSideChannel)
			}
			r := run.start(t)
			before := r.awaitPoints(out, 3)
			pid := r.pid(victim)
			r.signal(victim, syscall.SIGSTOP)
			o := r.wait()
			for _, words := range want {
				if words = strings.ReplaceAll(words, "PID", fmt.Sprint(pid)); !strings.Contains(o.stderr, words) {
					t.Errorf("no %q: %s", words, o)
				}
			}
			if victim == 3 && strings.Contains(o.stderr, "no report from") || o.code != exit.Hang {
				t.Errorf("want exit code %d: %s", exit.Hang, o)
			}
			f := readOne(t, out)
			if f.End != nil { // a rank 0 that is stopped may not be woken up before it is killed
				checkEnd(t, f, result.Aborted, exit.Hang)
			}
			checkKept(t, f, before)
		})
	}
}

// A rank 0 that is stopped, alone on its host, finds in the side channel why the run ends.
func TestRank0HangsAloneOnItsHost(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := onNodes(t, openMPI, 3, 1, endless(out, "--deadline", hangDeadline)...).start(t)
	before := r.awaitPoints(out, 3)
	r.signal(0, syscall.SIGSTOP)
	o := r.wait()
	if reports := strings.Count(o.stderr, "rank: hang:"); o.code != exit.Hang || reports == 0 ||
		!strings.Contains(o.stderr, "rank 0 on node1") || strings.Contains(o.stderr, "interrupted by") {
		t.Errorf("want exit code %d and rank 0: %s", exit.Hang, o)
	}
	f := readOne(t, out)
	if f.End != nil {
		checkEnd(t, f, result.Aborted, exit.Hang)
	}
	checkKept(t, f, before)
}

// A rank that never arrives is named with its operation, though nobody can be asked.
func TestRankThatIsLateWithoutSideChannel(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 3,
		env: []string{noSideChannel, "BUSBAR_REHEARSAL_FAULT=hang@rank=2,size=4096,phase=measure"},
		args: []string{"--rehearse", "--backend", "nccl",
			"--collective", "all_reduce", "-b", "1K", "-e", "16K", "-f", "4", "-n", "10", "--deadline", "2s", "--out",
			out}}.run(t)
	want := "rank 2 on " + hostName() + " is still at iteration"
	if o.code != exit.Hang || !strings.Contains(o.stderr, want) ||
		!strings.Contains(o.stderr, "(issuing) of all_reduce float32 sum 4 KiB") {
		t.Errorf("want exit code %d and %q: %s", exit.Hang, want, o)
	}
}

// Nothing is left of the shared memory from the first measurement on, whatever dies.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		np     int
		signal syscall.Signal
		target int
	}{
		"alone":             {1, syscall.SIGTERM, 0},
		"asked to end":      {2, syscall.SIGUSR1, launcher},
		"killed altogether": {3, syscall.SIGKILL, launcher},
	} {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			out, memory := t.TempDir(), named()
			r := rankRun{mpirun: openMPI, np: c.np, args: endless(out)}.start(t)
			r.awaitPoints(out, 1)
			awaitNameless(t, memory)
			if c.signal == syscall.SIGKILL {
				for rank := range c.np {
					r.signal(rank, c.signal)
				}
			} else {
				r.signal(c.target, c.signal)
			}
			r.wait()
			awaitNameless(t, memory)
		})
	}
}

// A run that ends by itself leaves its results and nothing else.
func TestGoodEndLeavesResultsOnly(t *testing.T) {
	parallel(t)
	out, memory := filepath.Join(t.TempDir(), "new", "results"), named()
	rankRun{mpirun: openMPI, np: 2, args: []string{"--quiet", "--collective", "all_reduce", "-b", "8", "-e", "8", "-n",
		"5", "--out", out}}.mustRun(t)
	names, err := filepath.Glob(filepath.Join(out, "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("%v %v, want the results file and its text view", err, names)
	}
	awaitNameless(t, memory)
}
