package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
)

// smallStep is a model of four layers, whose buckets at the caps of smallStepFlags are 3 and 1.
const smallStep = `name: small
about: four small layers
forward: 2ms
layers:
  - {name: a, params: 1024}
  - {name: b, params: 2048}
  - {name: c, params: 4096}
  - {name: d, params: 8192}
`

// smallStepFlags are those of a run with that model over the rehearsal.
func smallStepFlags(t *testing.T, out string, more ...string) []string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "small.yaml")
	if err := os.WriteFile(model, []byte(smallStep), 0o644); err != nil {
		t.Fatal(err)
	}
	return append([]string{"--rehearse", "--step", model, "--bucket", "8K,all", "--first-bucket", "8K", "-n", "3",
		"--quiet", "--out", out}, more...)
}

// gpuSteps are the one file of a folder and its points by their bucket.
func gpuSteps(t *testing.T, out string) (f *result.StepFile, byBucket map[string]*result.StepRecord) {
	t.Helper()
	paths, err := result.Find(out)
	if err != nil || len(paths) != 1 {
		t.Fatalf("%d files, wanted 1: %v", len(paths), err)
	}
	if f, err = result.ReadSteps(paths[0]); err != nil {
		t.Fatal(err)
	}
	byBucket = map[string]*result.StepRecord{}
	for i := range f.Records {
		byBucket[f.Records[i].Bucket.String()] = &f.Records[i]
	}
	return f, byBucket
}

// Both kinds of computing, both strategies, on GPUs of their own and on a shared one: data is right, and the file
// says what computed and how.
func TestStepOnGPUs(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name      string
		args, env []string
		computing string
		note      string
		points    int // 2 unless said
	}{
		{name: "cuBLAS", computing: "cuBLAS 12.8.0 half-precision GEMMs of 1024x1024x1024"},
		{name: "FMA, FSDP too", points: 4,
			args:      []string{"--compute-kernel", "fma", "--strategy", "ddp,fsdp", "-d", "bfloat16"},
			computing: "FMA kernels"},
		{name: "8-bit", args: []string{"-d", "float8e4m3"},
			computing: "cuBLAS 12.8.0 half-precision GEMMs of 1024x1024x1024"},
		{name: "a shared GPU", args: []string{"--allow-shared-gpu"}, env: []string{"CUDA_VISIBLE_DEVICES=0"},
			computing: "cuBLAS 12.8.0 half-precision GEMMs of 1024x1024x1024", note: "ranks share a GPU"},
		{name: "windows", args: []string{"--register", "window", "--alloc", "nccl"},
			computing: "cuBLAS 12.8.0 half-precision GEMMs of 1024x1024x1024"},
	} {
		t.Run(k.name, func(t *testing.T) {
			parallel(t)
			out := t.TempDir()
			o := rankRun{mpirun: openMPI, np: 2, args: smallStepFlags(t, out, k.args...), env: k.env}.start(t).wait()
			if o.code != exit.OK {
				t.Fatal(o)
			}
			f, _ := gpuSteps(t, out)
			if f.Run.Step == nil || f.Run.Step.Computing != k.computing {
				t.Errorf("the run computes with %+v, wanted %s", f.Run.Step, k.computing)
			}
			if want := cmp.Or(k.points, 2); len(f.Records) != want {
				t.Fatalf("%d points, wanted %d", len(f.Records), want)
			}
			for _, s := range f.Records {
				if s.Status != result.OK || s.Check.Result != "ok" || s.Figures == nil || s.Figures.Rounds != 3 {
					t.Errorf("%s: %+v", s.Point, s)
				}
				if notes := strings.Join(s.Notes, "; "); !strings.Contains(notes, k.note) {
					t.Errorf("%s: the notes are %q, without %q", s.Point, notes, k.note)
				}
			}
		})
	}
}

