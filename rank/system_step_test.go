package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
)

// stepArgs are a run of steps of a small model: two buckets, a few rounds.
func stepArgs(out string, more ...string) []string {
	return append([]string{"--step", "uniform:6x4K", "--compute", "6ms", "--bucket", "16K,all", "-n", "3", "--out",
		out}, more...)
}

// endlessSteps are a run of steps that goes on until it is ended.
func endlessSteps(out string, more ...string) []string {
	return append([]string{"--step", "uniform:6x4K", "--compute", "6ms", "--bucket", "16K,all", "-n", "1000000",
		"--out", out}, more...)
}

// readSteps reads all files of steps of a folder, sorted by time.
func readSteps(t *testing.T, dir string) (files []*result.StepFile) {
	t.Helper()
	paths, err := result.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		f, err := result.ReadSteps(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Problems {
			t.Errorf("%s", p.Text())
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *result.StepFile) int { return a.Run.Start.Compare(b.Run.Start) })
	return files
}

func readOneStep(t *testing.T, dir string) *result.StepFile {
	t.Helper()
	files := readSteps(t, dir)
	if len(files) != 1 {
		t.Fatalf("%d files in %s, want 1", len(files), dir)
	}
	return files[0]
}

// awaitRounds waits until at least n rounds are on disk.
func (r *running) awaitRounds(dir string, n int) {
	r.t.Helper()
	r.await("rounds in "+dir, func() bool { return countRounds(dir) >= n })
}

func countRounds(dir string) (rounds int) {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		rounds += bytes.Count(text, []byte("\n"+`{"kind":"round"`))
	}
	return rounds
}

// checkSteps looks at a file whose points are all measured, each in so many rounds.
func checkSteps(t *testing.T, f *result.StepFile, rounds int) {
	t.Helper()
	if f.End == nil || f.End.Outcome != result.Complete || f.End.Code != exit.OK || f.End.Left != 0 {
		t.Errorf("%s: its end is %+v", f.Path, f.End)
	}
	if len(f.Records) != len(f.Run.Step.Points) {
		t.Fatalf("%s: %d records of %d points", f.Path, len(f.Records), len(f.Run.Step.Points))
	}
	for i, r := range f.Records {
		if r.Status != result.OK || r.Check.Result != "ok" || r.Check.Elements == 0 || len(r.Ops) == 0 {
			t.Errorf("%s: %s: %s, %+v, %d operations", r.Point, r.Status, r.Reason, r.Check, len(r.Ops))
			continue
		}
		if r.Figures.Rounds != rounds || len(f.Rounds[i]) != rounds || r.Stop != "fixed" {
			t.Errorf("%s: %d rounds in the record, %d in the file, ended by %q", r.Point, r.Figures.Rounds,
				len(f.Rounds[i]), r.Stop)
		}
		for _, x := range f.Rounds[i] {
			checkRound(t, r.Point, x)
		}
		if len(r.Timeline.Ops) != len(r.Ops) || len(r.Traced) != f.Run.World {
			t.Errorf("%s: %d operations drawn, %d ranks traced", r.Point, len(r.Timeline.Ops), len(r.Traced))
		}
	}
}

// checkRound: what is a part is not more than the whole that was measured with it.
func checkRound(t *testing.T, p step.Point, x step.Round) {
	t.Helper()
	if x.Compute <= 0 || x.Comm <= 0 || x.ComputeAlone > x.Compute || x.CommAlone > x.Comm || x.Hidden > x.CommBusy ||
		x.Hidden > x.ComputeBusy ||
		x.ComputeBusy > x.Overlapped || x.CommBusy > x.Overlapped {
		t.Errorf("%s: %+v", p, x)
	}
}

