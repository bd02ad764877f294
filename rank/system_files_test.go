package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// few are the flags of a short run.
var few = flags("--collective all_reduce -b 8 -e 512 -f 4 -n 5 -w 1")

// flags are the words of texts.
func flags(texts ...string) []string { return strings.Fields(strings.Join(texts, " ")) }

func small(out string, more ...string) []string {
	return slices.Concat(few, []string{"--out", out}, flags(more...))
}

// endless are the flags of a run of short cases without end.
func endless(out string, more ...string) []string {
	return small(out, append(more, "-N 0")...)
}

// awaitPoints waits until at least n records, or rounds of steps, are on disk and returns their number.
func (r *running) awaitPoints(dir string, n int) (points int) {
	r.t.Helper()
	r.await("records in "+dir, func() bool {
		points = 0
		paths, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		for _, path := range paths {
			text, _ := os.ReadFile(path)
			points += bytes.Count(text, []byte("\n"+`{"kind":"case"`)) + bytes.Count(text,
				[]byte("\n"+`{"kind":"round"`))
			if !bytes.HasSuffix(text, []byte("\n")) {
				points-- // incomplete line
			}
		}
		return points >= n
	})
	return points
}

// read reads all results files of a folder, sorted by time.
func read(t *testing.T, dir string) (files []*result.File) {
	t.Helper()
	paths, err := result.Find(dir)
	must.NoError(t, err)
	for _, path := range paths {
		f, err := result.ReadFile(t.Context(), path)
		must.NoError(t, err)
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *result.File) int { return a.Run.Start.Compare(b.Run.Start) })
	return files
}

// readOne reads the only results file of a folder.
func readOne(t *testing.T, dir string) *result.File {
	t.Helper()
	files := read(t, dir)
	must.Len(t, 1, files, must.Sprint(dir))
	return files[0]
}

// checkWhole finds missing and torn records, unexpected statuses, and a missing end.
func checkWhole(t *testing.T, f *result.File, want ...result.Status) {
	t.Helper()
	for _, p := range f.Problems {
		t.Errorf("%s", p.Text())
	}
	for i, r := range f.Records {
		must.EqOp(t, i+1, r.N, must.Sprint(f.Path))
		if !slices.Contains(want, r.Status) {
			t.Fatalf("%s: record %d (%s) is %s: %s", f.Path, r.N, r.Case, r.Status, r.Reason)
		}
	}
	if f.End == nil {
		t.Fatalf("%s has no end", f.Path)
	}
	count := map[result.Status]int{}
	for _, r := range f.Records {
		count[r.Status]++
	}
	for s, n := range count {
		test.EqOp(t, n, f.End.Points[s], test.Sprint(f.Path, s))
	}
}

// checkEnd checks the recorded end of a run.
func checkEnd(t *testing.T, f *result.File, outcome result.Outcome, code int) {
	t.Helper()
	if f.End == nil {
		t.Fatalf("%s has no end, want %s", f.Path, outcome)
	}
	if f.End.Outcome != outcome || f.End.Code != code {
		t.Errorf("%s: %s (%s) with code %d, want %s with %d", f.Path, f.End.Outcome, f.End.Reason, f.End.Code,
			outcome,
			code)
	}
}

// merged counts the points of a folder that are ok, as post counts them.
func merged(t *testing.T, paths ...string) map[result.PointKey]int {
	t.Helper()
	files, err := result.Find(paths...)
	must.NoError(t, err)
	all, err := result.Merge(files, result.MergeOptions{})
	must.NoError(t, err)
	points := map[result.PointKey]int{}
	must.NoError(t, all.Each(func(r result.Row) error {
		if r.Record.Status == result.OK {
			points[r.Record.Point(r.Run.Backend.Name)]++
		}
		return nil
	}))
	return points
}

// checkNothing finds unexpected files.
func checkNothing(t *testing.T, dir string) {
	t.Helper()
	if all, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(all) > 0 {
		t.Errorf("unexpected files: %v %v", all, err)
	}
}
