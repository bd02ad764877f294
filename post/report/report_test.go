package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
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
		Kind: result.KindRun, Schema: result.Schema, ID: fmt.Sprintf("run-%d", number),
		Launch: fmt.Sprintf("launch-%d", number), Start: time.Date(2026, 3, 1, 12, number, 0, 0, time.UTC),
		Tool: "busbar 0.1.0", Build: "0123456789abcdef",
		Command: []string{"rank", "--backend", backend, "--note", "it's"},
		Backend: result.Backend{Name: backend, Library: strings.ToUpper(backend) + " 1.2"},
		World:   4, Nodes: 2, RanksPerNode: 2, Device: "cpu (Example E-1234)",
		Sweep:   result.Sweep{Name: "quick", Points: 7 * len(collectives)},
		Machine: result.Machine{Host: "node1", OS: "Example OS 1", Cores: 2, Load1: 0.01 * float64(number)},
		Method: result.Method{
			Clock: "CLOCK_MONOTONIC_RAW", Precision: 0.02, Budget: 10, Warmup: 5, CheckRounds: 1,
			Average: "max over ranks",
		},
	}}
	for rank := range 4 {
		m.ranks = append(m.ranks, result.Rank{
			Kind: result.KindRank, Rank: rank, Host: host(rank), LocalRank: rank % 2, PID: 1000*number + rank,
			CPUs: fmt.Sprint(rank % 2),
		})
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
	k := coll.Case{
		Collective: c, Type: coll.Float32, Root: -1, Placement: coll.OutOfPlace, Mode: coll.Throughput, World: 4,
	}.WithSize(size)
	if c.Reduces() {
		k.Op = coll.Sum
	}
	s := (5e-6 + float64(size)/5e9) * (1 + 0.001*noise)
	return &result.Record{
		Kind: result.KindCase, N: len(m.records) + 1, Case: k, Status: result.OK,
		Time: &result.Time{
			Seconds: s, Lo: 0.99 * s, Hi: 1.01 * s, Samples: 50, Iterations: 1000, Batch: 20, Stop: "precision",
			Sync: "barrier", Summary: "median over batches of the max over ranks",
		},
		Check: result.Check{Result: "ok", Rounds: 1, Way: "in place"},
		Ranks: &result.Ranks{
			Slowest: 3, SlowestHost: "node2", Latest: -1, Uncertainty: 1e-7, Median: []float64{s, s, s, 1.1 * s},
			Late: []float64{0, 1e-8, 2e-8, 3e-6},
		},
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
	b.addMade(runs)
	f := analysed{Curves: b.curves.Curves()}
	if found != nil {
		found(&f)
	}
	return b.report(f)
}

// addMade adds the rows and the files of runs.
func (b *builder) addMade(runs []*made) {
	for i, m := range runs {
		for _, r := range m.records {
			b.add(result.Row{Run: m.run, Record: r})
		}
		path := fmt.Sprintf("results/run %d.jsonl", i+1)
		b.addFile(&result.File{Path: path, Run: *m.run, Ranks: m.ranks, Points: len(m.records), End: m.end})
	}
}

// series names the curve of the findings of sample.
const series = "mpi, all_reduce float32 sum, out-of-place, throughput mode, 4 ranks on 2 nodes"

// sample is a report with something in each section.
func sample() *Report {
	runs := []*made{
		runOf(1, "mpi", coll.AllReduce, coll.AllGather),
		runOf(2, "mpi", coll.AllReduce),
		runOf(3, "gloo", coll.AllReduce),
	}
	miss(runs[0].records[13], result.Skipped, "the time limit of 55 s is over")
	miss(runs[0].records[12], result.Skipped, "the time limit of 54 s is over")
	const modes = "two modes: 1.2 us (60 % of samples) and 2.4 us (40 %); the median stands for one of them at most"
	runs[1].records[3].Warnings = notice.Of(notice.FromText(modes))
	runs[2].end = nil
	runs[2].records = runs[2].records[:5]
	runs[2].run.Resumes = []string{"elsewhere"}
	return build(runs, func(f *analysed) {
		c := f.Curves[0]
		hints := []analysis.Hint{
			{Tip: "nccl-protocol", Variable: "X_PROTO", Value: "Simple", Sweep: "variants:\n  simple: {}\n"},
		}
		drop, drift := dropBy(0.2, notice.Warning), notice.Notice{Fact: notice.Drift{Change: 0.1}}
		drop.At = notice.Location{Subject: series, From: 64 << 10, To: 256 << 10}
		drift.At = notice.Location{Subject: series, From: 1 << 10, To: 1 << 10}
		f.Findings = []analysis.Finding{
			{Number: 1, Notice: drop, Curve: c, From: 64 << 10, To: 256 << 10, Hints: hints,
				Also: []analysis.Place{
					{Curve: f.Curves[1], From: 16 << 10, To: 16 << 10, Notice: dropBy(0.2, notice.Warning)},
				}},
			{
				Number: 2,
				Notice: drift,
				Curve:  c,
				From:   1 << 10,
				To:     1 << 10,
				Hints:  hints,
			},
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
	must.NoError(t, sample().WriteMarkdown(&b))
	golden.Text(t, "testdata/report.md", b.String())
}

// TestFindingsNameTheirSeriesOnce: report and summary list the findings of a curve below its name.
func TestFindingsNameTheirSeriesOnce(t *testing.T) {
	r := build([]*made{runOf(1, "mpi", coll.AllReduce)}, func(f *analysed) {
		for i, severity := range []notice.Severity{
			notice.Error, notice.Warning, notice.Warning, notice.Warning, notice.Warning, notice.Error,
		} {
			n := dropBy(0.2, severity)
			n.At = notice.Location{Subject: "curve one", From: units.Bytes(i + 1), To: units.Bytes(i + 1)}
			if i == 5 {
				n.At.Subject = "curve two"
			}
			f.Findings = append(f.Findings, analysis.Finding{Number: i + 1, Notice: n, Curve: f.Curves[0]})
		}
	})
	var summary, report strings.Builder
	must.NoError(t, errors.Join(r.Summary().Write(&summary, document.Text), r.WriteMarkdown(&report)))
	for _, s := range []string{
		"- curve one:\n  - 1 B: ", "  - 2 B: ", "  - 3 B: ", "- curve two:\n  - 6 B: ",
	} {
		if strings.Count(summary.String(), s) != 1 {
			t.Errorf("summary lacks %q:\n%s", s, summary.String())
		}
	}
	test.StrNotContains(t, summary.String(), "4 B", test.Sprint(maxRepeated))
	for _, s := range []string{
		"- **error**: all_reduce, throughput mode, 1 B: ", "### curve one\n\n1. **error, bandwidth-drop**: 1 B: ",
		"### curve two\n\n6. **error, bandwidth-drop**: 6 B: ", "curve one", "curve two",
	} {
		test.EqOp(t, 1, strings.Count(report.String(), s), test.Sprint(s))
	}
}

// dataOf is what the page's script reads.
func dataOf(t *testing.T, r *Report) string {
	t.Helper()
	text, err := json.Marshal(r.pageData())
	must.NoError(t, err)
	return string(text)
}

func TestPageDataHasNoNull(t *testing.T) {
	for name, r := range map[string]*Report{"full": sample(), "empty": {}} {
		text := strings.Replace(dataOf(t, r), `"timeline":null`, "", 1)
		test.StrNotContains(t, text, "null", test.Sprint(name))
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		figures figures
		want    string
	}{
		{nil, "[]"},
		{figures{0, 1, 2.5, 123456, 0.1}, "[0,1,2.5,123460,0.1]"},
		{figures{1.0 / 3, 123.456789, 6.02214076e23, -4e-5}, "[0.33333,123.46,6.0221e+23,-4e-05]"},
		{figures{math.NaN(), math.Inf(1), math.MaxFloat64}, "[null,null,null]"},
	} {
		b, err := json.Marshal(c.figures)
		if err != nil || string(b) != c.want {
			t.Errorf("%v: %s, %v, want %s", []float64(c.figures), b, err, c.want)
		}
	}
}

func TestHrefFrom(t *testing.T) {
	for _, c := range [][3]string{
		{"out", "results/run 1.jsonl", "../results/run%201.jsonl"}, {"", "javascript:x", "./javascript:x"},
		{"a/b", "a/b/x<y", "x%3Cy"}, {"/a", "/b/c", "../b/c"},
	} {
		test.EqOp(t, c[2], hrefFrom(c[0], c[1]), test.Sprint(c[0], c[1]))
	}
}

func TestNoFindings(t *testing.T) {
	for want, curves := range map[string][]curve{
		"No findings.": {{Simulated: true}, {}},
		"Not analysed: all results are simulated or oversubscribed.": {{Simulated: true}, {Crowded: true}},
	} {
		test.EqOp(t, want, (form{Report: &Report{charts: pageData{Curves: curves}}}).noFinding(), test.Sprint(curves))
	}
}

// variants are runs of contenders, each with ten collectives at thirty sizes.
func variants(n int) (all []*made) {
	for i := range n {
		m := runOf(i+1, "mpi")
		m.run.Variant = fmt.Sprintf("variant-%d", i+1)
		for _, c := range coll.Collectives() {
			for exponent := range 30 {
				m.records = append(m.records, m.record(c, 64<<exponent, float64(i)*1.2345))
			}
		}
		all = append(all, m)
	}
	return all
}

func TestPageOf100ContendersIsSmallerThan3MB(t *testing.T) {
	var page strings.Builder
	r := build(variants(100), nil)
	if err := r.WritePage(&page); err != nil || page.Len() > 3_000_000 {
		t.Errorf("%d bytes, %v", page.Len(), err)
	}
}
