package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/rank/exit"
)

// stepArgs runs steps of a small model with two bucket sizes; without -n it takes long.
func stepArgs(out, more string) []string {
	return append(flags("--step uniform:6x4K --compute 6ms --bucket 16K,all --out", out),
		flags(more)...)
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
		if err != nil || len(f.Problems) > 0 {
			t.Fatal(path, err, f.Problems)
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *result.StepFile) int { return a.Run.Start.Compare(b.Run.Start) })
	return files
}

// checkSteps checks a file whose points all have this number of rounds: no part exceeds its whole.
func checkSteps(t *testing.T, f *result.StepFile, rounds int) {
	t.Helper()
	if f.End == nil || f.End.Outcome != result.Complete || f.End.Code != exit.OK || f.End.Left != 0 ||
		len(f.Records) != len(f.Run.Step.Points) {
		t.Fatalf("%s: its end is %+v, %d records of %d points", f.Path, f.End, len(f.Records), len(f.Run.Step.Points))
	}
	for i, r := range f.Records {
		if r.Status != result.OK || r.Check.Result != "ok" || r.Check.Elements == 0 || len(r.Ops) == 0 ||
			r.Figures.Rounds != rounds || len(f.Rounds[i]) != rounds || len(r.Timeline.Ops) != len(r.Ops) ||
			len(r.Traced) != f.Run.World {
			t.Errorf("%s, %d rounds: %+v", r.Point, len(f.Rounds[i]), r)
		}
		for _, x := range f.Rounds[i] {
			if x.Compute <= 0 || x.Comm <= 0 || x.ComputeAlone > x.Compute || x.CommAlone > x.Comm ||
				x.Hidden > x.CommBusy || x.Hidden > x.ComputeBusy || x.ComputeBusy > x.Overlapped ||
				x.CommBusy > x.Overlapped {
				t.Errorf("%s: %+v", r.Point, x)
			}
		}
	}
}

// Every library measures steps: every point has its rounds, checked data, and traces that post timeline reads.
func TestSteps(t *testing.T) {
	t.Parallel()
	const gemm = "cuBLAS 12.8.0 half-precision GEMMs of 1024x1024x1024"
	for _, k := range []struct {
		mpirun, args, computing string
		env                     []string
		points                  int
	}{
		{"", "--backend mpi --strategy ddp,fsdp", "1 thread of FMA", nil, 8},
		{mpich, "--backend mpi", "1 thread of FMA", nil, 4},
		{"", "--backend gloo", "1 thread of FMA", nil, 2},
		{"", "--simulate --strategy ddp,fsdp -d bfloat16", gemm, nil, 4},
		{"", "--simulate --compute-kernel fma -d float8e4m3", "FMA kernels", nil, 2},
		{"", "--simulate --allow-shared-gpu", gemm, []string{"CUDA_VISIBLE_DEVICES=0"}, 2},
		{"", "--simulate --register window --alloc nccl", gemm, nil, 2},
		{"", "--simulate --no-trace", "FMA kernels", withoutCublas(t), 2},
	} {
		t.Run(k.mpirun+k.args, func(t *testing.T) {
			parallelOn(t, k.mpirun)
			if strings.Contains(k.args, "gloo") {
				glooShim(t)
			}
			out := t.TempDir()
			o := rankRun{mpirun: k.mpirun, args: stepArgs(out, "-n 3 "+k.args),
				env: append(k.env, "BUSBAR_REHEARSAL_GPUS=2")}.mustRun(t)
			f := readSteps(t, out)[0]
			checkSteps(t, f, 3)
			simulated := strings.Contains(k.args, "--simulate")
			if s := f.Run.Step; s.Model != "uniform:6x4K" || s.Layers != 6 || s.Params != 6*4096 ||
				s.Computing != k.computing || len(f.Records) != k.points || f.Run.Rehearse != simulated ||
				strings.Contains(o.stdout, "SIMULATED") != simulated {
				t.Errorf("%+v, %d points: %s", s, len(f.Records), o)
			}
			has(t, o.stdout, "training steps of uniform:6x4K", "# 3 rounds of four steps per point\n", "post report")
			for _, r := range f.Records {
				if strings.Contains(k.args, "--no-trace") != (r.Trace == "") {
					t.Errorf("%s: trace %q", r.Point, r.Trace)
				} else if r.Trace != "" {
					checkTrace(t, filepath.Join(out, r.Trace), r)
				}
			}
		})
	}
}