// Steps are measured with each library: every point with its rounds, its checked data and its traces, which post
// reads back.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name, mpirun, backend string
		np                    int
		more                  []string
	}{
		{"Open MPI", openMPI, "mpi", 2, []string{"--backend", "mpi"}},
		{"MPICH, three ways", mpich, "mpi", 2, []string{"--backend", "mpi", "--progress", "none,poll,thread"}},
		{"sharded", openMPI, "mpi", 3, []string{"--backend", "mpi", "--strategy", "ddp,fsdp"}},
		{"Gloo", openMPI, "gloo", 2, []string{"--backend", "gloo"}},
		{"rehearsed", openMPI, backend.Simulation, 2, []string{"--backend", "nccl", "--rehearse"}},
	} {
		t.Run(k.name, func(t *testing.T) {
			parallelOn(t, k.mpirun)
			if k.backend == "gloo" {
				glooShim(t)
			}
			out := t.TempDir()
			o := rankRun{mpirun: k.mpirun, np: k.np, args: stepArgs(out, k.more...),
				env: []string{fmt.Sprintf("BUSBAR_REHEARSAL_GPUS=%d", k.np)}}.mustRun(t)
			f := readOneStep(t, out)
			checkSteps(t, f, 3)
			if !strings.HasPrefix(filepath.Base(f.Path), fmt.Sprintf("step_%s_world%d_", k.backend, k.np)) ||
				f.Run.Backend.Name != k.backend {
				t.Errorf("%s is of %s", f.Path, f.Run.Backend.Name)
			}
			s := f.Run.Step
			if s.Model != "uniform:6x4K" || s.Layers != 6 || s.Params != 6*4096 || s.Computing == "" {
				t.Errorf("the header says %+v", s)
			}
			if strings.Contains(o.stdout, "SIMULATED") != (k.backend == backend.Simulation) ||
				f.Run.Rehearse != (k.backend == backend.Simulation) {
				t.Errorf("rehearsed or not is not said: %s", o)
			}
			for _, want := range []string{"training steps of uniform:6x4K", "# 3 rounds of four steps a point\n",
				"speed-", "post report", filepath.Base(f.Path)} {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("no %q: %s", want, o)
				}
			}
			for line := range strings.Lines(o.stdout) {
				if len(line) > 81 && !strings.Contains(line, "results: ") && !strings.Contains(line, ".jsonl") {
					t.Errorf("%d columns: %s", len(line)-1, line)
				}
			}
			checkTraces(t, f)
		})
	}
}

// checkTraces: post timeline reads the traces of a point, and finds in them what the record says.
func checkTraces(t *testing.T, f *result.StepFile) {
	t.Helper()
	for _, r := range f.Records {
		folder := filepath.Join(filepath.Dir(f.Path), r.Trace)
		files, err := filepath.Glob(filepath.Join(folder, "rank*.json"))
		if err != nil || len(files) != f.Run.World {
			t.Fatalf("%s: %d traces in %s, %v", r.Point, len(files), folder, err)
		}
	}
	read := exec.Command(compiled(t).post, "timeline", filepath.Join(filepath.Dir(f.Path), f.Records[0].Trace))
	read.Dir = t.TempDir()
	if text, err := read.CombinedOutput(); err != nil {
		t.Errorf("post timeline: %v\n%s", err, text)
	}
}

// What a library lacks or nobody can have is said and is no failure, and what does not fit leaves the rest alone.
func TestStepsThatCannotBe(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2,
		args: stepArgs(out, "--backend", "mpi", "--progress", "none", "--strategy", "ddp,fsdp", "-d",
			"float8e4m3,float32")}.mustRun(t)
	f := readOneStep(t, out)
	for _, r := range f.Records {
		want := result.OK
		if r.Type.Size() == 1 {
			want = result.Unsupported
		}
		if r.Status != want || (r.Reason == "") != (want == result.OK) || (r.Figures == nil) != (want != result.OK) {
			t.Errorf("%s: %s (%s), want %s", r.Point, r.Status, r.Reason, want)
		}
	}
	if f.End.Code != exit.OK {
		t.Errorf("code %d: %s", f.End.Code, o)
	}
}

// A model that is larger than the memory is left out with what it would have taken.
func TestStepMemoryIsNotEnough(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2,
		args: []string{"--step", "uniform:4x256G", "--bucket", "all", "--progress", "none", "--out", out}}.mustRun(t)
	f := readOneStep(t, out)
	if r := f.Records[0]; r.Status != result.Skipped || r.Needed != 4<<40 || r.Cause.Code() != "memory-insufficient" {
		t.Errorf("%s, %d bytes, %s\n%s", r.Status, r.Needed, r.Reason, o)
	}
}

