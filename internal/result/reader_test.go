package result

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
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
		kind       any // pointer to the type of the error
		say        string
	}{
		{"foreign", "{\"hello\": 1}\n", nil, new(*ForeignError), "not a results file of busbar"},
		{"text", "# nccl-tests version 2.13.6\n", nil, new(*ForeignError), "no JSON object"},
		{"binary", "\x7fELF\x00\x00", nil, new(*ForeignError), "no JSON object"},
		{"nameless", "", nameless, new(*ForeignError), "no id"},
		{"wrongtypes", `{"kind":"run","schema":1,"id":7}` + "\n", nil, new(*ForeignError), "does not describe a run"},
		{"newer", "", newer, new(*SchemaError), "has format 2, this busbar reads up to 1; update busbar"},
		{"empty", "", nil, new(*HeaderError), "is empty"},
		{"half", `{"kind":"run","schema":1,"id":"0190`, nil, new(*HeaderError), "its first line is torn"},
		{"tenth", `{"kin`, nil, new(*HeaderError), "its first line is torn"},
	} {
		lines := []any{c.text}
		if c.run != nil {
			lines = []any{c.run}
		}
		path := writeLines(t, dir, c.name+".jsonl", lines...)
		_, err := ReadFile(path)
		if err == nil || !errors.As(err, c.kind) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %T %v", c.name, err, err)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
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
		{"wrong type", []any{good, `{"kind":"case","n":"two"}` + "\n"}, 1, 3, "n of type int"},
		{"newer kind of line", []any{good, `{"kind":"gpu"}` + "\n"}, 1, 3, `"unknown-line","parameters":{"kind":"gpu"}`},
		{"no kind", []any{good, `{"kid":"case"}` + "\n"}, 1, 3, "no kind"},
		{"empty lines", []any{good, "\n", "  \n", good}, 2, -1, ""},
		{"two runs", []any{good, sampleRun(), good, good}, 1, 3, `"second-run"`},
		{"no points", []any{}, 0, 0, `"no-points","parameters":{"ending":{}}`},
		{"no points and an end", []any{End{Kind: KindEnd, Outcome: Interrupted, Why: Why{Reason: "SIGINT"}}}, 0, 0, `"ending":{"outcome":"interrupted","cause":{"code":"run-signalled","parameters":{"signal":"SIGINT"}}}`},
	} {
		path := writeLines(t, t.TempDir(), "x.jsonl", append([]any{sampleRun()}, c.lines...)...)
		f, err := ReadFile(path)
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
		case len(f.Problems) != 1 || f.Problems[0].At.Line != c.line || !strings.Contains(texts(f.Problems)[0], c.say) ||
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
	f, err := ReadFile(writeLines(t, t.TempDir(), "x.jsonl", long, r, r))
	if err != nil || len(f.Records) != 2 || len(f.Run.Topology) != 3<<20 || len(f.Records[1].Reason) != 5<<20 {
		t.Errorf("%v, %+v", err, f.Problems)
	}
}

func TestManyBadLinesAreToldInFew(t *testing.T) {
	path := writeLines(t, t.TempDir(), "x.jsonl", sampleRun(), strings.Repeat("{]\n", 1000), sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5))
	f := mustRead(t, path)
	if len(f.Records) != 1 || len(f.Problems) != maxProblems+1 || f.Problems[maxProblems].Fact != (notice.BrokenLines{More: 980, All: 1000}) {
		t.Errorf("%d records, %d problems, the last %v", len(f.Records), len(f.Problems), f.Problems[len(f.Problems)-1])
	}
	d, err := Merge([]string{path}, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Each(func(Row) error { return nil })
	merged := texts(d.Notes()[:maxProblems+1]) // but for how the run ended
	if want := texts(f.Problems); err != nil || len(d.Notes()) != maxProblems+2 || !slices.Equal(merged, want) {
		t.Errorf("merging says %v %v, reading %v", err, d.Notes(), want)
	}
}

// TestBadLinesOfManyBatches counts them over the pieces in which a large file is read.
func TestBadLinesOfManyBatches(t *testing.T) {
	long := "{" + strings.Repeat("x", batchBytes/10) + "\n"
	path := writeLines(t, t.TempDir(), "x.jsonl", sampleRun(), strings.Repeat(long, 70), sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5))
	d, err := Merge([]string{path}, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := d.WriteCSV(io.Discard); rows != 1 || err != nil || len(d.Notes()) != maxProblems+2 || d.Notes()[maxProblems].Fact != (notice.BrokenLines{More: 50, All: 70}) {
		t.Errorf("%d rows, %v, %d notes: %v", rows, err, len(d.Notes()), d.Notes())
	}
}

