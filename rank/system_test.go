package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"busbar/internal/needs"
	"busbar/internal/result"
	"busbar/rank/machine"
	"busbar/rank/timeout"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// The system tests run rank under mpirun and check exit codes, output and files. Faults are external: signals and full
// disks. Every wait is for a condition; patience only ends failing tests.
const patience = 3 * time.Minute

const (
	openMPI = "mpirun.openmpi"
	mpich   = "mpirun.mpich"
	alone   = "no launcher"
	meet    = "TCP" // without MPI
)

func TestMain(m *testing.M) {
	if os.Getenv("BUSBAR_TEST_WORKER") != "" {
		os.Exit(conform(os.Getenv("BUSBAR_TEST_WORKER")))
	}
	timeout.Scale(testScale)
	// the command line overrides it
	if err := flag.Set("test.parallel", strconv.Itoa(testsPerCore*runtime.NumCPU())); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// testScale scales the waits of rank, in this process and in launches.
const testScale = 0.5

// built holds the paths of the programs under test.
type built struct{ rank, post, lib string }

func compiled(t *testing.T) built {
	t.Helper()
	dir := needs.Programs(t)
	return built{filepath.Join(dir, "bin", "rank"), filepath.Join(dir, "bin", "post"), filepath.Join(dir, "lib")}
}

// rankRun defines a launch of rank.
type rankRun struct {
	mpirun  string // default: openMPI
	np      int    // default: 2
	args    []string
	env     []string
	dir     string   // working folder
	program string   // default: the rank under test
	more    []string // arguments of the launcher after the program's, for a second program
}

// killAtOnce removes the delay of a second or two between the signals of Open MPI's mpirun after a failure. It is for
// launches without cleanup.
const killAtOnce = "OMPI_MCA_odls_base_sigkill_timeout=0"

// running is a started launch.
type running struct {
	t        *testing.T
	cmd      *exec.Cmd
	alone    bool   // without a launcher
	mark     string // in the environment of all its processes
	out, err string // files
	ended    chan struct{}
}

// outcome is the end of a launch.
type outcome struct {
	code           int
	stdout, stderr string
}

var launches atomic.Int64

// testsPerCore is the number of tests per core: most tests mostly wait for a deadline.
const testsPerCore = 2

// parallelOn runs the tests of a launcher in parallel. Only make test-all runs those of MPICH and of TCP.
func parallelOn(t *testing.T, mpirun string) {
	t.Helper()
	if mpirun == mpich || mpirun == meet {
		needs.TestAll(t)
	}
	t.Parallel()
}

// words returns the command line of a launch. The ranks of Open MPI share one core and yield: bound ranks would starve
// other launches. Those of MPICH do not yield.
func (l rankRun) words(t *testing.T, number int64) (words []string) {
	if l.program == "" {
		l.program = compiled(t).rank
	}
	switch l.mpirun {
	case openMPI, "":
		cores := machine.GrantedCPUs()
		words = []string{"taskset", "-c", strconv.Itoa(cores[number%int64(len(cores))]), openMPI, "--oversubscribe"}
	case mpich:
		words = []string{mpich}
	case meet:
		script, err := filepath.Abs("testdata/meet.sh")
		must.NoError(t, err)
		words = []string{"bash", script, freePort(t), strconv.Itoa(cmp.Or(l.np, 2))}
		return slices.Concat(words, []string{l.program}, l.args, l.more)
	}
	if words != nil {
		words = append(words, "-np", strconv.Itoa(cmp.Or(l.np, 2)))
	}
	return slices.Concat(words, []string{l.program}, l.args, l.more)
}

// freePort returns a TCP port that was free a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer socket.Close()
	return strconv.Itoa(socket.Addr().(*net.TCPAddr).Port)
}

func (l rankRun) start(t *testing.T) *running {
	t.Helper()
	number := launches.Add(1)
	words := l.words(t, number)
	dir := t.TempDir()
	r := &running{t: t, mark: fmt.Sprintf("BUSBAR_TEST_LAUNCH=%d.%d", os.Getpid(), number),
		alone: l.mpirun == alone, ended: make(chan struct{}),
		out: filepath.Join(dir, "out"), err: filepath.Join(dir, "err")}
	r.cmd = exec.Command(words[0], words[1:]...)
	r.cmd.Dir = cmp.Or(l.dir, dir)
	r.cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_hwloc_base_binding_policy=none",
		"BUSBAR_LIB="+compiled(t).lib, fmt.Sprint("BUSBAR_TIME_SCALE=", testScale), r.mark)
	r.cmd.Env = append(r.cmd.Env, l.env...)
	// ^C at the test does not signal the ranks, but they do not outlive it.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	r.cmd.Stdout, r.cmd.Stderr = create(t, r.out), create(t, r.err)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal is sent when the thread that started the launcher ends
		err := r.cmd.Start()
		started <- err
		if err == nil {
			_ = r.cmd.Wait()
		}
		runtime.UnlockOSThread()
		close(r.ended)
	}()
	must.NoError(t, <-started)
	t.Cleanup(r.kill)
	return r
}

