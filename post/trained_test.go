package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"
	training "busbar/internal/step"
)

// saveSteps writes a made-up run of training steps: two buckets, of which the second hides more.
func saveSteps(t *testing.T, dir string, change func(*result.Run)) string {
	t.Helper()
	run := result.Run{
		ID: "steps", Launch: "launch-9", Campaign: "campaign", Start: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC),
		Tool:    "busbar 0.1.0",
		Backend: result.Backend{Name: "mpi", Library: "Open MPI 4.1.4"}, World: 2, Nodes: 1, RanksPerNode: 2,
		Device: "cpu (Example E-1234)",
		Step: &result.Step{Model: "resnet50", Params: 25_557_032, Layers: 161, Forward: 0.05, Backward: 0.1,
			First:     1 << 20,
			Computing: "1 thread of FMA"},
	}
	for _, bucket := range []training.Cap{1 << 20, 25 << 20} {
		run.Step.Points = append(run.Step.Points,
			training.Point{Strategy: training.DDP, Bucket: bucket, Type: coll.Float32,
				Progress: training.Poll})
	}
	if change != nil {
		change(&run)
	}
	w, err := result.Create(dir, run, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		var rounds []training.Round
		for k := 1; k <= 8; k++ {
			r := training.Round{Compute: 0.15, Comm: 0.06, Sequential: 0.21, Overlapped: 0.20 - 0.02*float64(n) +
				1e-4*float64(k%3),
				ComputeAlone: 0.15, ComputeBusy: 0.152, CommAlone: 0.06, CommBusy: 0.07, Hidden: 0.05}
			rounds = append(rounds, r)
			if err := w.AppendRound(&result.StepRound{N: n, Number: k, Round: r}); err != nil {
				t.Fatal(err)
			}
		}
		f := training.FiguresOf(rounds)
		if err := w.Append(&result.StepRecord{N: n, Point: run.Step.Points[n-1], Status: result.OK, Figures: &f,
			Check: result.Check{Result: "ok"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(result.End{Outcome: result.Complete}); err != nil {
		t.Fatal(err)
	}
	return w.Path()
}

func posted(t *testing.T, args string) (stdout, stderr string, code int) {
	t.Helper()
	var out, said bytes.Buffer
	code = exitCode(run(t.Context(), strings.Fields(args), &out, &said), &said)
	return out.String(), said.String(), code
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestMergeOfTrainingSteps: they go into a table of their own, and no table is made of what is not there.
func TestMergeOfTrainingSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	saveSteps(t, "steps", nil)
	stdout, stderr, code := posted(t, "merge steps")
	if code != 0 || stdout != "steps/steps.csv\n" || exists("steps/merged.csv") ||
		!strings.Contains(stderr, "2 points (2 of training steps), 1 run") {
		t.Fatalf("exit %d, %q, said %q", code, stdout, stderr)
	}
	b, err := os.ReadFile("steps/steps.csv")
	if lines := strings.Split(string(b), "\n"); err != nil || len(lines) != 4 ||
		!strings.HasPrefix(lines[0], "run,campaign,launch,") || !strings.Contains(lines[2], ",25M,float32,") {
		t.Errorf("%s, %v", b, err)
	}
	fixtures["tiny"].save(t, "steps")
	stdout, stderr, code = posted(t, "merge steps")
	if code != 0 || stdout != "steps/merged.csv\nsteps/merged.jsonl\nsteps/steps.csv\n" ||
		!strings.Contains(stderr, "6 points (2 of training steps), 2 runs") {
		t.Errorf("exit %d, %q, said %q", code, stdout, stderr)
	}
	saveSteps(t, "rehearsed", func(r *result.Run) { r.ID, r.Rehearse = "rehearsed", true })
	if _, stderr, code := posted(t, "merge -o out steps rehearsed"); code != 1 ||
		!strings.Contains(stderr, "--include-simulated") || exists("out/steps.csv") {
		t.Errorf("rehearsed steps beside measured ones: exit %d, said %q", code, stderr)
	}
	if _, stderr, code := posted(t, "merge --include-rehearsed -o out steps rehearsed"); code != 0 ||
		!strings.Contains(stderr, "8 points (4 of training steps)") {
		t.Errorf("rehearsed steps that were asked for: exit %d, said %q", code, stderr)
	}
}

// A command that has nothing for training steps says so in a line, reads the rest, and fails where there is no rest.
func TestTrainingStepsArePassedOver(t *testing.T) {
	t.Chdir(t.TempDir())
	saveSteps(t, "steps", nil)
	saveSteps(t, "both", nil)
	fixtures["tiny"].save(t, "both")
	later := fixtures["tiny"]
	later.launch++
	later.save(t, "other")
	const word = "1 file of training steps skipped"
	for _, c := range []string{"export --format csv", "export --format json", "export --format nccl-tests",
		"export --format prometheus", "report --layout comparison -o out"} {
		if stdout, stderr, code := posted(t, c+" both"); code != 0 || strings.Count(stderr, word) != 1 ||
			strings.Contains(stdout, "resnet50") {
			t.Errorf("post %s: exit %d, said %q", c, code, stderr)
		}
		if _, stderr, code := posted(t, c+" steps"); code == 0 || !strings.Contains(stderr, word) {
			t.Errorf("post %s of steps alone: exit %d, said %q", c, code, stderr)
		}
	}
	if left, err := filepath.Glob("out/*"); err != nil || len(left) == 0 {
		t.Errorf("no report was written: %v, %v", left, err)
	}
}
