package result

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// TestChainOfTwo holds, for every pair of statuses of one point, what is left along a chain: the earlier record, the
// later or both. Wrong data is a finding: it stays.
func TestChainOfTwo(t *testing.T) {
	statuses := []Status{OK, Skipped, Unsupported, OOM, Failed, Timeout, Wrong}
	gather := sampleCase(t, coll.AllGather, 8)
	record := func(s Status) Record {
		if s == OK {
			return sampleRecord(gather, 1e-5)
		}
		return notOK(gather, s, "x")
	}
	for earlier, want := range map[Status]string{
		// later:     ok    skipped unsupported oom     failed  timeout wrong
		OK:          "both  earlier earlier     earlier earlier earlier both",
		Skipped:     "later later   later       later   later   later   later",
		Unsupported: "later later   later       later   later   later   later",
		OOM:         "later earlier earlier     later   later   later   both",
		Failed:      "later earlier earlier     later   later   later   both",
		Timeout:     "later earlier earlier     later   later   later   both",
		Wrong:       "both  earlier earlier     both    both    both    both",
	} {
		for i, left := range strings.Fields(want) {
			later, dir := statuses[i], t.TempDir()
			a := writeLines(t, dir, "a.jsonl", append([]any{runOf("a", 0)}, numbered(record(earlier))...)...)
			b := writeLines(t, dir, "b.jsonl", append([]any{runOf("b", 1, "a")}, numbered(record(later))...)...)
			a1, b1 := "a 1 all_gather "+string(earlier), "b 1 all_gather "+string(later)
			rows := map[string]string{"both": a1 + ", " + b1, "earlier": a1, "later": b1}[left]
			if got := summary(csvRows(t, MergeOptions{}, b, a)); got != rows {
				t.Errorf("%s, later %s: got  %s\nwant %s", earlier, later, got, rows)
			}
		}
	}
}

// TestChainOfMany has more than two records of a point, and runs that one run continues without being each other's.
func TestChainOfMany(t *testing.T) {
	gather := sampleCase(t, coll.AllGather, 8)
	unfit := func(id string, minute int, resumes ...string) Run {
		r := runOf(id, minute, resumes...)
		r.Nodes, r.RanksPerNode, r.Backend.Library = 0, 0, "not loaded"
		return r
	}
	file := func(run Run, s Status) []any {
		r := notOK(gather, s, "x")
		if s == OK {
			r = sampleRecord(gather, 1e-5)
		}
		return append([]any{run}, numbered(r)...)
	}
	for _, c := range []struct {
		name, want string
		files      [][]any
	}{
		{"wrong, timeout, ok", "a 1 all_gather wrong, c 1 all_gather ok",
			[][]any{file(runOf("a", 0), Wrong), file(runOf("b", 1, "a"), Timeout), file(runOf("c", 2, "b"), OK)}},
		{"timeout, skipped, failed", "c 1 all_gather failed",
			[][]any{file(runOf("a", 0), Timeout), file(runOf("b", 1, "a"), Skipped), file(runOf("c", 2, "a", "b"), Failed)}},
		{"timeout, skipped, skipped", "a 1 all_gather timeout",
			[][]any{file(runOf("a", 0), Timeout), file(runOf("b", 1, "a"), Skipped), file(runOf("c", 2, "a", "b"), Skipped)}},
		{"a world that does not fit, twice, then fits", "c 1 all_gather ok",
			[][]any{file(unfit("a", 0), Skipped), file(unfit("b", 1, "a"), Skipped), file(runOf("c", 2, "a", "b"), OK)}},
		{"a world that does not fit, twice", "b 1 all_gather skipped",
			[][]any{file(unfit("a", 0), Skipped), file(unfit("b", 1, "a"), Skipped)}},
		{"measured, then a launch too small, then continued", "a 1 all_gather ok",
			[][]any{file(runOf("a", 0), OK), file(unfit("b", 1), Skipped), {runOf("c", 2, "a", "b")}}},
		{"one of two launches that are continued failed", "b 1 all_gather ok",
			[][]any{file(runOf("a", 0), Failed), file(runOf("b", 1), OK), {runOf("c", 2, "a", "b")}}},
	} {
		var files []string
		for i, lines := range c.files {
			files = append(files, writeLines(t, filepath.Join(t.TempDir(), c.name), string(rune('a'+i))+".jsonl", lines...))
		}
		if got := summary(csvRows(t, MergeOptions{}, files...)); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestMergeGivesUp(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	path := writeLines(t, t.TempDir(), "a.jsonl",
		append([]any{runOf("a", 0)}, numbered(sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5))...)...)
	if _, err := MergeContext(ctx, []string{path}, MergeOptions{}); !errors.Is(err, stop) {
		t.Errorf("opening: %v", err)
	}
	s, err := openSource(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := new(Dataset).settle(ctx, []*source{s}); !errors.Is(err, stop) {
		t.Errorf("settling: %v", err)
	}
}

// TestFileThatFailsLater: a file that cannot be read any more is reported, and the others are read.
func TestFileThatFailsLater(t *testing.T) {
	dir := t.TempDir()
	lines := append([]any{runOf("a", 0)}, numbered(sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5))...)
	for _, c := range []struct {
		code  notice.Code
		spoil func(path string) error
	}{
		{"file-unreadable", os.Remove},
		{"file-empty", func(path string) error { return os.Truncate(path, 0) }},
	} {
		good := writeLines(t, dir, "good.jsonl", append(lines, End{Kind: KindEnd, Outcome: Complete})...)
		bad := writeLines(t, dir, "bad.jsonl", append([]any{runOf("b", 1)}, lines[1:]...)...)
		d, err := Merge([]string{good, bad}, MergeOptions{})
		if err = errors.Join(err, c.spoil(bad)); err != nil {
			t.Fatal(err)
		}
		rows, err := d.Write(Output{CSV, io.Discard})
		if notes := d.Notes(); err != nil || rows != 1 || len(notes) != 1 || notes[0].Code() != c.code {
			t.Errorf("%s: %d rows, %v, notes %v", c.code, rows, err, notes)
		}
	}
}