// Each world has a file; one that does not fit the launch has a file that says so.
func TestStepWorlds(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 3, args: stepArgs(out, "--backend", "mpi", "--progress", "none", "--worlds", "2,3,5",
		"--no-trace")}.mustRun(t)
	files := readSteps(t, out)
	if len(files) != 3 {
		t.Fatalf("%d files", len(files))
	}
	for i, world := range []int{2, 3} {
		checkSteps(t, files[i], 3)
		if files[i].Run.World != world || files[i].Records[0].Trace != "" {
			t.Errorf("world %d, trace %q", files[i].Run.World, files[i].Records[0].Trace)
		}
	}
	for _, r := range files[2].Records {
		if r.Status != result.Skipped || r.Cause.Code() != "world-unfit" {
			t.Errorf("%s: %s, %s", r.Point, r.Status, r.Reason)
		}
	}
}

// A run that is ended keeps its rounds, says how it ended, and --resume measures what is missing.
func TestStepsInterrupted(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		signal syscall.Signal
		target int
		code   int
	}{{syscall.SIGTERM, 0, 143}, {syscall.SIGINT, 1, 130}, {syscall.SIGUSR1, 0, 143}} {
		t.Run(fmt.Sprintf("%s to %d", k.signal, k.target), func(t *testing.T) {
			parallel(t)
			out := t.TempDir()
			r := rankRun{mpirun: openMPI, np: 2, args: endlessSteps(out, "--backend", "mpi")}.start(t)
			r.awaitRounds(out, 2*stats.MinForInterval)
			r.signal(k.target, k.signal)
			o := r.wait()
			f := readOneStep(t, out)
			if f.End == nil || f.End.Outcome != result.Interrupted || f.End.Code != k.code ||
				!strings.Contains(o.stderr+o.stdout, "--resume") {
				t.Errorf("the end is %+v\n%s", f.End, o)
			}
			status, stop := result.Unfinished, ""
			if k.signal == syscall.SIGUSR1 { // the round in hand is over, and what is measured has records
				status, stop = result.OK, "asked"
			}
			for i, record := range f.Records {
				if record.Status != status || record.Stop != stop || len(f.Rounds[i]) < stats.MinForInterval-1 {
					t.Errorf("%s is %s (%s), after %d rounds", record.Point, record.Status, record.Stop,
						len(f.Rounds[i]))
				}
			}
			missing := len(f.Run.Step.Points)
			if status == result.OK {
				missing -= len(f.Records)
			}
			rankRun{mpirun: openMPI, np: 2,
				args: append(slices.DeleteFunc(endlessSteps(out, "--backend", "mpi", "--resume"),
					func(s string) bool { return s == "1000000" || s == "-n" }), "-n", "3")}.mustRun(t)
			files := readSteps(t, out)
			last := files[len(files)-1]
			if len(files) != 2 || len(last.Records) != missing || !slices.Contains(last.Run.Resumes, f.Run.ID) ||
				last.End.Outcome != result.Complete {
				t.Errorf("%d files, %d points measured of %d missing, continues %v, end %+v", len(files),
					len(last.Records), missing, last.Run.Resumes, last.End)
			}
		})
	}
}

// Where everything is there, --resume measures nothing.
func TestStepsThatAreThere(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: stepArgs(out, "--backend", "mpi")}.mustRun(t)
	o := rankRun{mpirun: openMPI, np: 2, args: stepArgs(out, "--backend", "mpi", "--resume")}.mustRun(t)
	if n := countRounds(out); n != 4*3 || !strings.Contains(o.stdout, "nothing left to measure") {
		t.Errorf("%d rounds of %d: %s", n, 4*3, o)
	}
}

