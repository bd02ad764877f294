package result

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/golden"
	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

// interruptedAndResumed writes a run that was cut off in its second group, and its continuation, and returns their
// paths.
func interruptedAndResumed(t *testing.T, dir string) (first, second string) {
	t.Helper()
	run := sampleSteps()
	run.Block = "nodes2/launch1"
	w, _ := newWriter(t, dir, run)
	appendGroup(t, w, &run, 1, 12)
	failed := StepRecord{N: 3, Point: run.Step.Points[2], Status: Failed,
		Why: Because(notice.RankFailed{Rank: 1, Problem: "a link went down"})}
	must.NoError(t, w.Append(&failed))
	for k := 1; k <= 4; k++ {
		for n := 3; n <= 4; n++ { // what failed was fast
			must.NoError(t, w.AppendRound(&StepRound{N: n, Number: k, Round: sampleRound(0.01 * float64(n-3))}))
		}
	}
	again := run
	again.ID, again.Resumes, again.Start = "run-2", []string{"run-1"}, run.Start.Add(time.Minute)
	again.Rehearse = true
	v, _ := newWriter(t, dir, again)
	appendGroup(t, v, &again, 3, 5)
	must.NoError(t, v.End(End{Outcome: Complete}))
	return w.Path(), v.Path()
}

func rowsOf(t *testing.T, paths ...string) (rows []string, problems []notice.Notice) {
	t.Helper()
	runs, unread := ReadStepRuns(paths)
	merged, problems := MergeSteps(runs)
	for _, r := range merged {
		rows = append(rows, fmt.Sprintf("%s %d %s", r.Record.Run, r.Record.N, r.Record.Status))
	}
	return rows, append(unread, problems...)
}

func wantRows(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("rows %q, wanted %q", got, want)
	}
}

func TestMergeSteps(t *testing.T) {
	dir := t.TempDir()
	first, second := interruptedAndResumed(t, dir)
	rows, problems := rowsOf(t, first)
	wantRows(t, rows, "run-1 1 ok", "run-1 2 ok", "run-1 3 failed", "run-1 4 unfinished")
	if len(problems) != 1 || problems[0].Code() != "part-of-run" {
		t.Errorf("problems %v", problems)
	}
	// The continuation replaces truncated or failed points, in either order of files.
	rows, problems = rowsOf(t, second, first)
	wantRows(t, rows, "run-1 1 ok", "run-1 2 ok", "run-2 3 ok", "run-2 4 ok")
	if len(problems) != 2 || problems[1].Fact != (notice.RecordsReplaced{Records: 2}) {
		t.Errorf("problems %v", problems)
	}
	b, err := os.ReadFile(first)
	must.NoError(t, err)
	// A copy duplicates no rows, and a file without steps is reported.
	copied := writeLines(t, dir, "copy.jsonl", string(b))
	other := writeLines(t, dir, "other.jsonl", sampleRun())
	rows, problems = rowsOf(t, first, copied, other, second)
	wantRows(t, rows, "run-1 1 ok", "run-1 2 ok", "run-2 3 ok", "run-2 4 ok")
	if len(problems) != 3 || problems[0].At.File != other {
		t.Errorf("problems %v", problems)
	}
	// Records that did not fit on a full disk are in another file, with the run's header.
	lines := strings.SplitAfter(string(b), "\n")
	kept := writeLines(t, t.TempDir(), "kept.jsonl", strings.Join(lines[:20], ""))
	rescued := writeLines(t, t.TempDir(), "rescued.jsonl", strings.Join(append(lines[:5:5], lines[20:]...), ""))
	whole, _ := ReadStepRuns([]string{first})
	parts, _ := ReadStepRuns([]string{kept, rescued})
	if len(parts) != 1 || len(parts[0].Ranks) != 4 || parts[0].Path != kept ||
		fmt.Sprint(parts[0].Rounds) != fmt.Sprint(whole[0].Rounds) || len(parts[0].Records) != 4 {
		t.Errorf("of two parts: %d runs, %+v", len(parts), parts[0])
	}
}

// TestStepsCSV has steps that were finished, with and without confidence intervals, cut off, and failed.
func TestStepsCSV(t *testing.T) {
	first, second := interruptedAndResumed(t, t.TempDir())
	var rows []StepRow
	for _, paths := range [][]string{{first, second}, {first}} {
		runs, _ := ReadStepRuns(paths)
		merged, _ := MergeSteps(runs)
		rows = append(rows, merged...)
	}
	var b strings.Builder
	must.NoError(t, WriteStepsCSV(&b, rows))
	golden.Text(t, "testdata/steps.csv", b.String())
}

// TestMergeWithSteps: runs of steps have no rows, and may be left out.
func TestMergeWithSteps(t *testing.T) {
	dir := t.TempDir()
	first, second := interruptedAndResumed(t, dir)
	files := []string{first, second, written(t, dir, "c.jsonl", "c reduce gather end")}
	for _, c := range []struct {
		options     MergeOptions
		steps, runs int
		notes       []notice.Notice
	}{
		{MergeOptions{IncludeRehearsed: true}, 2, 3, nil},
		{MergeOptions{NoSteps: true}, 0, 1, []notice.Notice{notice.New(notice.StepsSkipped{Files: 2})}},
	} {
		d, err := Merge(files, c.options)
		must.NoError(t, err)
		rows := len(rowsOfTable(t, d))
		if notes := d.Notes(); rows != 2 || len(d.StepFiles()) != c.steps || len(d.Runs()) != c.runs ||
			!slices.EqualFunc(notes, c.notes, notice.Notice.Equal) {
			t.Errorf("%+v: %d rows, files of steps %v, notes %v", c.options, rows, d.StepFiles(), notes)
		}
	}
	var nothing *NothingError
	if _, err := Merge(files[:1], MergeOptions{NoSteps: true}); !errors.As(err, &nothing) {
		t.Errorf("only steps: %v", err)
	}
}