// checkTrace compares the analysis of a point's traces by post timeline with its record.
func checkTrace(t *testing.T, folder string, r result.StepRecord) {
	t.Helper()
	var found struct {
		Devices []struct {
			Rank  int
			Steps []struct {
				Span    float64 `json:"span_ms"`
				Compute float64 `json:"compute_ms"`
				Comm    float64 `json:"comm_ms"`
				Overlap float64 `json:"overlap_ms"`
				Exposed float64 `json:"exposed_ms"`
				Idle    float64 `json:"idle_ms"`
			}
			Collectives []struct {
				Bytes int64 `json:"size_bytes"`
				Calls int64
				Type  string
			}
		}
		Across struct{ Matched, Unmatched int }
	}
	text, err := exec.Command(compiled(t).post, "timeline", "--format", "json", folder).Output()
	if err != nil || json.Unmarshal(text, &found) != nil {
		t.Fatalf("post timeline %s: %v: %s", folder, err, text)
	}
	matched := 3 * len(r.Ops)
	if r.Progress == step.NoCalls || r.Progress == step.Poll {
		matched = 0 // started and polled later: not the time of communication
	}
	if a := found.Across; len(found.Devices) != len(r.Traced) || a.Matched != matched || a.Unmatched != 0 {
		t.Fatalf("%s: %d devices; matched over ranks are %+v, of %d operations", r.Point, len(found.Devices), a,
			len(r.Ops))
	}
	for i, d := range found.Devices {
		kept := r.Traced[i]
		if d.Rank != kept.Rank || len(d.Steps) != 3 {
			t.Fatalf("%s: rank %d has %d steps", r.Point, d.Rank, len(d.Steps))
		}
		last := d.Steps[2]
		for _, of := range [][2]float64{{last.Span, kept.Span}, {last.Compute, kept.Compute}, {last.Comm, kept.Comm},
			{last.Overlap, kept.Overlap}, {last.Exposed, kept.Exposed}, {last.Idle, kept.Idle}} {
			if math.Abs(of[0]/1e3-of[1]) > 1.5e-9 { // s; times are whole nanoseconds, written twice
				t.Errorf("%s, rank %d: %+v in the trace, %+v in the record", r.Point, i, last, kept)
			}
		}
		var bytes int64
		for _, c := range d.Collectives {
			bytes += c.Bytes * c.Calls
		}
		for _, op := range r.Ops {
			bytes -= 3 * op.Bytes
		}
		if bytes != 0 || d.Collectives[0].Type != r.Type.String() {
			t.Errorf("%s, rank %d: %d bytes more in the trace, of %+v", r.Point, i, bytes, d.Collectives)
		}
	}
}

// A missing function, or too little memory, is a record with its reason and no failure.
func TestUnsupportedSteps(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]result.Status{
		"--step uniform:6x4K -d float8e4m3,float32": result.Unsupported, "--step uniform:4x256G": result.Skipped,
	} {
		out := t.TempDir()
		rankRun{args: append(stepArgs(out, "-n 3 --backend mpi"), flags(args)...)}.mustRun(t)
		for _, r := range readSteps(t, out)[0].Records {
			impossible := r.Type.Size() == 1 || want == result.Skipped
			if impossible != (r.Status == want) || impossible != (r.Reason != "") || impossible != (r.Figures == nil) ||
				want == result.Skipped && (r.Needed != 4<<40 || r.Cause.Code() != "memory-insufficient") {
				t.Errorf("%s: %+v", args, r)
			}
		}
	}
}

// Each world has a file.
func TestStepWorlds(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	rankRun{np: 3, args: stepArgs(out, "-n 3 --backend mpi --worlds 2,3,5")}.mustRun(t)
	files := readSteps(t, out)
	if len(files) != 2 || files[0].Run.World != 2 || files[1].Run.World != 3 {
		t.Fatalf("%d files", len(files))
	}
	for _, f := range files {
		checkSteps(t, f, 3)
	}
}

