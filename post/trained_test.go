package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/post/steps/stepstest"
)

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

// TestMergeOfTrainingSteps: steps have their own table, and missing kinds have none.
func TestMergeOfTrainingSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	stepstest.Save(t, "steps", stepstest.Default().File())
	stdout, stderr, code := posted(t, "merge steps")
	if code != 0 || stdout != "steps/steps.csv\n" || exists("steps/merged.csv") ||
		!strings.Contains(stderr, "8 points (8 of training steps), 1 run") {
		t.Fatalf("exit %d, %q, stderr %q", code, stdout, stderr)
	}
	b, err := os.ReadFile("steps/steps.csv")
	if lines := strings.Split(string(b), "\n"); err != nil || len(lines) != 10 ||
		!strings.HasPrefix(lines[0], "run,campaign,launch,") || !strings.Contains(lines[3], ",25M,float32,") {
		t.Errorf("%s, %v", b, err)
	}
	fixtures["tiny"].save(t, "steps")
	stdout, stderr, code = posted(t, "merge steps")
	if code != 0 || stdout != "steps/merged.csv\nsteps/merged.jsonl\nsteps/steps.csv\n" ||
		!strings.Contains(stderr, "12 points (8 of training steps), 2 runs") {
		t.Errorf("exit %d, %q, stderr %q", code, stdout, stderr)
	}
	stepstest.Save(t, "rehearsed", stepRuns["rehearsed"]().File())
	if _, stderr, code := posted(t, "merge -o out steps rehearsed"); code != 1 ||
		!strings.Contains(stderr, "--include-simulated") || exists("out/steps.csv") {
		t.Errorf("simulated and measured steps: exit %d, stderr %q", code, stderr)
	}
	if _, stderr, code := posted(t, "merge --include-rehearsed -o out steps rehearsed"); code != 0 ||
		!strings.Contains(stderr, "20 points (16 of training steps)") {
		t.Errorf("requested simulated steps: exit %d, stderr %q", code, stderr)
	}
}

// A command that does not support training steps prints a line, reads the rest, and fails if there is no rest.
func TestTrainingStepsSkipped(t *testing.T) {
	t.Chdir(t.TempDir())
	stepstest.Save(t, "steps", stepstest.Default().File())
	stepstest.Save(t, "both", stepstest.Default().File())
	fixtures["tiny"].save(t, "both")
	later := fixtures["tiny"]
	later.launch++
	later.save(t, "other")
	const word = "1 file of training steps skipped"
	for _, c := range []string{"export --format csv", "export --format json", "export --format nccl-tests",
		"export --format prometheus", "report --layout comparison -o out"} {
		if stdout, stderr, code := posted(t, c+" both"); code != 0 || strings.Count(stderr, word) != 1 ||
			strings.Contains(stdout, "resnet50") {
			t.Errorf("post %s: exit %d, stderr %q", c, code, stderr)
		}
		if _, stderr, code := posted(t, c+" steps"); code == 0 || !strings.Contains(stderr, word) {
			t.Errorf("post %s of steps alone: exit %d, stderr %q", c, code, stderr)
		}
	}
	if left, err := filepath.Glob("out/*"); err != nil || len(left) == 0 {
		t.Errorf("no report was written: %v, %v", left, err)
	}
}
