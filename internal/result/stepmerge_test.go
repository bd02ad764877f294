package result

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// TestStepsCSV holds the table: every column has a value somewhere but those that this run cannot have, and each row as
// many cells as the head.
func TestStepsCSV(t *testing.T) {
	first, second := interruptedAndResumed(t, t.TempDir())
	runs, _ := ReadStepRuns([]string{first, second})
	rows, _ := MergeSteps(runs)
	var b bytes.Buffer
	if err := WriteStepsCSV(&b, rows); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(table) != 5 {
		t.Fatalf("%d lines, %v", len(table), err)
	}
	cell := func(row int, column string) string {
		for i, name := range table[0] {
			if name == column {
				return table[row][i]
			}
		}
		t.Fatalf("no column %s", column)
		return ""
	}
	for _, c := range []struct {
		row          int
		column, want string
	}{
		{1, "run", "run-1"}, {1, "block", "nodes2/launch1"}, {1, "model", "resnet50"}, {1, "strategy", "ddp"},
		{1, "bucket", "1M"}, {3, "type", "bfloat16"}, {1, "progress", "poll"}, {1, "compression", ""},
		{1, "world", "4"}, {1, "ops", "2"}, {1, "bytes", "3145728"}, {1, "rounds", "12"}, {3, "rounds", "5"},
		{1, "compute_s", "0.15"}, {1, "overlap_bound", "1"},
		{2, "best", "best"}, {1, "best", "slower"}, {3, "best", "too few rounds"}, {2, "slower", ""}, {3, "slower_lo", ""},
		{3, "overlap_lo", ""}, {3, "overlapped_lo_s", ""},
		{1, "status", "ok"}, {1, "check", "ok"}, {1, "rehearsed", ""}, {3, "rehearsed", "true"}, {1, "compute_p99_s", ""},
		{1, "stop", "fixed"},
	} {
		if got := cell(c.row, c.column); got != c.want {
			t.Errorf("row %d: %s is %q, not %q", c.row, c.column, got, c.want)
		}
	}
	for _, column := range []string{"exposed_lo_s", "overlap_lo", "overlapped_hi_s", "slower", "slower_lo", "slower_hi",
		"comm_slowdown_hi", "weak_scaling"} {
		if cell(1, column) == "" {
			t.Errorf("%s is empty", column)
		}
	}
	alone, _ := ReadStepRuns([]string{first})
	left, _ := MergeSteps(alone)
	b.Reset()
	if err := WriteStepsCSV(&b, left[2:]); err != nil {
		t.Fatal(err)
	}
	if table, err = csv.NewReader(&b).ReadAll(); err != nil {
		t.Fatal(err)
	}
	if cell(1, "reason") != "rank 1: a link went down" || cell(1, "compute_s") != "" || cell(1, "ops") != "" ||
		cell(2, "status") != "unfinished" || cell(2, "compute_s") == "" || cell(2, "best") != "" {
		t.Errorf("rows of what was not finished: %q", table[1:])
	}
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
