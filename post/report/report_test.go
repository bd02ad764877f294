package report

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// made is a made-up run with its rows.
type made struct {
	run     *result.Run
	ranks   []result.Rank
	records []*result.Record
	end     *result.End
}

// runOf is a run of some backend on two nodes, with four ranks and sizes from 1 KiB to 4 MiB.
func runOf(number int, backend string, collectives ...coll.Collective) *made {
	host := func(rank int) string { return fmt.Sprintf("node%d", 1+rank/2) }
	m := &made{run: &result.Run{
		Kind: result.KindRun, Schema: result.Schema, ID: fmt.Sprintf("run-%d", number), Launch: fmt.Sprintf("launch-%d", number),
		Start: time.Date(2026, 3, 1, 12, number, 0, 0, time.UTC), Tool: "busbar 0.1.0", Build: "0123456789abcdef", Command: []string{"rank", "--backend", backend, "--note", "it's"},
		Backend: result.Backend{Name: backend, Library: strings.ToUpper(backend) + " 1.2"}, World: 4, Nodes: 2, RanksPerNode: 2, Device: "cpu (Example E-1234)",
		Sweep: result.Sweep{Name: "quick", Points: 7 * len(collectives)}, Machine: result.Machine{Host: "node1", OS: "Example OS 1", Cores: 2, Load1: 0.01 * float64(number)},
		Method: result.Method{Clock: "CLOCK_MONOTONIC_RAW", Precision: 0.02, Budget: 10, Warmup: 5, CheckRounds: 1, Average: "max over ranks"},
	}}
	for rank := range 4 {
		m.ranks = append(m.ranks, result.Rank{Kind: result.KindRank, Rank: rank, Host: host(rank), LocalRank: rank % 2, PID: 1000*number + rank, CPUs: fmt.Sprint(rank % 2)})
	}
	for _, c := range collectives {
		for size := int64(1 << 10); size <= 4<<20; size *= 4 {
			m.records = append(m.records, m.record(c, size, float64(number)))
		}
	}
	m.end = &result.End{Kind: result.KindEnd, Outcome: result.Complete}
	return m
}

func (m *made) record(c coll.Collective, size int64, noise float64) *result.Record {
	k := coll.Case{Collective: c, Type: coll.Float32, Root: -1, Placement: coll.OutOfPlace, Mode: coll.Throughput, World: 4}.WithSize(size)
	if c.Reduces() {
		k.Op = coll.Sum
	}
	s := (5e-6 + float64(size)/5e9) * (1 + 0.001*noise)
	return &result.Record{
		Kind: result.KindCase, N: len(m.records) + 1, Case: k, Status: result.OK,
		Time:  &result.Time{Seconds: s, Lo: 0.99 * s, Hi: 1.01 * s, Samples: 50, Iterations: 1000, Batch: 20, Stop: "precision", Sync: "barrier", Summary: "median over batches of the max over ranks"},
		Check: result.Check{Result: "ok", Rounds: 1, Way: "in place"},
		Ranks: &result.Ranks{Slowest: 3, SlowestHost: "node2", Latest: -1, Uncertainty: 1e-7, Median: []float64{s, s, s, 1.1 * s}, Late: []float64{0, 1e-8, 2e-8, 3e-6}},
	}
}

// miss makes a record one without a figure.
func miss(r *result.Record, s result.Status, why string) {
	r.Status, r.Reason, r.Time, r.Ranks, r.Check = s, why, nil, nil, result.Check{Result: "none"}
}

// build makes the report of runs.
func build(runs []*made, found func(*analysed)) *Report {
	var all []*result.Run
	for _, m := range runs {
		all = append(all, m.run)
	}
	b := newBuilder(all, Options{Tool: "post, test", Made: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), Dir: "out"})
	for i, m := range runs {
		for _, r := range m.records {
			b.add(result.Row{Run: m.run, Record: r})
		}
		b.addFile(&result.File{Path: fmt.Sprintf("results/run %d.jsonl", i+1), Run: *m.run, Ranks: m.ranks, Points: len(m.records), End: m.end})
	}
	f := analysed{Curves: b.curves.Curves()}
	if found != nil {
		found(&f)
	}
	return b.report(f)
}

