package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"busbar/internal/golden"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/hang"

	"golang.org/x/sys/unix"
)

// hangDeadline is the deadline of tests with a hang: short, and longer than any phase on a busy machine.
const hangDeadline = "6s"

// noSideChannel forbids TCP: hangs are found in the shared memory of the host.
var noSideChannel = []string{"BUSBAR_SIDE_CHANNEL=off"}

// namedMemory returns the named shared memory of this host.
func namedMemory() (all []string) {
	for _, folder := range []string{"/dev/shm", os.TempDir()} {
		names, _ := filepath.Glob(filepath.Join(folder, "busbar-*Z_*-*"))
		all = append(all, names...)
	}
	return all
}

// disturbed is a launch in which one process gets a signal during measurement, a line of testdata/disturbed.txt.
type disturbed struct {
	Signal, Mpirun, Args   string
	Target, Code, NP, Each int
	Env, Words             []string
}

// noEnd is the code of a launch whose file has no end.
const noEnd = -1

//go:embed testdata/disturbed.txt
var disturbances string

// launch starts a launch that only the signal ends.
func (d disturbed) launch(t *testing.T, out string) *running {
	begin := endless(out)
	if strings.Contains(d.Args, "--pattern") {
		begin = small(out)
	}
	args := append(begin, append([]string{"--deadline", hangDeadline}, strings.Fields(d.Args)...)...)
	if strings.Contains(d.Args, "gloo") {
		glooShim(t)
	}
	l := rankRun{mpirun: d.Mpirun, np: d.NP, args: args}
	if d.Each > 0 {
		l = onNodes(t, d.NP, d.Each, args...)
	}
	l.env = append(l.env, d.Env...)
	return l.start(t)
}

// After any signal the results are kept, the file and stderr state the reason, the hung or crashed rank is named, and
// no shared memory remains.
func TestDisturbed(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(disturbances, "$stopped", hang.ProcessStopped)
	for _, d := range golden.Table[disturbed](t, text) {
		name := fmt.Sprint(d.Signal, " to ", d.Target, " of ", cmp.Or(d.NP, 2), " ", d.Mpirun, " ", d.Args, d.Env,
			d.Each)
		t.Run(name, func(t *testing.T) {
			parallelOn(t, d.Mpirun)
			out, memory := t.TempDir(), namedMemory()
			r := d.launch(t, out)
			before := r.awaitPoints(out, 3)
			who, pid := "", 0
			if d.Target >= 0 {
				host := hostName()
				if d.Each > 0 {
					host = fmt.Sprint("node", d.Target/d.Each+1)
				}
				pid = r.pid(d.Target)
				who = fmt.Sprintf("rank %d on %s", d.Target, host)
			}
			r.signal(d.Target, unix.SignalNum(d.Signal))
			o := r.wait()
			f := readOne(t, out)
			checkKept(t, f, before)
			d.checkEnd(t, f, o, who, pid)
			await(t, "shared memory to have no name", func() bool { // another job has one for milliseconds
				return !slices.ContainsFunc(namedMemory(), func(m string) bool { return !slices.Contains(memory, m) })
			})
		})
	}
}

// checkEnd compares the end of a launch with the expected end; who and pid are the rank that got the signal.
func (d disturbed) checkEnd(t *testing.T, f *result.File, o outcome, who string, pid int) {
	t.Helper()
	losesCode := d.Mpirun == mpich && d.Target == launcher // MPICH sometimes returns 0
	if o.code == 0 && !losesCode || (d.Mpirun == alone || d.Code == exit.Hang) && o.code != d.Code {
		t.Errorf("want exit code %d: %s", d.Code, o)
	}
	switch {
	case d.Signal == "SIGTERM" || d.Signal == "SIGINT":
		checkEnd(t, f, result.Interrupted, d.Code)
		by := map[int]string{143: "SIGTERM", 130: "SIGINT"}[d.Code]
		if d.Target == 1 {
			by += " to " + who
		}
		has(t, f.End.Reason, by)
		has(t, o.stderr, "interrupted by "+by, f.Path, "--resume")
	case d.Code == noEnd:
		if f.End != nil {
			t.Errorf("a killed rank 0 wrote an end: %+v", f.End)
		}
		has(t, o.stderr, "rank 0")
	case d.Code > 0:
		who += fmt.Sprintf(" (pid %d)", pid)
		has(t, o.stderr, append(d.Words, who)...)
		if f.End != nil || d.Target != 0 { // a stopped rank 0 may be killed before it continues
			checkEnd(t, f, result.Aborted, d.Code)
			has(t, f.End.Reason, strings.TrimPrefix(who, "rank ")) // or another rank without a report
		}
	}
}

