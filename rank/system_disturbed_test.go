package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// noSideChannel is the environment where TCP is forbidden: a rank that hangs is found in the memory of its host.
var noSideChannel = []string{"BUSBAR_SIDE_CHANNEL=off"}

// namedMemory is the shared memory on this host that has a name.
func namedMemory() (all []string) {
	for _, folder := range []string{"/dev/shm", os.TempDir()} {
		names, _ := filepath.Glob(filepath.Join(folder, "busbar-*Z_*-*"))
		all = append(all, names...)
	}
	return all
}

// disturbed is a launch of which one process gets a signal while it measures.
type disturbed struct {
	mpirun string
	np     int // 2 unless given
	each   int // ranks on a node; 0: all are on this host
	args   string
	env    []string
	target int
	signal syscall.Signal
	code   int      // in the end of the file; noEnd: there is none; anyEnd: this depends on the launcher
	words  []string // more that is on stderr
}

const (
	noEnd  = -1
	anyEnd = -2
)

// launch starts the launch, which ends by the signal alone.
func (d disturbed) launch(t *testing.T, out string) *running {
	begin := endless(out)
	if strings.Contains(d.args, "--pattern") {
		begin = small(out)
	}
	args := append(begin, append([]string{"--deadline", hangDeadline}, strings.Fields(d.args)...)...)
	if strings.Contains(d.args, "gloo") {
		glooShim(t)
	}
	l := rankRun{mpirun: d.mpirun, np: d.np, args: args}
	if d.each > 0 {
		l = onNodes(t, d.np, d.each, args...)
	}
	l.env = append(l.env, d.env...)
	return l.start(t)
}

// Whatever ends a launch: what was measured is kept, the file and stderr state why it ended, a rank that hangs or
// dies is named, and no shared memory is left.
func TestDisturbed(t *testing.T) {
	t.Parallel()
	const (
		simulated = "--simulate --backend nccl"
		small     = "--backend gloo -e 8 -c 0"
		large     = "--backend gloo -b 8M -e 8M -n 3 -c 0"
		pairs     = "--pattern pairs -n 20000"
	)
	stopped := []string{"last reported", hang.ProcessStopped}
	elsewhere := append([]string{"no report from ranks 2 on node2"}, stopped...)
	for _, d := range []disturbed{
		{target: launcher, signal: syscall.SIGTERM, code: 143},
		{target: 0, signal: syscall.SIGTERM, code: 143},
		{target: 1, signal: syscall.SIGTERM, code: 143},
		{target: launcher, signal: syscall.SIGINT, code: 143}, // this mpirun makes SIGTERM of it
		{target: 0, signal: syscall.SIGINT, code: 130},
		{target: 1, signal: syscall.SIGINT, code: 130},
		{mpirun: mpich, target: launcher, signal: syscall.SIGTERM, code: 143},
		{mpirun: mpich, target: launcher, signal: syscall.SIGINT, code: 130},
		{mpirun: mpich, target: 1, signal: syscall.SIGTERM, code: 143},
		{mpirun: alone, target: 0, signal: syscall.SIGTERM, code: 143},
		{mpirun: alone, target: 0, signal: syscall.SIGINT, code: 130},

		{np: 3, target: 2, signal: syscall.SIGKILL, code: exit.Failed},
		{np: 3, target: 0, signal: syscall.SIGKILL, code: noEnd}, // it has the files
		{target: launcher, signal: syscall.SIGKILL, code: anyEnd},
		{mpirun: mpich, target: launcher, signal: syscall.SIGKILL, code: anyEnd},
		{np: 3, args: small, target: 2, signal: syscall.SIGKILL, code: exit.Failed},
		{args: large, target: 1, signal: syscall.SIGKILL, code: exit.Failed},
		{np: 4, each: 1, args: pairs, target: 2, signal: syscall.SIGKILL, code: exit.Failed},

		{np: 3, target: 1, signal: syscall.SIGSTOP, code: exit.Hang},
		{np: 3, target: 0, signal: syscall.SIGSTOP, code: exit.Hang},
		{mpirun: mpich, target: 1, signal: syscall.SIGSTOP, code: exit.Hang},
		{np: 3, args: simulated, target: 1, signal: syscall.SIGSTOP, code: exit.Hang},
		{np: 3, env: noSideChannel, target: 1, signal: syscall.SIGSTOP, code: exit.Hang, words: stopped},
		{np: 3, env: noSideChannel, target: 0, signal: syscall.SIGSTOP, code: exit.Hang, words: stopped},
		{np: 3, env: noSideChannel, args: simulated, target: 0, signal: syscall.SIGSTOP, code: exit.Hang,
			words: stopped},
		{mpirun: mpich, env: noSideChannel, target: 1, signal: syscall.SIGSTOP, code: exit.Hang, words: stopped},
		{np: 4, each: 2, target: 3, signal: syscall.SIGSTOP, code: exit.Hang, words: stopped},
		{np: 4, each: 2, env: noSideChannel, target: 0, signal: syscall.SIGSTOP, code: exit.Hang, words: elsewhere},
		{np: 4, each: 2, env: noSideChannel, target: 2, signal: syscall.SIGSTOP, code: exit.Hang, words: elsewhere},
		{np: 3, each: 1, target: 0, signal: syscall.SIGSTOP, code: exit.Hang},
		{np: 3, args: small, target: 1, signal: syscall.SIGSTOP, code: exit.Hang},
		{args: large, target: 0, signal: syscall.SIGSTOP, code: exit.Hang},
		{mpirun: mpich, args: large, target: 1, signal: syscall.SIGSTOP, code: exit.Hang},
		{np: 4, each: 1, args: pairs, target: 3, signal: syscall.SIGSTOP, code: exit.Hang},
	} {
		name := fmt.Sprint(d.signal, " to ", d.target, " of ", cmp.Or(d.np, 2), " ", d.mpirun, " ", d.args, d.env,
			d.each)
		t.Run(name, func(t *testing.T) {
			parallelOn(t, d.mpirun)
			out, memory := t.TempDir(), namedMemory()
			r := d.launch(t, out)
			before := r.awaitPoints(out, 3)
			who, pid := "", 0
			if d.target >= 0 {
				host := hostName()
				if d.each > 0 {
					host = fmt.Sprint("node", d.target/d.each+1)
				}
				pid = r.pid(d.target)
				who = fmt.Sprintf("rank %d on %s", d.target, host)
			}
			r.signal(d.target, d.signal)
			o := r.wait()
			f := readOne(t, out)
			checkKept(t, f, before)
			d.checkEnd(t, f, o, who, pid)
			await(t, "shared memory to have no name", func() bool { // another job's has one for milliseconds
				return !slices.ContainsFunc(namedMemory(), func(m string) bool { return !slices.Contains(memory, m) })
			})
		})
	}
}