// An interrupted run keeps its rounds and its end; --resume measures the missing points once.
func TestStepsInterrupted(t *testing.T) {
	t.Parallel()
	for signal, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGUSR1: 143,
		syscall.SIGKILL: exit.Failed,
		syscall.SIGSTOP: exit.Hang} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			r := rankRun{args: stepArgs(out, "-n 1000000 --backend mpi --deadline "+hangDeadline)}.start(t)
			r.awaitPoints(out, 4*stats.MinForInterval)
			who := fmt.Sprintf("rank 1 on %s (pid %d)", hostName(), r.pid(1))
			r.signal(1, signal)
			o := r.wait()
			f := readSteps(t, out)[0]
			if f.End == nil || f.End.Code != code || code > exit.Interrupted != (f.End.Outcome == result.Interrupted) {
				t.Fatalf("the end is %+v\n%s", f.End, o)
			}
			left := len(f.Run.Step.Points)
			for i, record := range f.Records {
				if record.Status == result.OK { // the current round is complete, and its points have records
					left--
				}
				if (record.Status == result.OK) != (signal == syscall.SIGUSR1) ||
					len(f.Rounds[i]) < stats.MinForInterval-1 {
					t.Errorf("%s is %s (%s), after %d rounds", record.Point, record.Status, record.Stop,
						len(f.Rounds[i]))
				}
				if record.Status == result.Timeout {
					has(t, record.Reason, who, "uniform:6x4K ddp ", "in phase round ")
				}
			}
			if signal == syscall.SIGSTOP {
				has(t, o.stderr, who, "uniform:6x4K ddp ", "in phase round ")
				return
			}
			resumed := rankRun{args: stepArgs(out, "-n 3 --backend mpi --resume")}
			if left > 0 {
				resumed.mustRun(t)
				files := readSteps(t, out)
				last := files[len(files)-1]
				if len(last.Records) != left || !slices.Contains(last.Run.Resumes, f.Run.ID) ||
					last.End.Outcome != result.Complete {
					t.Errorf("%d points are measured of %d: %+v", len(last.Records), left, last.End)
				}
			}
			has(t, resumed.mustRun(t).stdout, "all measured before")
		})
	}
}

// A fault in a step ends like one in a sweep, names the operation, and does not affect the other point.
func TestStepFaults(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		fault string
		code  int
		point result.Status // of the larger point, which has the fault
		words []string
	}{
		{"hang@rank=1,size=98304", exit.Hang, result.Timeout, []string{"rank 1 on", "issuing bucket 1",
			"in phase check"}},
		{"async-error@rank=1,size=98304", exit.Points, result.Failed, []string{"rank 1 on", "ncclInternalError"}},
		{"remote-error@rank=0,size=98304,iteration=4", exit.Points, result.Failed,
			[]string{"rank 0 on", "ncclRemoteError"}},
		{"oom@rank=1,size=98304", exit.Points, result.OOM, []string{"rank 1 on", "operation bucket 1",
			"98304 bytes"}},
		{"wrong@rank=1,size=98304", exit.Wrong, result.Wrong, []string{"rank 1 on", "of bucket 1"}},
	} {
		t.Run(k.fault, func(t *testing.T) {
			t.Parallel()
			deadline := "60s"
			if k.code == exit.Hang {
				deadline = hangDeadline
			}
			out := t.TempDir()
			o := rankRun{args: stepArgs(out, "-n 3 --simulate --no-trace --deadline "+deadline),
				env: []string{"BUSBAR_REHEARSAL_FAULT=" + k.fault}}.run(t)
			f := readSteps(t, out)[0]
			if o.code != k.code || f.End.Code != k.code {
				t.Errorf("want exit code %d: %+v %s", k.code, f.End, o)
			}
			for _, r := range f.Records {
				switch {
				case r.Bucket == step.All:
					if r.Status != k.point || r.Figures != nil {
						t.Errorf("the point that is struck is %+v, wanted %s", r, k.point)
					}
					has(t, r.Reason, k.words...)
				case k.code != exit.Hang && r.Status != result.OK:
					t.Errorf("the other point failed: %+v", r)
				}
			}
		})
	}
}