// The current point of a hang is recorded as a timeout with rank, phase and case.
func TestHangOfPoint(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r := disturbed{NP: 3}.launch(t, out)
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

// A hang during startup names the rank, too.
func TestHangAtStart(t *testing.T) {
	t.Parallel()
	r := disturbed{}.launch(t, t.TempDir())
	r.signal(1, syscall.SIGSTOP)
	if o := r.wait(); o.code == 0 || !strings.Contains(o.stderr, "in phase ") && !strings.Contains(o.stderr,
		"rank 1") {
		t.Errorf("the missing rank is not named: %s", o)
	}
}

// A rank that never arrives is named with its operation, even if no rank can be queried.
func TestLateRankWithoutSideChannel(t *testing.T) {
	t.Parallel()
	o := rankRun{np: 3, env: append(noSideChannel, "BUSBAR_REHEARSAL_FAULT=hang@rank=2,size=4096,phase=measure"),
		args: simulated("--collective all_reduce -b 1K -e 16K -f 4 -n 10 --deadline 2s --out", t.TempDir())}.run(t)
	if o.code != exit.Hang {
		t.Errorf("want exit code %d: %s", exit.Hang, o)
	}
	has(t, o.stderr, "rank 2 on "+hostName()+" is still at iteration", "(issuing) of all_reduce float32 sum 4 KiB")
}

// A job that was suspended longer than its timeout continues, even if its ranks do not resume at once.
func TestSuspended(t *testing.T) {
	out := t.TempDir()
	// Not in parallel, and without yielding: rank 0 must use its core when it waits for rank 1.
	r := rankRun{args: endless(out, "--deadline 5s"), env: []string{"OMPI_MCA_mpi_yield_when_idle=0"}}.start(t)
	r.awaitPoints(out, 3)
	r.signal(1, syscall.SIGSTOP)
	before := r.awaitStandstill(out)
	r.signal(0, syscall.SIGSTOP)
	time.Sleep(hang.WatchGap + 2*hang.Tick) // the tested condition
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

// SIGUSR1 ends the run after the current case. A stopped rank prolongs that case.
func TestSIGUSR1(t *testing.T) {
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
				t.Errorf("%d records, %d before the signal: the current case is missing", len(f.Records), before)
			}
			has(t, f.End.Reason, "SIGUSR1")
			has(t, o.stdout, "--resume")
		})
	}
}

// askToEnd sends SIGUSR1 during a case with a stopped rank, and returns the number of records.
func (r *running) askToEnd(out string, stopped, target int) (before int) {
	r.t.Helper()
	r.awaitPoints(out, 1)
	r.signal(stopped, syscall.SIGSTOP)
	before = r.awaitStandstill(out)
	r.signal(target, syscall.SIGUSR1)
	r.signal(stopped, syscall.SIGCONT)
	return before
}

// awaitStandstill waits until rank 0 waits for another rank, and counts the records.
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

// A run interrupted before its first point ends with the same exit code.
func TestInterruptedAtStart(t *testing.T) {
	t.Parallel()
	r := rankRun{mpirun: alone, args: endless(t.TempDir())}.start(t)
	r.await("the MPI library to be loaded", func() bool { return r.maps(0, "libmpi") })
	r.signal(0, syscall.SIGINT)
	if o := r.wait(); o.code != 130 {
		t.Errorf("want exit code 130: %s", o)
	}
}

// Batch systems signal every process more than once; the run ends once.
func TestRepeatedSignals(t *testing.T) {
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

// checkKept checks that the points on disk are kept.
func checkKept(t *testing.T, f *result.File, before int) {
	t.Helper()
	ok := 0
	for _, r := range f.Records {
		if r.Status == result.OK {
			ok++
		}
	}
	if ok < before {
		t.Errorf("%d points were on disk, %d remain", before, ok)
	}
}
