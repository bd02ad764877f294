package main

import (
	"encoding/json"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/internal/step"
)

// readTimeline is what post timeline finds in traces.
func readTimeline(t *testing.T, folder string) (found struct {
	Files []struct {
		Own string `json:"own"`
	} `json:"files"`
	Devices []struct {
		Rank  int    `json:"rank"`
		World int    `json:"world"`
		Host  string `json:"host"`
		Steps []struct {
			Span    float64 `json:"span_ms"`
			Compute float64 `json:"compute_ms"`
			Comm    float64 `json:"comm_ms"`
			Overlap float64 `json:"overlap_ms"`
			Exposed float64 `json:"exposed_ms"`
			Idle    float64 `json:"idle_ms"`
		} `json:"steps"`
		Collectives []struct {
			Name  string `json:"name"`
			Bytes int64  `json:"size_bytes"`
			Calls int    `json:"calls"`
			Type  string `json:"type"`
		} `json:"collectives"`
	} `json:"devices"`
	Across *struct {
		Matched int `json:"matched"`
		Alone   int `json:"unmatched"`
	} `json:"across"`
}) {
	t.Helper()
	text, err := exec.Command(compiled(t).post, "timeline", "--format", "json", folder).Output()
	if err != nil {
		t.Fatalf("post timeline %s: %v", folder, err)
	}
	if err := json.Unmarshal(text, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// traceReadsBack compares what post timeline finds in the traces of every point with what rank kept in the records.
func traceReadsBack(t *testing.T, args []string, ranks int, says string) {
	t.Helper()
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: ranks, args: append(args, "--step", "uniform:6x64K", "--compute", "3ms", "--strategy",
		"ddp,fsdp", "--bucket", "256K,all", "-n", "3", "-w", "1", "--quiet", "--out", out)}.mustRun(t)
	paths, err := filepath.Glob(filepath.Join(out, "step_*_world*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("files %v, error %v", paths, err)
	}
	f, err := result.ReadSteps(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Records) < 4 {
		t.Fatalf("%d points, want 4 or more", len(f.Records))
	}
	for _, r := range f.Records {
		if r.Trace == "" || len(r.Traced) != ranks {
			t.Fatalf("%s: trace %q, of %d ranks", r.Point, r.Trace, len(r.Traced))
		}
		found := readTimeline(t, filepath.Join(out, r.Trace))
		if len(found.Devices) != ranks || !strings.Contains(found.Files[0].Own, says) {
			t.Fatalf("%s: %d devices in %+v, want %q said", r.Point, len(found.Devices), found.Files, says)
		}
		matched := 3 * len(r.Ops)
		if r.Progress == step.NoCalls || r.Progress == step.Poll {
			matched = 0 // begun and looked after later, their times are none of communication
		}
		if a := found.Across; a == nil || a.Matched != matched || a.Alone != 0 {
			t.Errorf("%s: matched over ranks are %+v, of three steps with %d operations", r.Point, a, len(r.Ops))
		}
		for i, d := range found.Devices {
			if d.Rank != i || d.World != ranks || len(d.Steps) != 3 || r.Traced[i].Rank != i {
				t.Fatalf("%s: rank %d of %d has %d steps", r.Point, d.Rank, d.World, len(d.Steps))
			}
			last, kept := d.Steps[2], r.Traced[i]
			for what, of := range map[string][2]float64{"span": {last.Span, kept.Span},
				"compute": {last.Compute, kept.Compute}, "comm": {last.Comm, kept.Comm},
				"overlap": {last.Overlap, kept.Overlap}, "exposed": {last.Exposed, kept.Exposed},
				"idle": {last.Idle, kept.Idle}} {
				const resolution = 1.5e-9 // s; times are whole nanoseconds, written twice
				if math.Abs(of[0]/1e3-of[1]) > resolution {
					t.Errorf("%s, rank %d: %s is %g ms in the trace, and %g s in the record", r.Point, i, what, of[0],
						of[1])
				}
			}
			bytes, wanted := int64(0), int64(0)
			for _, c := range d.Collectives {
				bytes += c.Bytes * int64(c.Calls)
				if c.Type != r.Type.String() {
					t.Errorf("%s: %s of %s", r.Point, c.Name, c.Type)
				}
			}
			for _, op := range r.Ops {
				wanted += 3 * op.Bytes
			}
			if bytes != wanted {
				t.Errorf("%s, rank %d: %d bytes in the trace, %d in the record", r.Point, i, bytes, wanted)
			}
		}
	}
}

func TestStepTraceOfMPI(t *testing.T) {
	traceReadsBack(t, []string{"--backend", "mpi", "--progress", "none,poll,thread"}, 2, "mpi; CPUs, no GPU")
}

func TestStepTraceOfGloo(t *testing.T) {
	glooShim(t)
	traceReadsBack(t, []string{"--backend", "gloo", "--gloo-iface", "lo"}, 2, "gloo; CPUs, no GPU")
}

func TestStepTraceOfRehearsal(t *testing.T) {
	traceReadsBack(t, rehearsed("-d", "bfloat16"), 2, "SIMULATED, no GPU")
}
