package result

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// csvRows merges files and returns the rows of the CSV by column name.
func csvRows(t *testing.T, o MergeOptions, files ...string) []map[string]string {
	t.Helper()
	d, err := Merge(files, o)
	must.NoError(t, err)
	return rowsOfTable(t, d)
}

func rowsOfTable(t *testing.T, d *Dataset) (rows []map[string]string) {
	t.Helper()
	var b strings.Builder
	n, err := d.Write(Output{CSV, &b})
	must.NoError(t, err)
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || n != len(lines)-1 {
		t.Fatalf("%d rows, %d lines, %v", n, len(lines), err)
	}
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = l[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// runOf is a run that continues others.
func runOf(id string, minute int, resumes ...string) Run {
	r := sampleRun()
	r.ID, r.Launch, r.Resumes = id, "launch of "+id, resumes
	r.Start = r.Start.Add(time.Duration(minute) * time.Minute)
	return r
}

// summary is a row as "run n collective status".
func summary(rows []map[string]string) string {
	var s []string
	for _, r := range rows {
		s = append(s, strings.Join([]string{r["run"], r["n"], r["collective"], r["status"]}, " "))
	}
	return strings.Join(s, ", ")
}

// written writes a file that is described as "b<a reduce gather:timeout end": run b continues run a, with two points,
// of which the second timed out, and an end. A name with a dot names the backend; a @ is followed by the cycle.
func written(t *testing.T, dir, name, description string) string {
	t.Helper()
	words := strings.Fields(description)
	id, resumes, _ := strings.Cut(words[0], "<")
	id, backend, _ := strings.Cut(id, ".")
	run := runOf(id, int(id[0]-'a'), strings.FieldsFunc(resumes, func(r rune) bool { return r == ',' })...)
	run.Backend.Name = cmp.Or(backend, run.Backend.Name)
	lines := []any{run}
	for i, word := range words[1:] {
		word, cycle, _ := strings.Cut(word, "@")
		point, status, _ := strings.Cut(word, ":")
		collective := coll.AllGather
		if point == "reduce" {
			collective = coll.AllReduce
		}
		record := sampleRecord(sampleCase(t, collective, 8), 1e-5)
		switch {
		case point == "end":
			lines = append(lines, End{Kind: KindEnd, Outcome: Complete})
			continue
		case point == "torn":
			lines = append(lines, `{"kind":"case","n":2,"co`)
			continue
		case point == "run":
			lines = append(lines, runOf("z", 9))
			continue
		case status != "" && status != "ok":
			record = notOK(record.Case, Status(status), "x")
		}
		record.N = i + 1
		record.Cycle, _ = strconv.Atoi(cycle)
		lines = append(lines, record)
	}
	return writeLines(t, dir, name, lines...)
}

//go:embed testdata/merges.txt
var merges string

func TestMergeDropsDuplicates(t *testing.T) {
	for _, c := range golden.Table[struct {
		Name, Want   string
		Files, Notes []string
	}](t, merges) {
		var files []string
		dir := t.TempDir()
		for i, f := range c.Files {
			files = append(files, written(t, dir, fmt.Sprintf("%d.jsonl", i), f))
		}
		d, err := Merge(files, MergeOptions{})
		must.NoError(t, err)
		test.EqOp(t, c.Want, summary(rowsOfTable(t, d)), test.Sprint(c.Name))
		if notes := texts(d.Notes()); !slices.EqualFunc(notes, c.Notes, strings.Contains) {
			t.Errorf("%s: notes are %q, want %q", c.Name, notes, c.Notes)
		}
	}
}

// TestChainOfTwo: for every pair of statuses of one point, which record of a chain is kept: the earlier, the later or
// both.
func TestChainOfTwo(t *testing.T) {
	statuses := []Status{OK, Skipped, OOM, Failed, Wrong}
	for earlier, want := range map[Status]string{
		// later:     ok    skipped oom     failed  wrong
		OK:          "both  earlier earlier earlier both",
		Skipped:     "later later   later   later   later",
		Unsupported: "later later   later   later   later",
		OOM:         "later earlier later   later   both",
		Failed:      "later earlier later   later   both",
		Timeout:     "later earlier later   later   both",
		Wrong:       "both  earlier both    both    both",
	} {
		for i, left := range strings.Fields(want) {
			dir := t.TempDir()
			a := written(t, dir, "a.jsonl", fmt.Sprintf("a gather:%s", earlier))
			b := written(t, dir, "b.jsonl", fmt.Sprintf("b<a gather:%s", statuses[i]))
			a1, b1 := fmt.Sprintf("a 1 all_gather %s", earlier), fmt.Sprintf("b 1 all_gather %s", statuses[i])
			rows := map[string]string{"both": a1 + ", " + b1, "earlier": a1, "later": b1}[left]
			test.EqOp(t, rows, summary(csvRows(t, MergeOptions{}, b, a)), test.Sprint(earlier, statuses[i]))
		}
	}
}

func TestMergeErrors(t *testing.T) {
	dir := t.TempDir()
	record := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
	record.N = 1
	rehearsed := runOf("r", 1)
	rehearsed.Rehearse, rehearsed.Backend.Name = true, "nccl-rehearsal"
	a := writeLines(t, dir, "a.jsonl", runOf("a", 0), record)
	r := writeLines(t, dir, "r.jsonl", rehearsed, record)
	bad := writeLines(t, dir, "bad.jsonl", "{\"hello\":1}\n")
	half := writeLines(t, dir, "half.jsonl", `{"kind":"run","sch`)

	var mixture *RehearsedError
	if _, err := Merge([]string{a, r}, MergeOptions{}); !errors.As(err, &mixture) ||
		!strings.Contains(err.Error(), "--include-simulated") || !strings.Contains(err.Error(), r) {
		t.Errorf("rehearsed beside measured: %v", err)
	}
	test.EqOp(t, "a 1 all_reduce ok, r 1 all_reduce ok", summary(csvRows(t, MergeOptions{IncludeRehearsed: true},
		a, r)))
	if rows := csvRows(t, MergeOptions{}, r); len(rows) != 1 || rows[0]["backend"] != "nccl-rehearsal" {
		t.Errorf("rehearsed alone: %v", rows)
	}
	var nothing *NothingError
	if _, err := Merge([]string{bad, half}, MergeOptions{}); !errors.As(err, &nothing) ||
		!strings.Contains(err.Error(), bad+": not a results file") || strings.Count(err.Error(), half) != 1 {
		t.Errorf("no usable file: %v", err)
	}
	d, err := Merge([]string{bad, a}, MergeOptions{})
	if err != nil || len(d.Notes()) != 1 || len(d.Runs()) != 1 {
		t.Errorf("one of two usable: %v", err)
	}
}

// TestMergedTable has the same rows in each format: quotes, missing values, a late rank, and a choice of ranks in
// latency mode.
func TestMergedTable(t *testing.T) {
	record := sampleRecord(sampleCase(t, coll.AllReduce, 1<<20), 1.0/3)
	record.Warnings = notice.Of(notice.FromText(`says "no", twice`), notice.FromText("and, more\nlines; µ|"))
	record.Ranks.Latest, record.Ranks.Lateness = 2, 0.25
	record.Path = &Path{Algorithm: "NVLS", Protocol: "SIMPLE", Channels: 24}
	skipped := notOK(sampleCase(t, coll.AllGather, 8), Skipped, `too "large" by far`)
	skipped.Mode = coll.Latency
	unclaimed := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
	cold := runOf("a", 0)
	cold.Method = Method{Rotate: 64 << 20, Average: "mean over ranks", Graph: 20}
	cold.Warnings = notice.Of(notice.Recorded{Text: "oversubscribed: by far"})
	path := writeLines(t, t.TempDir(), "a.jsonl", append([]any{cold}, numbered(record, skipped, unclaimed)...)...)
	d, err := Merge([]string{path}, MergeOptions{})
	must.NoError(t, err)
	var table, lines, text strings.Builder
	if n, err := d.Write(Output{CSV, &table}, Output{JSONL, &lines}, Output{Markdown, &text}); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	golden.Text(t, "testdata/merged.csv", table.String())
	golden.Text(t, "testdata/merged.jsonl", lines.String())
	golden.Text(t, "testdata/merged.md", text.String())
}