// checkEnd compares how a launch ended with what is expected; who and pid are the rank that got the signal.
func (d disturbed) checkEnd(t *testing.T, f *result.File, o outcome, who string, pid int) {
	t.Helper()
	losesCode := d.mpirun == mpich && d.target == launcher // now and then it gives 0 for ranks that did not
	if o.code == 0 && !losesCode || (d.mpirun == alone || d.code == exit.Hang) && o.code != d.code {
		t.Errorf("want exit code %d: %s", d.code, o)
	}
	switch {
	case d.signal == syscall.SIGTERM || d.signal == syscall.SIGINT:
		checkEnd(t, f, result.Interrupted, d.code)
		by := map[int]string{143: "SIGTERM", 130: "SIGINT"}[d.code]
		if d.target == 1 {
			by += " to " + who
		}
		has(t, f.End.Reason, by)
		has(t, o.stderr, "interrupted by "+by, f.Path, "--resume")
	case d.code == noEnd:
		if f.End != nil {
			t.Errorf("a rank 0 that was killed wrote an end: %+v", f.End)
		}
		has(t, o.stderr, "rank 0")
	case d.code > 0:
		who += fmt.Sprintf(" (pid %d)", pid)
		has(t, o.stderr, append(d.words, who)...)
		if f.End != nil || d.target != 0 { // a rank 0 that is stopped may not be woken before it is killed
			checkEnd(t, f, result.Aborted, d.code)
			has(t, f.End.Reason, strings.TrimPrefix(who, "rank ")) // or one of the ranks without a report
		}
	}
}

// The point in hand of a launch that hangs is kept as a timeout, which names rank, phase and case.
func TestPointThatHangs(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := disturbed{np: 3}.launch(t, out)
	r.awaitPoints(out, 5)
	who := fmt.Sprintf("rank 1 on %s (pid %d)", hostName(), r.pid(1))
	r.signal(1, syscall.SIGSTOP)
	o := r.wait()
	f := readOne(t, out)
	checkWhole(t, f, result.OK, result.Timeout)
	last := f.Records[len(f.Records)-1]
	if last.Status != result.Timeout || last.Time != nil || last.Check.Result != "none" {
		t.Errorf("%+v", last)
	}
	for _, text := range []string{f.End.Reason, last.Reason, o.stderr} {
		has(t, text, who, "in phase ", last.Case.String())
	}
}