// A fault in a step ends named as one in a sweep does, and takes nothing from the other point.
func TestStepFaults(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		name, fault string
		code        int
		words       []string
		point       result.Status // of the one that is struck: the larger
	}{
		{"hang", "hang@rank=1,size=61440", exit.Hang,
			[]string{"rank 1 on", "issuing bucket 1", "small ddp all float32", "in phase check"}, result.Timeout},
		{"asynchronous error", "async-error@rank=1,size=61440", exit.Points, []string{"rank 1 on", "ncclInternalError"},
			result.Failed},
		{"remote error while measuring", "remote-error@rank=0,size=61440,iteration=4", exit.Points,
			[]string{"rank 0 on", "ncclRemoteError"}, result.Failed},
		{"out of memory", "oom@rank=1,size=61440", exit.Points,
			[]string{"rank 1 on", "operation bucket 1", "Failed to CUDA malloc 61440 bytes"}, result.OOM},
		{"wrong element", "wrong@rank=1,size=61440", exit.Wrong, []string{"rank 1 on", "of bucket 1"}, result.Wrong},
	} {
		t.Run(k.name, func(t *testing.T) {
			parallel(t)
			out := t.TempDir()
			deadline := "60s"
			if k.code == exit.Hang {
				deadline = hangDeadline
			}
			o := rankRun{mpirun: openMPI, np: 2, args: smallStepFlags(t, out, "--deadline", deadline),
				env: []string{"BUSBAR_REHEARSAL_FAULT=" + k.fault}}.start(t).wait()
			if o.code != k.code {
				t.Errorf("want exit code %d: %s", k.code, o)
			}
			_, points := gpuSteps(t, out)
			if s := points["8K"]; k.code != exit.Hang && (s == nil || s.Status != result.OK) {
				t.Errorf("the other point is lost: %+v", s)
			}
			s := points["all"]
			if s == nil || s.Status != k.point {
				t.Fatalf("the point that is struck is %+v, wanted %s", s, k.point)
			}
			for _, want := range k.words {
				if !strings.Contains(s.Reason, want) {
					t.Errorf("no %q in the reason: %s", want, s.Reason)
				}
			}
		})
	}
}

// Without cuBLAS busbar's own kernel computes, and it is said why; who wants cuBLAS is told that there is none.
func TestStepWithoutCublas(t *testing.T) {
	parallel(t)
	stand, err := rehearsalWithout(t, "libcublas.so.12")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"BUSBAR_LIB=" + stand + ":" + compiled(t).lib}
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2, args: smallStepFlags(t, out), env: env}.start(t).wait()
	if o.code != exit.OK {
		t.Fatal(o)
	}
	f, points := gpuSteps(t, out)
	if f.Run.Step.Computing != "FMA kernels" {
		t.Errorf("without cuBLAS the run computes with %s", f.Run.Step.Computing)
	}
	if f.Run.Step.Unit < 25e-9 || f.Run.Step.Start < 0 || f.Run.Step.Start > 1 {
		t.Errorf("calibrated: %g s a unit, %g s a start", f.Run.Step.Unit, f.Run.Step.Start)
	}
	for _, s := range points {
		if notes := strings.Join(s.Notes, "; "); !strings.Contains(notes, "cuBLAS could not be loaded") {
			t.Errorf("the notes are %q", notes)
		}
	}
	o = rankRun{mpirun: openMPI, np: 2, args: smallStepFlags(t, t.TempDir(), "--compute-kernel", "gemm"),
		env: env}.start(t).wait()
	if o.code != exit.Environment || !strings.Contains(o.stderr, "--compute-kernel gemm: cuBLAS could not be loaded") ||
		!strings.Contains(o.stderr, "libcublas.so.12: ") {
		t.Errorf("want exit code %d and where it was looked for: %s", exit.Environment, o)
	}
	o = rankRun{mpirun: openMPI, np: 2, args: smallStepFlags(t, t.TempDir(), "--register", "window"),
		env: env}.start(t).wait()
	if o.code != exit.Environment || !strings.Contains(o.stderr, "--register window") ||
		!strings.Contains(o.stderr, "libcublas.so.12: ") {
		t.Errorf("FMA kernels beside windows: want exit code %d: %s", exit.Environment, o)
	}
}

// rehearsalWithout is a folder of libraries with a rehearsal that lacks a file, to be put into BUSBAR_LIB.
func rehearsalWithout(t *testing.T, file string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	whole, err := filepath.Glob(filepath.Join(compiled(t).lib, "rehearsal", "lib*"))
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "rehearsal"), 0o755)
	}
	for _, f := range whole {
		if err != nil {
			break
		}
		var data []byte
		if data, err = os.ReadFile(f); err == nil && filepath.Base(f) != file {
			err = os.WriteFile(filepath.Join(dir, "rehearsal", filepath.Base(f)), data, 0o755)
		}
	}
	return dir, err
}