func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	must.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// run starts a launch and waits for it.
func (l rankRun) run(t *testing.T) outcome {
	t.Helper()
	return l.start(t).wait()
}

// mustRun runs a launch that must succeed.
func (l rankRun) mustRun(t *testing.T) outcome {
	t.Helper()
	o := l.run(t)
	if o.code != 0 {
		t.Fatalf("%s: %s", strings.Join(l.args, " "), o)
	}
	return o
}

// measured runs a launch that must succeed, with results in a new folder, and returns its one file.
func (l rankRun) measured(t *testing.T) (*result.File, outcome) {
	t.Helper()
	out := t.TempDir()
	l.args = append(slices.Clone(l.args), "--out", out)
	o := l.mustRun(t)
	return readOne(t, out), o
}

// wait waits for the launcher and all its processes.
func (r *running) wait() outcome {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Fatalf("the launcher did not end\n%s", r.outcome())
	}
	await(r.t, "all processes to end", func() bool { return len(r.processes()) == 0 })
	o := r.outcome()
	o.code = r.cmd.ProcessState.ExitCode()
	if status := r.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		o.code = 128 + int(status.Signal()) // as in a shell
	}
	return o
}

func (r *running) outcome() outcome {
	out, _ := os.ReadFile(r.out)
	err, _ := os.ReadFile(r.err)
	return outcome{stdout: string(out), stderr: string(err)}
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\nstdout:\n%s\nstderr:\n%s", o.code, o.stdout, o.stderr)
}

// messages returns the lines of rank on stderr, without those of the launcher.
func (o outcome) messages() (lines []string) {
	for line := range strings.Lines(o.stderr) {
		if strings.HasPrefix(line, "rank: ") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// processes returns the launcher and all its running descendants.
func (r *running) processes() (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if slices.Contains(environmentOf(dir), r.mark) {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

func environmentOf(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return nil // exited, or of another user
	}
	var words []string
	for w := range bytes.SplitSeq(text, []byte{0}) {
		words = append(words, string(w))
	}
	return words
}

// pid waits for the process of a rank.
func (r *running) pid(rank int) int {
	r.t.Helper()
	if r.alone {
		return r.cmd.Process.Pid
	}
	found := 0
	r.await(fmt.Sprintf("rank %d to appear", rank), func() bool {
		for _, pid := range r.processes() {
			dir := fmt.Sprintf("/proc/%d", pid)
			exe, _ := os.Readlink(dir + "/exe")
			env := environmentOf(dir)
			if filepath.Base(exe) == "rank" && (slices.Contains(env, fmt.Sprint("OMPI_COMM_WORLD_RANK=", rank)) ||
				slices.Contains(env, fmt.Sprint("PMI_RANK=", rank)) ||
				slices.Contains(env, fmt.Sprint("RANK=", rank))) {
				found = pid
			}
		}
		return found > 0
	})
	return found
}

// launcher is the target of a signal that is no rank.
const launcher = -1

// signal sends a signal to a rank or to the launcher.
func (r *running) signal(target int, s syscall.Signal) {
	r.t.Helper()
	pid := r.cmd.Process.Pid
	if target != launcher {
		pid = r.pid(target)
	}
	if err := syscall.Kill(pid, s); err != nil {
		r.t.Fatalf("%s to process %d: %v\n%s", s, pid, err, r.outcome())
	}
}

// kill ends the remaining processes.
func (r *running) kill() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		left := r.processes()
		if len(left) == 0 {
			<-r.ended
			return
		}
		for _, pid := range left {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
				r.t.Errorf("process %d: %v", pid, err)
			}
		}
	}
	r.t.Errorf("processes of %s cannot be ended", r.mark)
}

// await waits for a condition, at most until the launcher ends.
func (r *running) await(what string, condition func() bool) {
	r.t.Helper()
	await(r.t, what, func() bool {
		if condition() {
			return true
		}
		select {
		case <-r.ended:
			if !condition() {
				r.t.Fatalf("the run ended while the test waited for %s\n%s", what, r.outcome())
			}
			return true
		default:
			return false
		}
	})
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", patience, what)
		}
	}
}

// has checks that a text has all of these words.
func has(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		test.StrContains(t, text, w)
	}
}

// maps reports whether a rank has loaded a library.
func (r *running) maps(rank int, library string) bool {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", r.pid(rank)))
	return bytes.Contains(text, []byte(library))
}

// processorTime returns the CPU time of a rank so far.
func (r *running) processorTime(rank int) time.Duration {
	r.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", r.pid(rank)))
	must.NoError(r.t, err)
	var ns int64
	_, err = fmt.Sscan(string(text), &ns)
	must.NoError(r.t, err)
	return time.Duration(ns)
}