// FuzzRead feeds the reader anything; it must neither crash nor read a record that the rest cannot rely on.
func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	record := sampleRecord(sampleCase(f, coll.AllReduce, 8), 1e-5)
	whole := writeLines(f, dir, "seed.jsonl", sampleRun(), sampleRanks()[0], record, record, End{Kind: KindEnd, Outcome: Complete})
	b, err := os.ReadFile(whole)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(b), string(b[:len(b)/2]), string(b[:20]), "", "{}\n", "\x00", string(b) + string(b),
		strings.ReplaceAll(string(b), "all_reduce", "sendrecv"), strings.ReplaceAll(string(b), `"world":4`, `"world":-1`)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "fuzzed.jsonl")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := ReadFile(path)
		if err != nil {
			return
		}
		for _, r := range file.Records {
			if r.sound() != nil {
				t.Errorf("an unsound record: %+v", r)
			}
		}
		if err := WriteText(new(strings.Builder), &file.Run, file.Ranks, file.Records, file.End); err != nil {
			t.Error(err)
		}
		d, err := Merge([]string{path}, MergeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := d.WriteCSV(new(strings.Builder))
		if err != nil || rows > len(file.Records) {
			t.Errorf("%d rows of %d records, %v", rows, len(file.Records), err)
		}
	})
}

// FuzzFast holds the fast reading of records against encoding/json: what it takes, it takes the same way.
func FuzzFast(f *testing.F) {
	for _, r := range []Record{
		sampleRecord(sampleCase(f, coll.AllReduce, 8), 1e-5), sampleRecord(sampleCase(f, coll.Gather, 1<<40), 1e5),
		notOK(sampleCase(f, coll.AllToAll, 2), Skipped, "too \"small\" <&> µ"), {},
	} {
		r.Path = &Path{Algorithm: "NVLS", Channels: 3}
		r.Older, r.Notes, r.Network = []string{"a", "b,c"}, []string{}, []NetUse{{Name: "eth0", RxBytes: 1}}
		r.Warnings = notice.Of(notice.Drift{Change: 0.1}, notice.Recorded{Text: "\"a] \\"}, notice.LinkErrors{Port: "eth0", Counters: []string{"1 error"}})
		line, _, err := encodeLine(&r)
		if err != nil && r.Collective != 0 {
			f.Fatal(err)
		}
		f.Add(line[:max(len(line)-1, 0)])
	}
	for _, seed := range []string{`{}`, `{"n":01}`, `{"n":1.0}`, `{"n":1e3}`, `{"n":-0}`, `{"N":3}`, `{"n":null}`, `{"time":null}`, `{"time":{"s":1},"time":{"lo_s":2}}`,
		`{"warnings":["a"],"warnings":[]}`, `{"notices":[{"code":"drift"},{"code":"x"}]}`, `{"notices":[{"code":"drift","parameters":[]}]}`, `{"notices":[}`, `{"notices":null}`, `{"load1":1e999}`, `{"n":99999999999999999999}`, `{"load1":-.5}`, `{"load1":1.}`, `{"op":"none"}`, `{"op":" SUM"}`,
		`{"ranks":{"median_s":[1,2,-3e-4]}}`, `{"ranks":{"median_s":[1,]}}`, `{"network":[{"name":"x","rx_bytes":"y"}]}`, "{\"at\":\"\x80\"}", `{"n":1}x`, `{"path":{"channels":1,"channels_at_most":true}}`, `{"path":null}`, `{"path":{"algorithm":"A"},"path":{"protocol":"B"}}`, `{"n":1,}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var fast, slow Record
		if !fastRecord(line, &fast) {
			return
		}
		if err := decodeTableSlowly(line, &slow); err != nil && slow.sound() == nil {
			t.Fatalf("encoding/json does not take %s: %v", line, err)
		}
		adopt(&fast.Older, &fast.Warnings)
		fast.Why.adopt()
		same(t, fast, slow)
		fast, slow = Record{}, Record{}
		if !fastWhole(line, &fast) {
			return
		}
		if err := json.Unmarshal(line, &slow); err != nil {
			t.Fatalf("encoding/json does not take %s: %v", line, err)
		}
		same(t, fast, slow)
	})
}

// TestFastTakesWhatRankWrites: the usual lines do not fall back to encoding/json.
func TestFastTakesWhatRankWrites(t *testing.T) {
	records := everything(t)
	full := &records[0]
	full.N, full.Cycle, full.Needed, full.Load1 = 3, 2, 7, 0.5
	full.Time.AutoCorr = 0.25
	full.Check.Wrong = 1
	full.Ranks.LatestHost, full.Ranks.Lateness, full.Ranks.Uncertainty, full.Ranks.Late = "node1", 1e-6, 1e-9, []float64{0, 1e-7}
	full.Network = []NetUse{{Name: "eth0", RxBytes: 1, TxBytes: 2, Errors: 3, Retransmits: 4}}
	full.Path = &Path{Algorithm: "RING", Protocol: "LL128", Channels: 16}
	full.Notes = []string{"avg = sum and a scaling by this tool"}
	for i := range records {
		r := &records[i]
		line, _, err := encodeLine(r)
		if err != nil {
			t.Fatal(err)
		}
		line = line[:len(line)-1]
		var fast, slow Record
		if r.Check.First == nil && !fastRecord(line, &fast) {
			t.Errorf("is left to encoding/json: %s", line)
		}
		if r.Check.First != nil {
			continue
		}
		if err := decodeTableSlowly(line, &slow); err != nil {
			t.Fatal(err)
		}
		same(t, fast, slow)
		if fast, slow = (Record{}), *r; !fastWhole(line, &fast) {
			t.Errorf("is left to encoding/json: %s", line)
		}
		same(t, fast, slow)
	}
}