// A rank that is stopped hangs the others: it is named, with the model, the point, the mode and what is in hand.
func TestStepHangs(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 2,
		args: endlessSteps(out, "--backend", "mpi", "--deadline", hangDeadline, "--progress", "poll")}.start(t)
	r.awaitRounds(out, 4)
	victim := r.pid(1)
	r.signal(1, syscall.SIGSTOP)
	o := r.wait()
	f := readOneStep(t, out)
	if o.code != exit.Hang || f.End == nil || f.End.Code != exit.Hang {
		t.Fatalf("want exit code %d: %+v\n%s", exit.Hang, f.End, o)
	}
	last := slices.IndexFunc(f.Records, func(r result.StepRecord) bool { return r.Status == result.Timeout })
	if last < 0 {
		t.Fatalf("no point is kept as a timeout: %+v", f.Records)
	}
	for _, want := range []string{fmt.Sprintf("rank 1 on %s (pid %d)", hostName(), victim), "uniform:6x4K ddp ",
		"polling", "in phase round "} {
		if !strings.Contains(o.stderr, want) || !strings.Contains(f.Records[last].Reason, want) {
			t.Errorf("no %q in %q, or in %s", want, f.Records[last].Reason, o)
		}
	}
}

// A rank that dies ends the run, and what was measured is kept.
func TestStepLosesARank(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	r := rankRun{mpirun: openMPI, np: 2, args: endlessSteps(out, "--backend", "mpi")}.start(t)
	r.awaitRounds(out, 4)
	r.signal(1, syscall.SIGKILL)
	r.wait()
	if f := readOneStep(t, out); len(f.Rounds[0]) < 2 {
		t.Errorf("%d rounds are kept", len(f.Rounds[0]))
	}
}

// Wrong data is found before anything is timed, with the operation that had it.
func TestStepWithWrongData(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2, args: stepArgs(out, "--backend", "nccl", "--rehearse"),
		env: []string{"BUSBAR_REHEARSAL_GPUS=2", "BUSBAR_REHEARSAL_FAULT=wrong@rank=1"}}.run(t)
	f := readOneStep(t, out)
	if o.code != exit.Wrong || f.End.Code != exit.Wrong {
		t.Errorf("want exit code %d: %s", exit.Wrong, o)
	}
	for _, r := range f.Records {
		wrong, _ := r.Cause.Fact.(notice.DataWrong)
		if r.Status != result.Wrong || r.Figures != nil || r.Check.First == nil || r.Check.First.Rank != 1 ||
			wrong.Of == "" {
			t.Errorf("%s: %s, %+v, %s", r.Point, r.Status, r.Check.First, r.Reason)
		}
	}
}

// The plan is shown without any library, by every rank's first alone.
func TestStepList(t *testing.T) {
	parallel(t)
	for _, l := range []rankRun{{mpirun: alone}, {mpirun: openMPI, np: 3}} {
		l.args = []string{"--step", "resnet50", "--bucket", "5M,25M,200M,300M", "--list"}
		o := l.mustRun(t)
		for _, want := range []string{"resnet50: 25.56 M parameters in 161 layers", "ddp, float32, progress poll",
			"--bucket 300M gives the same buckets as 200M"} {
			if strings.Count(o.stdout, want) != 1 {
				t.Errorf("%q is not there once: %s", want, o)
			}
		}
	}
	o := rankRun{mpirun: alone, args: []string{"--step", "uniform:8x64K", "--backend", "gloo", "--bucket", "1M,2M,all",
		"-d", "float32,float16", "--compute", "7ms", "--list"}}.mustRun(t)
	for _, want := range []string{"scaled to 7 ms together by --compute",
		"--bucket all gives the same buckets as 1M, and is measured with it (ddp, float16, progress thread)",
		"as 1M, and is measured with it --bucket", "longer where"} {
		if text := strings.ReplaceAll(o.stdout, "\n# ", " "); strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once: %s", want, o)
		}
	}
	if o := (rankRun{mpirun: openMPI, np: 2,
		args: []string{"--step", "resnet5", "--out", t.TempDir()}}).run(t); o.code != exit.Usage ||
		len(o.messages()) != 1 || !strings.Contains(o.stderr, `did you mean "resnet50"?`) {
		t.Errorf("%s", o)
	}
}

// Results that cannot be written are found before anything is measured.
func TestStepsCannotBeWritten(t *testing.T) {
	parallel(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if o := (rankRun{mpirun: openMPI, np: 2, args: stepArgs(file)}).run(t); o.code != exit.Environment ||
		!strings.Contains(o.stderr, "is a file, not a folder") {
		t.Errorf("%s", o)
	}
}
