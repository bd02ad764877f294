package result

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	newer := sampleRun()
	newer.Schema = Schema + 1
	nameless := sampleRun()
	nameless.ID = ""
	for _, c := range []struct {
		name, text string
		run        any
		want       notice.Fact
	}{
		{"foreign", "{\"hello\": 1}\n", nil,
			notice.NotResults{Problem: `its first line has no "kind":"run" and "schema"`}},
		{"text", "# nccl-tests version 2.13.6\n", nil, notice.NotResults{Problem: "its first line is no JSON object"}},
		{"binary", "\x7fELF\x00\x00", nil, notice.NotResults{Problem: "its first line is no JSON object"}},
		{"nameless", "", nameless, notice.NotResults{Problem: "its run has no id"}},
		{"newer", "", newer, notice.NewerFormat{Format: 2, Reads: 1}},
		{"empty", "", nil, notice.FileEmpty{}},
		{"half", `{"kind":"run","schema":1,"id":"0190`, nil, notice.HeaderTorn{}},
		{"tenth", `{"kin`, nil, notice.HeaderTorn{}},
	} {
		lines := []any{c.text}
		if c.run != nil {
			lines = []any{c.run}
		}
		path := writeLines(t, dir, c.name+".jsonl", lines...)
		_, err := ReadFile(t.Context(), path)
		var unusable *FileError
		if !errors.As(err, &unusable) || !strings.HasPrefix(err.Error(), path+": ") || unusable.What != c.want {
			t.Errorf("%s: %T %v", c.name, err, err)
		}
	}
	if _, err := ReadFile(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestDamagedFiles(t *testing.T) {
	good := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
	untimed := good
	untimed.Time = nil
	backwards, instant, sizeless := sampleRecord(good.Case, -1e-5), sampleRecord(good.Case, 5e-324), good
	sizeless.SizeBytes = -8
	end := End{Kind: KindEnd, Outcome: Complete}
	for _, c := range []struct {
		name    string
		lines   []any
		records int
		line    int // of the one problem; 0: of the whole file; -1: none
		say     string
	}{
		{"whole", []any{good, good, end}, 2, -1, ""},
		{"without an end", []any{good, good}, 2, -1, ""},
		{"torn", []any{good, good, `{"kind":"case","n":3,"coll`}, 2, 4, `"torn-line"`},
		{"torn at its kind", []any{good, `{"ki`}, 1, 3, `"torn-line"`},
		{"cut right before a newline", []any{good, `{"kind":"end","outcome":"complete"}`}, 1, -1, ""},
		{"bad in the middle", []any{good, `{"kind":"case","n":2,"col` + "\n", good, end}, 2, 3, `"byte":25`},
		{"zeros of a crash", []any{good, "\x00\x00\x00\x00\n", good}, 2, 3, `"zero-bytes"`},
		{"unknown word", []any{good, `{"kind":"case","collective":"all_scatter"}` + "\n", good}, 2, 3, "all_scatter"},
		{"ok without a time", []any{good, untimed}, 1, 3, "without a time"},
		{"a time below 0", []any{good, backwards}, 1, 3, "a time of -1e-05 s"},
		{"a time that makes bandwidth infinite", []any{good, instant}, 1, 3, "a time of 5e-324 s"},
		{"a size below 0", []any{good, sizeless}, 1, 3, "a size of -8 bytes"},
		{"wrong type", []any{good, `{"kind":"case","n":"two"}` + "\n"}, 1, 3, "/n"},
		{"newer kind of line", []any{good, `{"kind":"gpu"}` + "\n"}, 1, 3,
			`"unknown-line","parameters":{"kind":"gpu"}`},
		{"no kind", []any{good, `{"kid":"case"}` + "\n"}, 1, 3, "no kind"},
		{"empty lines", []any{good, "\n", "  \n", good}, 2, -1, ""},
		{"two runs", []any{good, sampleRun(), good, good}, 1, 3, `"second-run"`},
		{"no points", []any{}, 0, 0, `"no-points","parameters":{"ending":{}}`},
		{"no points and an end", []any{End{Kind: KindEnd, Outcome: Interrupted, Why: Why{Reason: "SIGINT"}}}, 0, 0,
			`"ending":{"outcome":"interrupted","cause":{"code":"run-signalled","parameters":{"signal":"SIGINT"}}}`},
	} {
		path := writeLines(t, t.TempDir(), "x.jsonl", append([]any{sampleRun()}, c.lines...)...)
		f, err := ReadFile(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(f.Records) != c.records || f.Points != c.records {
			t.Errorf("%s: %d records, wanted %d", c.name, len(f.Records), c.records)
		}
		switch {
		case c.line < 0:
			if len(f.Problems) > 0 {
				t.Errorf("%s: %v", c.name, f.Problems)
			}
		case len(f.Problems) != 1 || f.Problems[0].At.Line != c.line ||
			!strings.Contains(texts(f.Problems)[0], c.say) ||
			f.Problems[0].At.File != path:
			t.Errorf("%s: %v", c.name, f.Problems)
		}
		for _, r := range f.Records {
			if r.Run != "run-1" {
				t.Errorf("%s: a record of run %q", c.name, r.Run)
			}
		}
	}
}

func TestLongLines(t *testing.T) {
	long := sampleRun()
	long.Topology = strings.Repeat("t", 3<<20)
	r := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
	r.Reason = strings.Repeat("r", 5<<20)
	f, err := ReadFile(t.Context(), writeLines(t, t.TempDir(), "x.jsonl", long, r, r))
	if err != nil || len(f.Records) != 2 || len(f.Run.Topology) != 3<<20 || len(f.Records[1].Reason) != 5<<20 {
		t.Errorf("%v, %+v", err, f.Problems)
	}
}

func TestManyBadLinesSummarised(t *testing.T) {
	path := writeLines(
		t,
		t.TempDir(),
		"x.jsonl",
		sampleRun(),
		strings.Repeat("{]\n", 1000),
		sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5),
	)
	f := mustRead(t, path)
	if len(f.Records) != 1 || len(f.Problems) != maxProblems+1 ||
		f.Problems[maxProblems].Fact != (notice.BrokenLines{More: 980, All: 1000}) {
		t.Errorf("%d records, %d problems, the last %v", len(f.Records), len(f.Problems), f.Problems[len(f.Problems)-1])
	}
	d, err := Merge([]string{path}, MergeOptions{})
	must.NoError(t, err)
	err = d.Each(func(Row) error { return nil })
	merged := texts(d.Notes()[:maxProblems+1]) // but for how the run ended
	if want := texts(f.Problems); err != nil || len(d.Notes()) != maxProblems+2 || !slices.Equal(merged, want) {
		t.Errorf("merge reports %v %v, read %v", err, d.Notes(), want)
	}
}

// FuzzRead feeds the reader anything; it must neither crash nor read a record that the rest cannot rely on.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	record := sampleRecord(sampleCase(f, coll.AllReduce, 8), 1e-5)
	whole := writeLines(
		f,
		dir,
		"seed.jsonl",
		sampleRun(),
		sampleRanks()[0],
		record,
		record,
		End{Kind: KindEnd, Outcome: Complete},
	)
	b, err := os.ReadFile(whole)
	must.NoError(f, err)
	for _, seed := range []string{string(b), string(b[:len(b)/2]), string(b[:20]), "", "{}\n",
		"\x00", string(b) + string(b),
		strings.ReplaceAll(string(b), "all_reduce", "sendrecv"),
		strings.ReplaceAll(string(b), `"world":4`, `"world":-1`)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "fuzzed.jsonl")
		must.NoError(t, os.WriteFile(path, b, 0o666))
		file, err := ReadFile(t.Context(), path)
		if err != nil {
			return
		}
		for _, r := range file.Records {
			if r.sound() != nil {
				t.Errorf("an unsound record: %+v", r)
			}
		}
		test.NoError(t, writeText(new(strings.Builder), &file.Run, file.Ranks, file.Records, file.End))
		d, err := Merge([]string{path}, MergeOptions{})
		must.NoError(t, err)
		rows, err := d.Write(Output{CSV, new(strings.Builder)})
		if err != nil || rows > len(file.Records) {
			t.Errorf("%d rows of %d records, %v", rows, len(file.Records), err)
		}
	})
}
