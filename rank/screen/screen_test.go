package screen

import (
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"

	"github.com/shoenig/test"
)

func sampleRecord(bytes int64, seconds float64) *result.Record {
	c := coll.Case{Collective: coll.AllReduce, Type: coll.BFloat16, Op: coll.Prod, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 8}.WithSize(bytes)
	return &result.Record{Kind: result.KindCase, Case: c, Status: result.OK, Check: result.Check{Result: "ok"},
		Time: &result.Time{Seconds: seconds, Lo: seconds * 0.99, Hi: seconds * 1.01}}
}

// Rows have at most 80 columns; a long reason goes below its row.
func TestRowsFit(t *testing.T) {
	var out strings.Builder
	s := &Screen{page: page{on: true, out: &out}, counts: map[result.Status]int{}}
	for _, bytes := range []int64{8, 1 << 20, 8 << 30, 99_999_999_999} {
		for _, seconds := range []float64{1e-9, 2.3e-7, 1.5e-4, 0.3, 42, 5000} {
			r := sampleRecord(bytes, seconds)
			s.Row("mpi", r)
			r.Time.Lo, r.Time.Hi = 0, 0
			s.Row("mpi", r)
			r.Time.Lo, r.Time.Hi = seconds/100, seconds*30000
			r.Check.Result = "off"
			s.Row("mpi", r)
		}
	}
	r := sampleRecord(8<<30, 1)
	r.Status, r.Time, r.Reason = result.Skipped, nil, "memory: it takes 16 GiB of buffers a rank; "+
		strings.Repeat("word ", 40)
	s.Row("mpi", r)
	r.Status, r.Reason = result.Wrong, "bad"
	s.Row("mpi", r)
	for line := range strings.SplitSeq(out.String(), "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(out.String(), "word word") || !strings.Contains(out.String(), "wrong: bad") {
		t.Errorf("reasons are missing:\n%s", out.String())
	}
	if strings.Count(out.String(), columnNames) != 1 {
		t.Error("the header is not printed once per collective")
	}
}

func TestQuiet(t *testing.T) {
	var out strings.Builder
	s := &Screen{page: page{out: &out}, counts: map[result.Status]int{}}
	s.Row("mpi", sampleRecord(8, 1))
	s.Note("x")
	s.Summary(0)
	if out.Len() != 0 || s.counts[result.OK] != 1 {
		t.Errorf("%q", out.String())
	}
}

func TestSummary(t *testing.T) {
	for code, word := range map[int]string{0: "next: post report\n", 3: "WRONG DATA", 6: "some points failed",
		143: "interrupted"} {
		var out strings.Builder
		s := &Screen{page: page{on: true, out: &out, paths: []string{"results/x.jsonl"}}, folder: "./results",
			counts: map[result.Status]int{}}
		r := sampleRecord(8, 1)
		r.Warnings = notice.Of(notice.FromText("timer: one clock reading"), notice.FromText("drift: up"))
		s.Row("mpi", r)
		s.Row("mpi", r)
		s.Summary(code)
		for _, w := range []string{word, "2 ok", "results/x.jsonl", "(and 1 more)"} {
			test.StrContains(t, out.String(), w, test.Sprint(code))
		}
	}
}

// With several backends the group is above its rows, and the columns are named once.
func TestRowsOfGroups(t *testing.T) {
	var out strings.Builder
	s := New(true, &out, "results")
	s.several = true
	for _, g := range []coll.Groups{{Number: 1, Alone: true}, {Number: 1}, {}} {
		r := sampleRecord(8, 1)
		if r.Groups = g; g.Divided() {
			r.Groups.Division = "2:strided"
		}
		s.Row("mpi", r)
		s.Row("gloo", r)
	}
	text := out.String()
	for word, want := range map[string]int{"backend": 2, "in groups 2:strided\n": 1, "# group 1 alone\n": 1,
		"# group 1\n": 1, "# group": 2} {
		test.EqOp(t, want, strings.Count(text, word), test.Sprint(word, text))
	}
}

func TestNextCommand(t *testing.T) {
	for folder, want := range map[string]string{"results": "", "results/": "", "/tmp/a": " /tmp/a", "a b": " 'a b'",
		"it's": ` 'it'\''s'`} {
		var out strings.Builder
		New(true, &out, folder).Summary(0)
		test.StrHasSuffix(t, "# next: post report"+want+"\n", out.String(), test.Sprint(folder))
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]string{0.2386: "0.239", 9.87654: "9.877", 99.99: "99.990", 139.2: "139.2",
		65322.1: "65322.1", 1234567890: "1.235e+09"} {
		test.EqOp(t, want, digits(x, 9), test.Sprint(x))
	}
	test.EqOp(t, "123456", digits(123456, 6))
}

func TestWrap(t *testing.T) {
	for _, l := range Wrap("one two three four five six "+strings.Repeat("x", 30), 12) {
		if len(l) > 12 {
			t.Errorf("%q", l)
		}
	}
}