// sample is a report with something in each section.
func sample() *Report {
	runs := []*made{runOf(1, "mpi", coll.AllReduce, coll.AllGather), runOf(2, "mpi", coll.AllReduce), runOf(3, "gloo", coll.AllReduce)}
	miss(runs[0].records[13], result.Skipped, "the time limit of 55 s is over")
	miss(runs[0].records[12], result.Skipped, "the time limit of 54 s is over")
	runs[1].records[3].Warnings = notice.Of(notice.FromText("two modes: 1.2 us (60 % of samples) and 2.4 us (40 %); the median stands for one of them at most"))
	runs[2].end = nil
	runs[2].records = runs[2].records[:5]
	runs[2].run.Resumes = []string{"elsewhere"}
	return build(runs, func(f *analysed) {
		c := f.Curves[0]
		hints := []analysis.Hint{{Tip: "nccl-protocol", Variable: "X_PROTO", Value: "Simple", Sweep: "variants:\n  simple: {}\n"}}
		f.Findings = []analysis.Finding{
			{Number: 1, Notice: dropBy(0.2, notice.Warning), Curve: c, From: 64 << 10, To: 256 << 10, Hints: hints,
				Also: []analysis.Place{{Curve: f.Curves[1], From: 16 << 10, To: 16 << 10, Notice: dropBy(0.2, notice.Warning)}}},
			{Number: 2, Notice: notice.Notice{Fact: notice.Drift{Change: 0.1}}, Curve: c, From: 1 << 10, To: 1 << 10, Hints: hints},
		}
		f.Ceilings = func(c *analysis.Curve) analysis.Ceiling {
			if c.Backend == "mpi" {
				given := notice.PeakGiven{Text: "10GB/s"}
				return analysis.Ceiling{BusBW: 10e9, Name: "link", Fact: given, Source: "a data sheet"}
			}
			return analysis.Ceiling{Fact: notice.PeakUnknown{Reason: notice.UnknownNodes}}
		}
		f.Models = analysis.ModelOf
		f.Headlines = []notice.Fact{notice.SameSpeed{
			Operation: "all_reduce", World: notice.World{Ranks: 4, Nodes: 2}, First: "mpi", Second: "gloo",
			Sizes: []units.Bytes{1 << 20}, Scope: notice.OneLaunch,
		}}
		f.Notes = []notice.Notice{notice.InFile("results/x.jsonl", 0, notice.FileEmpty{})}
	})
}

func TestMarkdown(t *testing.T) {
	var b strings.Builder
	if err := sample().WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/report.md", b.String())
}

