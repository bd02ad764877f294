package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/notice"
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

// expected is a row of a report, a line of testdata/preflight.txt.
type expected struct {
	Exit             int
	Args, Env        string
	Check            string
	Verdict          preflight.Verdict
	Code             notice.Code
	Parameter, Value string // "" for none; a part of the parameter
}

//go:embed testdata/preflight.txt
var expectations string

// The report has a row per check and finds problems of setup, GPUs, libraries and trials. It writes no files. Load and
// number of cores are not tested.
func TestPreflight(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.NoError(t, os.WriteFile(file, nil, 0o666))
	values := map[string]string{"file": file, "host": hostName(), "gpus": "--simulate --backend nccl --deadline 2s"}
	var rows map[string]checked
	text := os.Expand(expectations, func(name string) string { return values[name] })
	for _, k := range golden.Table[expected](t, text) {
		if k.Args != "" {
			dir := t.TempDir()
			l := rankRun{args: flags(k.Args, "--preflight --json"), env: []string{k.Env}, dir: dir}
			if k.Args == "two command lines" {
				l.args, l.np = flags("--preflight --json"), 1
				l.more = flags(": -np 1", compiled(t).rank, "--preflight --json -c 0")
			}
			o := l.run(t)
			var verdict preflight.Verdict
			verdict, rows = decoded(t, o)
			if o.code != k.Exit && (k.Exit >= 0 || o.code == 0) || (verdict == preflight.Problem) != (k.Exit != 0) {
				t.Errorf("%s %s: verdict %s, want code %d: %s", k.Args, k.Env, verdict, k.Exit, o)
			}
			checkNothing(t, dir)
		}
		row := rows[k.Check]
		if row.Verdict != k.Verdict || row.ReportedRow.Code != k.Code ||
			k.Parameter != "" && !strings.Contains(fmt.Sprint(row.Parameters[k.Parameter]), k.Value) {
			t.Errorf("%+v, want %+v", row, k)
		}
	}
}
