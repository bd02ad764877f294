package result

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"busbar/internal/golden"
	"busbar/internal/notice"
)

// interruptedAndResumed writes a run that was cut off in its second group, and one that goes on with it, and returns
// their paths.
func interruptedAndResumed(t *testing.T, dir string) (first, second string) {
	t.Helper()
	run := sampleSteps()
	run.Block = "nodes2/launch1"
	w, _ := newWriter(t, dir, run)
	appendGroup(t, w, &run, 1, 12)
	failed := StepRecord{N: 3, Point: run.Step.Points[2], Status: Failed,
		Why: Because(notice.RankFailed{Rank: 1, Problem: "a link went down"})}
	if err := w.Append(&failed); err != nil {
		t.Fatal(err)
	}
	for k := 1; k <= 4; k++ {
		for n := 3; n <= 4; n++ { // what failed was fast
			if err := w.AppendRound(&StepRound{N: n, Number: k, Round: sampleRound(0.01 * float64(n-3))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := run
	again.ID, again.Resumes, again.Start = "run-2", []string{"run-1"}, run.Start.Add(time.Minute)
	again.Rehearse = true
	v, _ := newWriter(t, dir, again)
	appendGroup(t, v, &again, 3, 5)
	if err := v.End(End{Outcome: Complete}); err != nil {
		t.Fatal(err)
	}
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
	// What was cut off or failed gives way to the run that goes on with it, whichever is named first.
	rows, problems = rowsOf(t, second, first)
	wantRows(t, rows, "run-1 1 ok", "run-1 2 ok", "run-2 3 ok", "run-2 4 ok")
	if len(problems) != 2 || problems[1].Fact != (notice.RecordsReplaced{Records: 2}) {
		t.Errorf("problems %v", problems)
	}
	b, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	// A copy doubles nothing, and a file that is none of steps is named.
	copied := writeLines(t, dir, "copy.jsonl", string(b))
	other := writeLines(t, dir, "other.jsonl", sampleRun())
	rows, problems = rowsOf(t, first, copied, other, second)
	wantRows(t, rows, "run-1 1 ok", "run-1 2 ok", "run-2 3 ok", "run-2 4 ok")
	if len(problems) != 3 || problems[0].At.File != other {
		t.Errorf("problems %v", problems)
	}
	// What did not fit on a full disk lies in a file of its own, with the run's header.
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
	if err := WriteStepsCSV(&b, rows); err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/steps.csv", b.String())
}

// Merge takes runs of steps for runs without rows, or leaves them out and says how many.
func TestMergeBesideSteps(t *testing.T) {
	dir := t.TempDir()
	first, second := interruptedAndResumed(t, dir)
	run := sampleRun()
	run.ID, run.Resumes = "run-3", []string{"run-1"}
	w, _ := newWriter(t, dir, run)
	sampleAppend(t, w, 2)
	if err := w.End(End{Outcome: Complete}); err != nil {
		t.Fatal(err)
	}
	files := []string{first, second, w.Path()}
	if _, err := Merge(files, MergeOptions{}); err == nil {
		t.Error("rehearsed steps beside measured ones are let in")
	}
	rows := func(d *Dataset, err error) (n int) {
		if err == nil {
			err = d.Each(func(Row) error { n++; return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	d, err := Merge(files, MergeOptions{IncludeRehearsed: true})
	if n := rows(d, err); n != 2 || len(d.StepFiles()) != 2 || len(d.Runs()) != 3 || len(d.Notes()) != 0 {
		t.Errorf("%d rows, files of steps %v, notes %v", n, d.StepFiles(), d.Notes())
	}
	d, err = Merge(files, MergeOptions{NoSteps: true}) // and none of them is rehearsed
	if n := rows(d, err); n != 2 || len(d.StepFiles()) != 0 || len(d.Runs()) != 1 || len(d.Notes()) != 1 ||
		d.Notes()[0].Fact != (notice.StepsSkipped{Files: 2}) {
		t.Errorf("%d rows, files of steps %v, notes %v", n, d.StepFiles(), d.Notes())
	}
	if _, err := Merge(files[:1], MergeOptions{NoSteps: true}); err == nil ||
		!strings.Contains(err.Error(), "1 file of training steps") {
		t.Errorf("nothing but steps: %v", err)
	}
	if found, err := Find(dir); err != nil || len(found) != 3 || filepath.Dir(found[0]) != dir {
		t.Errorf("found %v, %v", found, err)
	}
}
