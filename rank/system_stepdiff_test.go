package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"busbar/internal/notice/profiles"
)

// A rank that issues its operations late is the first cause of a longer step.
func TestStepDiffFindsLateRank(t *testing.T) {
	t.Parallel()
	var traces []string
	for _, fault := range []string{"", "late:20ms@rank=1"} {
		out := t.TempDir()
		rankRun{args: flags("--step uniform:8x4K --compute 6ms --bucket 16K --simulate -n 16 --out", out),
			env: []string{"BUSBAR_REHEARSAL_FAULT=" + fault}}.mustRun(t)
		found, err := filepath.Glob(filepath.Join(out, "*_trace"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v: %v", found, err)
		}
		traces = append(traces, found...)
	}
	text, err := exec.Command(compiled(t).post, "timeline", "--diff", "--format", "json", traces[0],
		traces[1]).Output()
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Notices []struct {
			Code       string
			Parameters profiles.StepChange
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if n := d.Notices[0]; n.Code != "step-change" || len(n.Parameters.Parts) == 0 ||
		n.Parameters.Parts[0].Rank != "rank 1" || n.Parameters.Parts[0].Change < 0.03 {
		t.Errorf("%+v", n)
	}
}
