package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/rank/exit"
	"busbar/rank/preflight"

	"github.com/shoenig/test/must"
)

// checked is a row of the JSON report with its notice.
type checked struct {
	preflight.ReportedRow
	reportedNotice
}

// reportedPreflight is the JSON of a report.
type reportedPreflight struct {
	Schema  int
	Kind    string
	Verdict preflight.Verdict
	Rows    []preflight.ReportedRow
	Notices []reportedNotice
}

// reportedNotice is a notice of a report.
type reportedNotice struct {
	Code       notice.Code
	Severity   notice.Severity
	Message    string
	Location   *notice.Location
	Parameters map[string]any
	Count      int
}

// decoded returns the report of --preflight --json, which must be all of stdout: the first row of each check, or its
// first finding.
func decoded(t *testing.T, o outcome) (v preflight.Verdict, rows map[string]checked) {
	t.Helper()
	var report reportedPreflight
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&report); err != nil || d.More() {
		t.Fatalf("not one JSON object: %v: %s", err, o)
	}
	must.EqOp(t, len(report.Rows), len(report.Notices))
	rows = map[string]checked{}
	for i, r := range report.Rows {
		if r.Found == "" || r.Where == nil || (r.Verdict == preflight.Passed) != (r.Advice == "") ||
			r.Code != report.Notices[i].Code {
			t.Errorf("not a whole row: %+v", r)
		}
		if before, seen := rows[r.Check]; !seen || before.Verdict == preflight.Passed {
			rows[r.Check] = checked{r, report.Notices[i]}
		}
	}
	return report.Verdict, rows
}

// expected is a row of a report: verdict, code and a parameter.
type expected struct {
	check     string
	verdict   preflight.Verdict
	code      notice.Code
	parameter string // "" for none
	value     string // part of the parameter
}

// The report has a row per check and finds problems of setup, GPUs, libraries and trials. It writes no files. Load and
// number of cores are not tested.
func TestPreflight(t *testing.T) {
	t.Parallel()
	const ok, caution, problem = preflight.Passed, preflight.Caution, preflight.Problem
	file := filepath.Join(t.TempDir(), "file")
	must.NoError(t, os.WriteFile(file, nil, 0o666))
	gpus := "--simulate --backend nccl --deadline 2s"
	for _, k := range []struct {
		args, env string
		more      []string
		code      int // -1: any but 0
		want      []expected
	}{
		{args: "--backend mpi", want: []expected{
			{"MPI", ok, "mpi-in-use", "library", "MPI"},
			{"hosts", ok, "one-host", "host", hostName()}, {"host memory", ok, "host-memory", "", ""},
			{"output", ok, "output-folder", "folder", "results"}, {"side channel", ok, "side-channel", "state", "open"},
			{"clocks", ok, "one-clock", "", ""}, {"all_gather", ok, "collective-correct", "ranks", "2"},
			{"all_reduce", ok, "collective-correct", "ranks", "2"}}},
		{args: "--backend mpi --out " + file, code: exit.Environment,
			want: []expected{{"output", problem, "output-unusable", "", ""}}},
		{args: "--mpi /nonexistent.so", code: -1,
			want: []expected{{"MPI", problem, "mpi-unusable", "problem", "no MPI shim"}}},
		{args: "--mpi mpich", code: exit.Environment,
			want: []expected{{"MPI", problem, "mpi-unusable", "problem", "sees a world of 1"}}},
		{more: []string{":", "-np", "1", compiled(t).rank, "--preflight", "--json", "-c", "0"}, code: exit.Environment,
			want: []expected{{"MPI", problem, "mpi-unusable", "problem", "different command lines"}}},
		{args: "--backend nccl --cuda /nowhere --nccl /nowhere", code: exit.Environment, want: []expected{
			{"GPUs", problem, "gpu-driver-unusable", "tried", "/nowhere"},
			{"NCCL", problem, "nccl-unusable", "tried", "/nowhere"}}},
		{args: gpus, want: []expected{
			{"GPUs", caution, "gpus-simulated", "models", "gpus:"}, {"NCCL", ok, "nccl-in-use", "library", "rehearsal"},
			{"GPU of each rank", ok, "own-gpus", "", ""}, {"peer access", ok, "peer-access", "gpus", ""},
			{"all_reduce", ok, "collective-correct", "ranks", "2"}}},
		{args: gpus, env: "CUDA_VISIBLE_DEVICES=0", code: exit.Environment, want: []expected{
			{"GPU of each rank", problem, "shared-gpu", "ranks", "2"},
			{"backend", problem, "backend-not-tried", "backends", "nccl"}}},
		{args: gpus + " --allow-shared-gpu", env: "CUDA_VISIBLE_DEVICES=0",
			want: []expected{{"GPU of each rank", caution, "shared-gpu", "allowed", "true"}}},
		{args: gpus, env: "BUSBAR_REHEARSAL_FAULT=wrong@rank=1,collective=all_reduce", code: exit.Environment,
			want: []expected{{"all_reduce", problem, "collective-wrong", "cause", "point-wrong"}}},
		{args: gpus, env: "BUSBAR_REHEARSAL_FAULT=oom@collective=all_reduce", code: exit.Environment,
			want: []expected{{"all_reduce", problem, "collective-failed", "cause", "rank-failed"}}},
		{args: gpus + " --rotate 64T", code: exit.Environment,
			want: []expected{{"backend", problem, "backend-unavailable", "problem", "OUT_OF_MEMORY"}}},
		{args: gpus, env: "BUSBAR_REHEARSAL_FAULT=hang@rank=1", code: exit.Hang,
			want: []expected{{"communication", problem, "preflight-stopped", "cause", "rank 1 on"}}},
		{args: gpus, env: "BUSBAR_REHEARSAL_FAULT=init-hang", code: exit.Hang,
			want: []expected{{"communication", problem, "preflight-stopped", "cause", "NCCL init"}}},
	} {
		dir := t.TempDir()
		l := rankRun{args: append(strings.Fields(k.args), "--preflight", "--json"), env: []string{k.env}, dir: dir}
		if l.more = k.more; k.more != nil {
			l.np = 1
		}
		o := l.run(t)
		verdict, rows := decoded(t, o)
		if o.code != k.code && (k.code >= 0 || o.code == 0) || (verdict == problem) != (k.code != 0) {
			t.Errorf("%s %s: verdict %s, want code %d: %s", k.args, k.env, verdict, k.code, o)
		}
		for _, w := range k.want {
			row := rows[w.check]
			if row.Verdict != w.verdict || row.ReportedRow.Code != w.code ||
				w.parameter != "" && !strings.Contains(fmt.Sprint(row.Parameters[w.parameter]), w.value) {
				t.Errorf("%s %s: %+v, want %+v", k.args, k.env, row, w)
			}
		}
		checkNothing(t, dir)
	}
}
