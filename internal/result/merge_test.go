package result

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"
)

// csvRows merges files and returns the rows of the CSV by column name.
func csvRows(t *testing.T, o MergeOptions, files ...string) []map[string]string {
	t.Helper()
	d, err := Merge(files, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n, err := d.Write(Output{CSV, &b})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, l := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = l[i]
		}
		rows = append(rows, row)
	}
	if n != len(rows) {
		t.Errorf("%d rows written, %d said", len(rows), n)
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

func TestMergeCountsNothingTwice(t *testing.T) {
	dir := t.TempDir()
	reduce := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
	gather := sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5)
	end := End{Kind: KindEnd, Outcome: Complete}
	lines := func(run Run, records ...Record) []any { return append([]any{run}, numbered(records...)...) }
	for _, c := range []struct {
		name  string
		files [][]any
		want  string
		notes []string // what must be said, in order
	}{
		{"two launches of one point", [][]any{append(lines(runOf("a", 0), reduce), end),
			append(lines(runOf("b", 1), reduce), end)}, "a 1 all_reduce ok, b 1 all_reduce ok", nil},
		{"older first, whatever the name", [][]any{append(lines(runOf("b", 1), reduce), end),
			append(lines(runOf("a", 0), reduce), end)}, "a 1 all_reduce ok, b 1 all_reduce ok", nil},
		{"a copy", [][]any{append(lines(runOf("a", 0), reduce, gather), end), append(lines(runOf("a", 0), reduce, gather),
			end)}, "a 1 all_reduce ok, a 2 all_gather ok",
			[]string{`"records-copied","parameters":{"records":2}`}},
		{"a copy made while the run wrote, and torn",
			[][]any{append(lines(runOf("a", 0), reduce), `{"kind":"case","n":2,"co`),
				append(lines(runOf("a", 0), reduce, gather), end)},
			"a 1 all_reduce ok, a 2 all_gather ok", []string{`"records-copied","parameters":{"records":1}`,
				`a.jsonl:3: {"code":"torn-line"}`, `"part-of-run","parameters":{"ending":{},"records":1}`}},
		{"ok in the place of a failure", [][]any{lines(runOf("a", 0), reduce, notOK(gather.Case, Timeout, "hang")),
			append(lines(runOf("b", 1, "a"), gather), end)},
			"a 1 all_reduce ok, b 1 all_gather ok", []string{`"records-replaced","parameters":{"records":1}`, `"part-of-run"`}},
		{"ok stays when a later run of the chain fails", [][]any{append(lines(runOf("a", 0), gather), end),
			append(lines(runOf("b", 1, "a"), notOK(gather.Case, Failed, "x")), end)},
			"a 1 all_gather ok", []string{`"records-replaced","parameters":{"records":1}`}},
		{"the later of two failures", [][]any{append(lines(runOf("a", 0), notOK(gather.Case, OOM, "x")), end),
			append(lines(runOf("b", 1, "a"), notOK(gather.Case, Failed, "x")), end)},
			"b 1 all_gather failed", []string{`"records-replaced","parameters":{"records":1}`}},
		{"a chain of three", [][]any{append(lines(runOf("a", 0), notOK(gather.Case, OOM, "x")), end),
			append(lines(runOf("b", 1, "a"), reduce), end), append(lines(runOf("c", 2, "b"), gather), end)},
			"b 1 all_reduce ok, c 1 all_gather ok", []string{`"records-replaced","parameters":{"records":1}`}},
		{"launches apart stay apart", [][]any{append(lines(runOf("a", 0), gather), end),
			append(lines(runOf("b", 1), notOK(gather.Case, OOM, "x")), end)},
			"a 1 all_gather ok, b 1 all_gather oom", nil},
		{"launches that one run continues stay launches", [][]any{append(lines(runOf("a", 0), gather), end),
			append(lines(runOf("b", 1), gather), end), append(lines(runOf("c", 2, "a", "b"), reduce), end)},
			"a 1 all_gather ok, b 1 all_gather ok, c 1 all_reduce ok", nil},
		{"another backend is another point", [][]any{append(lines(runOf("a", 0), notOK(gather.Case, OOM, "x")), end),
			append(lines(func() Run {
				r := runOf("b", 1, "a")
				r.Backend.Name = "gloo"
				return r
			}(), gather), end)}, "a 1 all_gather oom, b 1 all_gather ok", nil},
		{"another cycle is another point", [][]any{append(lines(runOf("a", 0), notOK(gather.Case, OOM, "x")), end),
			append(lines(runOf("b", 1, "a"), func() Record {
				r := gather
				r.Cycle = 2
				return r
			}()), end)}, "a 1 all_gather oom, b 1 all_gather ok", nil},
		{"what is continued is not there", [][]any{append(lines(runOf("b", 1, "a"), gather), end)}, "b 1 all_gather ok",
			[]string{`"resumed-run-missing","parameters":{"run":"a"}`}},
		{"no points", [][]any{append(lines(runOf("a", 0), reduce), end), lines(runOf("b", 1))}, "a 1 all_reduce ok",
			[]string{`b.jsonl: {"code":"no-points","parameters":{"ending":{}}}`}},
		{"two runs in one file", [][]any{append(lines(runOf("a", 0), gather), lines(runOf("b", 1), gather)...)},
			"a 1 all_gather ok", []string{`"second-run"`, `"part-of-run"`}},
	} {
		var files []string
		for i, f := range c.files {
			files = append(files, writeLines(t, filepath.Join(dir, c.name), string(rune('a'+i))+".jsonl", f...))
		}
		d, err := Merge(files, MergeOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := summary(csvRows(t, MergeOptions{}, files...)); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
		if err := d.Each(func(Row) error { return nil }); err != nil {
			t.Error(err)
		}
		notes := texts(d.Notes())
		for i, n := range notes {
			if len(notes) != len(c.notes) || !strings.Contains(n, c.notes[i]) {
				t.Errorf("%s: notes are %q, want %q", c.name, notes, c.notes)
				break
			}
		}
		if len(notes) != len(c.notes) {
			t.Errorf("%s: %d notes, want %d", c.name, len(notes), len(c.notes))
		}
	}
}

func TestMergeRefuses(t *testing.T) {
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
	if got := summary(csvRows(t, MergeOptions{IncludeRehearsed: true}, a, r)); got !=
		"a 1 all_reduce ok, r 1 all_reduce ok" {
		t.Errorf("let in: %s", got)
	}
	if rows := csvRows(t, MergeOptions{}, r); len(rows) != 1 || rows[0]["backend"] != "nccl-rehearsal" {
		t.Errorf("rehearsed alone: %v", rows)
	}
	var nothing *NothingError
	if _, err := Merge([]string{bad, half}, MergeOptions{}); !errors.As(err, &nothing) ||
		!strings.Contains(err.Error(), bad+": not a results file") || strings.Count(err.Error(), half) != 1 {
		t.Errorf("nothing usable: %v", err)
	}
	d, err := Merge([]string{bad, a}, MergeOptions{})
	if err != nil || len(d.Notes()) != 1 || len(d.Runs()) != 1 {
		t.Errorf("one of two usable: %v", err)
	}
}

const wantedColumns = "run,campaign,launch,backend,library,variant,world,nodes,ranks_per_node,device,collective,type,op,root,placement,mode,size_bytes,count,time_s,time_lo_s,time_hi_s," +
	"min_s,p90_s,p99_s,max_s,algbw_GBps,busbw_GBps,iterations,stop,check,status,reason,slowest_rank,slowest_host,latest_rank,lateness_s,warnings"

func TestMergedColumns(t *testing.T) {
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
	rows := csvRows(t, MergeOptions{}, path)
	want := map[string]string{
		"run": "a", "campaign": "campaign-1", "launch": "launch of a", "backend": "nccl", "library": "NCCL 2.27.7",
		"variant": "", "world": "4", "nodes": "2", "ranks_per_node": "2",
		"device": "H100", "collective": "all_reduce", "type": "float32", "op": "sum", "root": "-1", "placement": "out",
		"mode": "throughput", "size_bytes": "4194304", "count": "1048576",
		"time_s": "0.3333333333333333", "algbw_GBps": "0.012582912", "busbw_GBps": "0.018874368", "iterations": "1000",
		"stop": "precision", "check": "ok", "status": "ok", "reason": "",
		"slowest_rank": "3", "slowest_host": "node2", "latest_rank": "2", "lateness_s": "0.25", "settings": "graphs of 20",
		"warnings":     "oversubscribed: by far; says \"no\", twice; and, more\nlines; µ|",
		"rotate_bytes": "67108864", "aggregate": "1", "average": "mean over ranks", "backend_version": "2.27.7",
		"algorithm": "NVLS", "protocol": "SIMPLE", "channels": "24",
	}
	for name, w := range want {
		if got := rows[0][name]; got != w {
			t.Errorf("%s is %q, want %q", name, got, w)
		}
	}
	for _, name := range strings.Split(wantedColumns, ",") {
		got, there := rows[1][name]
		if !there {
			t.Errorf("no column %s", name)
		}
		measured := strings.HasSuffix(name, "_s") || strings.HasSuffix(name, "_GBps") || strings.Contains(name, "_rank") &&
			name != "ranks_per_node" || name == "iterations" || name == "stop"
		if measured && got != "" {
			t.Errorf("%s of a skipped point is %q", name, got)
		}
	}
	if rows[2]["latest_rank"] != "" || rows[2]["lateness_s"] != "" {
		t.Errorf("a late rank where none is claimed: %v", rows[2])
	}
	for _, name := range []string{"algorithm", "protocol", "channels"} {
		if got, there := rows[2][name]; got != "" || !there {
			t.Errorf("%s of a library that does not tell: %q", name, got)
		}
	}
	if rows[1]["average"] != "" {
		t.Errorf("a choice of ranks in latency mode: %v", rows[1])
	}
	if rows[1]["reason"] != `too "large" by far` || rows[1]["status"] != "skipped" || rows[1]["size_bytes"] != "128" ||
		rows[1]["check"] != "none" {
		t.Errorf("skipped: %v", rows[1])
	}
	if !strings.HasPrefix(CSV.head, wantedColumns+",") {
		t.Errorf("the columns begin %s", CSV.head)
	}

	// The JSONL says the same, the Markdown has a line a row.
	d, err := Merge([]string{path}, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var lines, table strings.Builder
	if n, err := d.Write(Output{JSONL, &lines}, Output{Markdown, &table}); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	for i, line := range strings.Split(strings.TrimSpace(lines.String()), "\n") {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		for name, text := range rows[i] {
			value, there := object[name]
			if there != (text != "") || there && fmt.Sprint(value) != text && number(value) != text {
				t.Errorf("row %d: %s is %v in the JSONL, %q in the CSV", i, name, value, text)
			}
		}
	}
	golden.Text(t, "testdata/merged.md", table.String())
}

func number(v any) string {
	f, _ := v.(float64)
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// TestManyBatches has files of many batches each, in the order of files and numbers.
func TestManyBatches(t *testing.T) {
	dir := t.TempDir()
	var files []string
	const points = 3000
	for i := range 3 {
		var records []Record
		for range points {
			r := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
			r.Reason = strings.Repeat("x", 500)
			records = append(records, r)
		}
		files = append(files, writeLines(t, dir, fmt.Sprintf("%d.jsonl", i),
			append([]any{runOf(fmt.Sprint(i), i)}, numbered(records...)...)...))
	}
	d, err := Merge(files, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = d.Each(func(r Row) error {
		if run, line := fmt.Sprint(n/points), n%points+1; r.Run.ID != run || r.Record.N != line ||
			len(r.Record.Ranks.Median) != 4 {
			t.Fatalf("row %d is number %d of run %s", n, r.Record.N, r.Run.ID)
		}
		n++
		return nil
	})
	if err != nil || n != 3*points {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := d.Each(func(Row) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("an error of the callee: %v", err)
	}
	for _, row := range csvRows(t, MergeOptions{}, files...) {
		if len(row["reason"]) != 500 || row["time_s"] != "1e-05" {
			t.Fatalf("a row is %v", row)
		}
	}
}