// A rank that hangs while the job starts is named as well.
func TestRankHangsAtTheStart(t *testing.T) {
	t.Parallel()
	r := disturbed{}.launch(t, t.TempDir())
	r.signal(1, syscall.SIGSTOP)
	if o := r.wait(); o.code == 0 || !strings.Contains(o.stderr, "in phase ") && !strings.Contains(o.stderr, "rank 1") {
		t.Errorf("a rank that never came is not named: %s", o)
	}
}

// A rank that never arrives is named with its operation, though no rank can be asked.
func TestLateRankWithoutSideChannel(t *testing.T) {
	t.Parallel()
	o := rankRun{np: 3, env: append(noSideChannel, "BUSBAR_REHEARSAL_FAULT=hang@rank=2,size=4096,phase=measure"),
		args: simulated("--collective", "all_reduce", "-b", "1K", "-e", "16K", "-f", "4", "-n", "10", "--deadline",
			"2s",
			"--out", t.TempDir())}.run(t)
	if o.code != exit.Hang {
		t.Errorf("want exit code %d: %s", exit.Hang, o)
	}
	has(t, o.stderr, "rank 2 on "+hostName()+" is still at iteration", "(issuing) of all_reduce float32 sum 4 KiB")
}

// A job that was suspended whole, longer than its deadline, goes on as if nothing had been, though not all ranks wake
// up at once.
func TestSuspended(t *testing.T) {
	out := t.TempDir()
	// Not in parallel, and without yielding: rank 0 is to use its processor as soon as it waits for rank 1.
	r := rankRun{args: endless(out, "--deadline", "5s"), env: []string{"OMPI_MCA_mpi_yield_when_idle=0"}}.start(t)
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
			r := rankRun{mpirun: c.mpirun, args: endless(out)}.start(t)
			before := r.askToEnd(out, 1, c.target)
			o := r.wait()
			if o.code != 143 && c.mpirun != mpich {
				t.Errorf("want exit code 143: %s", o)
			}
			f := readOne(t, out)
			checkWhole(t, f, result.OK)
			checkEnd(t, f, result.Interrupted, 143)
			if len(f.Records) <= before {
				t.Errorf("%d records, %d before the signal: the case in hand is lost", len(f.Records), before)
			}
			has(t, f.End.Reason, "SIGUSR1")
			has(t, o.stdout, "--resume")
		})
	}
}

// askToEnd sends USR1 while a rank is stopped and a case in hand, and returns how many records there were.
func (r *running) askToEnd(out string, stopped, target int) (before int) {
	r.t.Helper()
	r.awaitPoints(out, 1)
	r.signal(stopped, syscall.SIGSTOP)
	before = r.awaitStandstill(out)
	r.signal(target, syscall.SIGUSR1)
	r.signal(stopped, syscall.SIGCONT)
	return before
}

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

// A run that is interrupted before anything is measured ends with the same code.
func TestInterruptedAtTheStart(t *testing.T) {
	t.Parallel()
	r := rankRun{mpirun: alone, args: endless(t.TempDir())}.start(t)
	r.await("the MPI library to be loaded", func() bool { return r.maps(0, "libmpi") })
	r.signal(0, syscall.SIGINT)
	if o := r.wait(); o.code != 130 {
		t.Errorf("want exit code 130: %s", o)
	}
}

// A batch system signals every process, and more than once: the run ends once.
func TestSignalsFromAllSides(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := rankRun{np: 3, args: endless(out)}.start(t)
	before := r.awaitPoints(out, 3)
	pids := []int{r.pid(0), r.pid(1), r.pid(2), r.cmd.Process.Pid, r.pid(0)}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
	}
	r.wait()
	f := readOne(t, out)
	checkEnd(t, f, result.Interrupted, 143)
	checkKept(t, f, before)
	text, err := os.ReadFile(f.Path)
	if err != nil || strings.Count(string(text), `"kind":"end"`) != 1 {
		t.Errorf("%v\n%s", err, text[max(0, len(text)-2000):])
	}
}

// checkKept: the points that were on disk still are.
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