// pageData is what the page's script reads.
func pageData(t *testing.T, r *Report) string {
	t.Helper()
	text, err := json.Marshal(r.drawn())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNoNull: a script that reads the report meets lists only.
func TestNoNull(t *testing.T) {
	for name, r := range map[string]*Report{"full": sample(), "empty": (&Report{}).whole()} {
		const none = `"timeline":null` // which is no list
		if text := pageData(t, r); strings.Contains(strings.Replace(text, none, "", 1), "null") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

var codeSpan = regexp.MustCompile("Try: `[^`]*`")

// evil is a name that a page or a table could trip over.
const evil = "a|b<img src=x onerror=alert(1)></script>`\"'\\\n# x\x1b[31m\u202e[x](http://x)"

// TestEscapes: whatever a name holds, it ends no cell, opens no tag and steers no terminal.
func TestEscapes(t *testing.T) {
	m := runOf(1, "mpi", coll.AllReduce)
	m.run.Backend = result.Backend{Name: evil, Library: evil, Path: evil, Notes: []string{evil}, Parameters: map[string]string{evil: evil}}
	m.run.Variant, m.run.Device, m.run.Sweep.Name, m.run.Machine.Host, m.run.Topology = evil, evil, evil, evil, evil
	m.run.Command, m.run.Warnings = []string{evil}, notice.Of(notice.Recorded{Text: evil})
	m.run.Environment, m.run.Slurm = map[string]string{evil: evil}, map[string]string{evil: evil}
	for i := range m.ranks {
		m.ranks[i].Host, m.ranks[i].Device = evil, evil
	}
	miss(m.records[0], result.Failed, evil)
	m.records[1].Warnings = notice.Of(notice.FromText(evil))
	m.records[1].Path = &result.Path{Algorithm: evil}
	m.end.Reason = evil
	r := build([]*made{m}, func(f *analysed) {
		f.Findings = []analysis.Finding{{Number: 1, Notice: notice.New(notice.Recorded{Text: evil}), Curve: f.Curves[0], Hints: []analysis.Hint{{Tip: "nccl-protocol", With: []string{evil}, Had: new(evil), Variable: evil, Value: evil, Sweep: evil + "\n```\n"}}}}
		f.Ceilings = func(*analysis.Curve) analysis.Ceiling { return peakOf9(evil, evil) }
		f.Headlines = []notice.Fact{notice.Recorded{Text: evil}}
		f.Notes = []notice.Notice{notice.InFile(evil, 0, notice.FileUnreadable{Problem: evil})}
	})
	r.Files[0].Name = evil
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	fences := 0
	for i, line := range strings.Split(b.String(), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fences++
		}
		if strings.ContainsAny(line, "\x1b\u202e") {
			t.Errorf("line %d steers a terminal: %q", i+1, line)
		}
		inside := fences%2 == 1
		if !inside { // what stands in a code span is shown as it is
			line = codeSpan.ReplaceAllString(line, "")
		}
		if !inside && strings.Contains(line, "<img") && !strings.Contains(line, `\<img`) || strings.HasPrefix(line, "# x") || !inside && strings.Contains(line, "](http") {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
	if fences != 2 {
		t.Errorf("%d fences", fences)
	}
	if text := pageData(t, r); strings.ContainsAny(text, "<>&") {
		t.Error(text)
	}
	if href := r.Files[0].Href; href != "../results/run%201.jsonl" {
		t.Errorf("a link is %q", href)
	}
}

// TestPageData: a hundred runs, all different contenders, of nine collectives and thirty sizes stay under two thirds of
// the 3 MB that a page may have, with all their points; of far more, what is left out is said.
func TestPageData(t *testing.T) {
	runs := func(n int) (all []*made) {
		for i := range n {
			m := runOf(i+1, "mpi")
			m.run.Variant = fmt.Sprintf("variant-%d", i)
			for _, c := range coll.Collectives() {
				for exponent := range 30 {
					r := m.record(c, 64<<exponent, float64(i)*1.2345)
					m.records = append(m.records, r)
				}
			}
			all = append(all, m)
		}
		return all
	}
	r := build(runs(100), nil)
	text := pageData(t, r)
	points := 0
	for _, c := range r.Curves {
		points += len(c.Time)
	}
	if points != 27_000 || len(text) > 2_000_000 || len(r.Axes) > 10 {
		t.Errorf("%d points in %d bytes, %d axes", points, len(text), len(r.Axes))
	}
	r = build(runs(300), nil)
	points = 0
	for _, c := range r.Curves {
		points += len(c.Time)
	}
	if points > maxPoints || points < maxPoints*9/10 || len(r.LeftOut) == 0 || r.LeftOut[0].OfPoints != 81000 {
		t.Errorf("%d points, left out: %+v", points, r.LeftOut)
	}
	var md strings.Builder
	if err := r.WriteMarkdown(&md); err != nil || md.Len() > 500_000 {
		t.Errorf("%d bytes of Markdown, %v", md.Len(), err)
	}
	if err := json.Unmarshal([]byte(text), &drawn{}); err != nil {
		t.Error(err)
	}
}
