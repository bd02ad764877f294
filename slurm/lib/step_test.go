package lib

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test/must"
)

// ofStep returns the flags of rank --step --help as arguments, each with a value if it requires one.
func ofStep(t *testing.T, p place) (words []string) {
	t.Helper()
	help, err := exec.Command(filepath.Join(p.top, "bin/rank"), "--step", "--help").Output()
	must.NoError(t, err)
	_, section, _ := strings.Cut(string(help), "\nTraining step\n")
	section, _, _ = strings.Cut(section, "\n\n")
	for _, m := range regexp.MustCompile(`(?m)^ +(--[a-z-]+)( [A-Z|]+)?`).FindAllStringSubmatch(section, -1) {
		words = append(words, m[1])
		if m[2] != "" {
			words = append(words, "value")
		}
	}
	if !slices.Contains(words, "--step") || len(words) < 10 {
		t.Fatalf("rank --step --help lists only %q:\n%s", words, help)
	}
	return words
}

// All spellings of a step's flags are dropped, and others are kept.
func TestDropStepFlags(t *testing.T) {
	p := install(t)
	words := ofStep(t, p)
	var joined, underscored []string
	for _, w := range words {
		underscored = append(underscored, strings.ReplaceAll(w, "t-", "t_"))
		if last := len(joined) - 1; w == "value" {
			joined[last] += "=value"
		} else {
			joined = append(joined, w)
		}
	}
	for _, flags := range [][]string{words, joined, underscored} {
		script := `here=$1/slurm me=test; . "$here/lib/launch.sh"; shift; flags=("$@"); drop_step_flags; echo ` +
			`"${collective_flags[*]-}"`
		all := append(append([]string{"-c", script, "bash", p.top, "--backend", "nccl"}, flags...), "-d", "float16")
		out, err := exec.Command("bash", all...).CombinedOutput()
		if err != nil || string(out) != "--backend nccl -d float16\n" {
			t.Errorf("flags %q: got %q, %v", flags, out, err)
		}
	}
}

// recorder replaces rank by a program that records its arguments.
func recorder(t *testing.T, p place) {
	t.Helper()
	text := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>%s/calls.$$\n", p.dir)
	path := filepath.Join(p.top, "bin/rank")
	must.NoError(t, os.Remove(path))
	must.NoError(t, os.WriteFile(path, []byte(text), 0o755))
}

// The runs before the requested one are of collectives, without flags of a step.
func TestDebugOfAStep(t *testing.T) {
	p := install(t)
	recorder(t, p)
	p.expect(0, "requested exited with 0", nil, "debug.sh", "-np", "2", "--out", "d", "--backend", "gloo", "--step",
		"resnet50", "--bucket=25M", "-d", "float16")
	calls := strings.Split(strings.TrimSpace(p.text("calls.*")), "\n")
	steps := 0
	for _, line := range calls {
		if !strings.Contains(line, "--backend gloo") && !strings.Contains(line, "--version") {
			t.Errorf("rank was called with %s", line)
		}
		if strings.Contains(line, "--step resnet50 --bucket=25M -d float16") {
			steps++
		} else if strings.Contains(line, "resnet50") || strings.Contains(line, "25M") {
			t.Errorf("rank was called with %s", line)
		}
	}
	if steps != 2 || len(calls) < 8 {
		t.Errorf("%d ranks ran a step, want 2:\n%s", steps, strings.Join(calls, "\n"))
	}
}

// nsys records the steps.
func TestProfileOfAStep(t *testing.T) {
	p := install(t)
	p.fake("nsys", fmt.Sprintf("echo \"$*\" >>%s/calls.$$", p.dir))
	p.expect(0, "results: ", nil, "profile.sh", "-np", "2", "--out", "p", "--duration", "9", "--rehearse",
		"--step", "resnet50")
	calls := strings.Split(strings.TrimSpace(p.text("calls.*")), "\n")
	must.Len(t, 2, calls)
	for _, call := range calls {
		if !strings.Contains(call, "--capture-range cudaProfilerApi") ||
			!strings.Contains(call, "rank --profile-range") ||
			!strings.Contains(call, "--kill none --duration 9 ") ||
			!strings.Contains(call, "--rehearse --step resnet50") {
			t.Errorf("nsys %s", call)
		}
	}
}

// A job of interrupted training steps is requeued and resumed, like one of collectives.
func TestSweepOfSteps(t *testing.T) {
	p := sweeper(t, `echo "$*" >>started
echo '{"kind":"end","outcome":"interrupted","code":6}' >"$OUT/step_mpi_world2_x.jsonl"
exit 6`)
	for _, start := range []string{"first", "second"} {
		p.expect(6, "(exit code 6): requeue", sweep(p), "sweep.sh", "--mpi", "openmpi",
			"--step", "resnet50")
		started := strings.Split(strings.TrimSpace(p.text("started")), "\n")
		last := started[len(started)-1]
		if !strings.Contains(last, "--step resnet50") || strings.Contains(last, "--resume") != (start == "second") {
			t.Errorf("%s start: srun %s", start, last)
		}
		if start == "first" {
			// The next start must ignore the end of an existing file.
			must.NoError(t, os.Rename(filepath.Join(p.dir, "out/step_mpi_world2_x.jsonl"),
				filepath.Join(p.dir, "out/step_mpi_world2_w.jsonl")))
		}
	}
}

func TestBaselineRejectsSteps(t *testing.T) {
	p := install(t)
	p.expect(1, "does not support --step", nil, "baseline.sh", "--step",
		"resnet50")
}

// A job of training steps writes their table and plots.
func TestSweepReportsSteps(t *testing.T) {
	p := sweeper(t, `while [ "${1##*/}" != rank ]; do shift; done
exec "$BUSBAR_HOME"/scripts/mpirun.sh -np 2 "$@"`)
	p.expect(0, "report.html, steps.csv,", sweep(p), "sweep.sh", "--mpi", "openmpi",
		"--quiet", "--backend", "mpi", "--step", "uniform:4x16K", "--compute", "2ms", "--bucket", "all,layer",
		"-n", "6")
	p.has("out/step_mpi_world2_*.jsonl", "out/steps.csv", "out/plots/*.png")
}
