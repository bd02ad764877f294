package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// made is what gather would make of runs; each takes seconds(size) in the worlds named.
type made struct {
	backend  string
	launches int
	worlds   []int
	half     float64 // width of the interval to either side, relative
	crowded  int     // from this world on ranks share cores
	seconds  func(world int, size float64) float64
}

var sizesMade = []int64{1 << 20, 10 << 20, 100 << 20, 1 << 30}

func findingsOf(all ...made) *findings {
	f := &findings{times: analysis.NewMeasurements()}
	var who []analysis.Contender
	for _, m := range all {
		for l := range m.launches {
			for _, world := range m.worlds {
				run := &result.Run{ID: fmt.Sprint(m.backend, l, world), Launch: fmt.Sprint("launch ", l), Backend: result.Backend{Name: m.backend}, World: world, Nodes: 1, RanksPerNode: world, Rehearse: m.backend == rehearsal}
				if m.crowded > 0 && world >= m.crowded {
					run.Warnings = notice.Of(notice.Oversubscribed{Ranks: 8, Cores: 4, Host: "a"})
				}
				f.runs = append(f.runs, run)
				for i, size := range sizesMade {
					s := m.seconds(world, float64(size)) * (1 + 0.01*float64(l))
					c := allReduce(size)
					c.World = world
					r := &result.Record{N: i + 1, Status: result.OK, Case: c, Time: &result.Time{Seconds: s, Lo: s * (1 - m.half), Hi: s * (1 + m.half)}}
					f.rows = append(f.rows, result.Row{Run: run, Record: r})
					f.times.Add(run, r)
					if run.Rehearse {
						f.rehearsed++
					}
				}
			}
		}
		who = append(who, analysis.Contender{Backend: m.backend, Rehearsed: m.backend == rehearsal})
	}
	f.name = analysis.Names(who)
	return f
}

func analysisOf(all ...made) string {
	var b strings.Builder
	_ = findingsOf(all...).writeAnalysis(&b)
	return strings.Join(strings.Fields(b.String()), " ")
}

func inShort(analysis string) string {
	_, rest, _ := strings.Cut(analysis, "In short -------- ")
	headlines, _, _ := strings.Cut(rest, " What the results cannot say")
	return headlines
}

// linear takes a microsecond, and a nanosecond for so many bytes.
func linear(bytesPerNs float64) func(int, float64) float64 {
	return func(world int, size float64) float64 {
		return 1e-6 + 1e-9*size/bytesPerNs*2*float64(world-1)/float64(world)
	}
}

// Headlines are said of what the results carry, and of nothing else.
func TestHeadlines(t *testing.T) {
	fast := made{"nccl", 1, []int{2, 4}, 0.01, 0, linear(100)}
	slow := made{"gloo", 1, []int{2, 4}, 0.01, 0, linear(1)}
	edit := func(m made, f func(*made)) made { f(&m); return m }
	for name, c := range map[string]struct {
		analysis   string
		said, not  []string
		everywhere []string
	}{
		"one launch": {analysis: analysisOf(slow, fast),
			said:       []string{"In the one launch that there is, of all_reduce with 4 ranks: nccl is faster at every size measured, by factors from", "bus bandwidth saturates from 1 MiB on", "4 ranks take 1.50 times as long as 2 ranks (95 % interval"},
			everywhere: []string{"gloo: one launch, so how much launches differ from each other is unknown", "at equal bus bandwidth it would be 1.50", "a slope of 1.00"}},
		"six launches": {analysis: analysisOf(edit(slow, func(m *made) { m.launches = 6 }), edit(fast, func(m *made) { m.launches = 6 })),
			said: []string{"Over launches, of all_reduce with 4 ranks: nccl is faster"}, not: []string{"one launch"}, everywhere: []string{"over 6 launches", "Nothing is missing."}},
		"three launches have no interval": {analysis: analysisOf(edit(slow, func(m *made) { m.launches = 3 }), edit(fast, func(m *made) { m.launches = 3 })),
			not: []string{"is faster"}, everywhere: []string{"gloo: 3 launches; an interval over launches takes 6.", "With 2 ranks, 1 MiB: gloo took 91.4 times as long as nccl (91.4 to 91.4 over 3 launches); what that says of other launches is open."}},
		"no difference": {analysis: analysisOf(edit(slow, func(m *made) { m.half = 0.2 }), edit(slow, func(m *made) { m.backend = "mpi" })),
			said: []string{"no difference between gloo and mpi can be told at 1 MiB, 10 MiB, 100 MiB, 1 GiB"}, not: []string{"is faster"}, everywhere: []string{"Nothing on nccl"}},
		"a larger world is crowded": {analysis: analysisOf(edit(slow, func(m *made) { m.crowded = 4 }), fast),
			said: []string{"of all_reduce with 2 ranks: nccl is faster", "on nccl 4 ranks take"}, not: []string{"on gloo"},
			everywhere: []string{"gloo: with 4 ranks, oversubscribed: 8 ranks share 4 cores on a.", "With 4 ranks nothing is said of gloo and nccl"}},
		"all are crowded": {analysis: analysisOf(edit(slow, func(m *made) { m.crowded = 2 }), edit(fast, func(m *made) { m.crowded = 2 })),
			said: []string{"Nothing that the results carry"}, not: []string{"faster", "saturates", "times as long"}},
		"one backend": {analysis: analysisOf(fast), not: []string{"faster"}, said: []string{"Bandwidth: nccl with 4 ranks"}, everywhere: []string{"Nothing on gloo", "only nccl has times"}},
		"nothing saturates": {analysis: analysisOf(edit(fast, func(m *made) { m.seconds = func(_ int, size float64) float64 { return 1 + size/1e12 } })),
			said: []string{"bus bandwidth does not saturate within what was measured; it is largest,", "at the largest size, 1 GiB"}},
		"bandwidth falls": {analysis: analysisOf(edit(fast, func(m *made) { m.seconds = func(_ int, size float64) float64 { return size * size } })),
			said: []string{"does not stay at its largest", "at 1 MiB; at 1 GiB it is 0.00098 of that (95 % interval 0.00096 to 0.00099 within one launch)"}},
		"bandwidth falls, by one launch without an interval": {analysis: analysisOf(edit(fast, func(m *made) { m.half, m.seconds = 1, func(_ int, size float64) float64 { return size * size } })),
			said: []string{"whether bus bandwidth stays at its largest,", "(no interval)"}},
		"bandwidth may fall": {analysis: analysisOf(edit(fast, func(m *made) {
			m.half, m.seconds = 0.2, func(_ int, size float64) float64 { return math.Pow(size, 1.05) }
		})),
			said: []string{"whether bus bandwidth stays at its largest,", "cannot be told; at 1 GiB it is 0.707 of that (95 % interval"}},
		"nothing rehearsed beside what was measured": {analysis: analysisOf(slow, edit(fast, func(m *made) { m.backend = rehearsal })),
			not: []string{"is faster"}, said: []string{"Bandwidth: gloo with 4 ranks", "nccl-rehearsal (rehearsed) with 4 ranks", "[rehearsed]"}, everywhere: []string{"[measured]"}},
		"nothing in common": {analysis: analysisOf(edit(slow, func(m *made) { m.worlds = []int{3} }), fast),
			not: []string{"is faster"}, everywhere: []string{"gloo and nccl have no condition in common"}},
		"85 % are not saturation": {analysis: analysisOf(edit(fast, func(m *made) {
			m.seconds = func(_ int, size float64) float64 {
				if size == 1<<30 {
					return size / 1e9
				}
				return size / 0.85e9
			}
		})), said: []string{"does not saturate within what was measured"}},
		"each wins somewhere": {analysis: analysisOf(slow, edit(fast, func(m *made) { m.seconds = func(_ int, size float64) float64 { return 0.1 } })),
			said: []string{"gloo is faster at 1 MiB, 10 MiB,", "nccl is faster at 100 MiB, 1 GiB,"}},
	} {
		headlines := inShort(c.analysis)
		for _, want := range c.said {
			if !strings.Contains(headlines, want) {
				t.Errorf("%s: no headline has %q:\n%s", name, want, headlines)
			}
		}
		for _, no := range c.not {
			if strings.Contains(headlines, no) {
				t.Errorf("%s: a headline has %q:\n%s", name, no, headlines)
			}
		}
		for _, want := range c.everywhere {
			if !strings.Contains(c.analysis, want) {
				t.Errorf("%s: %q is not said:\n%s", name, want, c.analysis)
			}
		}
	}
}

// Logs of nccl-tests begin with rows of 0 bytes, of which nothing grows in proportion.
func TestGrowthFromNothing(t *testing.T) {
	f := findingsOf(made{"nccl", 1, []int{2}, 0.01, 0, linear(100)})
	run, c := f.rows[0].Run, f.rows[0].Record.Case
	c.SizeBytes, c.Count = 0, 0
	f.times.Add(run, &result.Record{N: 99, Status: result.OK, Case: c, Time: &result.Time{Seconds: 1e-6}})
	var b strings.Builder
	if err := f.writeAnalysis(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	if !strings.Contains(text, "from 1 MiB to 1 GiB, 1024 times the data") || strings.Contains(text, "Inf") || strings.Contains(text, "NaN") {
		t.Error(text)
	}
}

// A headline reaches as far as the least of what it stands on.
func TestScope(t *testing.T) {
	across, one := stats.Ratio{Basis: stats.AcrossLaunches}, stats.Ratio{Basis: stats.WithinLaunch, Paired: true}
	for want, ratios := range map[string][]stats.Ratio{
		"Over launches,": {across, across},
		"Over launches, of some sizes in one launch alone,": {one, across},
		"In the one launch that there is,":                  {one, one},
		"In the one launch of each that there is,":          {one, {Basis: stats.WithinLaunch}},
	} {
		if got := scope(ratios); got != want {
			t.Errorf("%v: %s", ratios, got)
		}
	}
}

// A ratio to times of an oversubscribed world is no ratio of speeds, also where the row itself is of none.
func TestTablesOfCrowdedReference(t *testing.T) {
	f := findingsOf(made{"gloo", 1, []int{2}, 0.01, 2, linear(1)}, made{"nccl", 1, []int{2}, 0.01, 0, linear(100)})
	for name, write := range map[string]func(io.Writer) error{"summary": f.writeSummary, "full": f.writeFull} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		note := regexp.MustCompile(`- \[(\d)\] (against gloo|the first of the launch): oversubscribed`).FindStringSubmatch(b.String())
		if note == nil || !regexp.MustCompile(`\| nccl \| gpu \| 2 \| 1 MiB \|.*\[[\d,]*`+note[1]+`[\d,]*\] \|`).MatchString(b.String()) {
			t.Errorf("%s: nothing says that gloo was oversubscribed:\n%s", name, &b)
		}
	}
}

func TestNCCLTestsHead(t *testing.T) {
	head := func(m result.Method) string {
		var b strings.Builder
		writeNCCLTests(&b, &result.File{Run: result.Run{Method: m}, Records: []result.Record{{Case: allReduce(8), Status: result.OK, Time: &result.Time{Seconds: 1, Iterations: 20}}}})
		return b.String()
	}
	if got := head(result.Method{}); !strings.Contains(got, "graph: 0\n# time: median over batches, iterations as many as each size needed;") {
		t.Error(got)
	}
	warned := result.Record{Case: allReduce(8), Status: result.OK, Time: &result.Time{Seconds: 1}, Warnings: notice.Of(notice.Recorded{Text: "two modes"})}
	var b strings.Builder
	writeNCCLTests(&b, &result.File{Run: result.Run{Warnings: notice.Of(notice.OversubscribedHosts{Hosts: 2})}, Records: []result.Record{warned}})
	if got := b.String(); !strings.Contains(got, "# Warning: oversubscribed: 2 more hosts as well | {\"code\":\"oversubscribed-hosts\",\"parameters\":{\"hosts\":2}}\n#\n# Using devices\n") || !strings.Contains(got, "# 8 2 float sum -1 out-of-place: warning: two modes | {\"code\":\"recorded-warning\"") {
		t.Error(got)
	}
	if got := head(result.Method{Iterations: 20, Graph: 5}); !strings.Contains(got, "iters: 20 ") || !strings.Contains(got, "graph: 5\n# time: of one batch of all iterations,") {
		t.Error(got)
	}
}

// A run that goes on in a rescue file counts whole; a copy of either file adds nothing.
func TestCampaignsOfOneRunInTwoFiles(t *testing.T) {
	file := func(numbers ...int) *result.File {
		f := &result.File{Run: result.Run{ID: "run", Launch: "launch", Backend: result.Backend{Name: "mpi"}, World: 2}}
		for _, n := range numbers {
			f.Records = append(f.Records, result.Record{N: n, Case: allReduce(int64(n) << 20), Status: result.OK, Time: &result.Time{Seconds: float64(n)}})
		}
		return f
	}
	c := &campaigns{}
	for _, f := range []*result.File{file(1, 2), file(3), file(1, 2)} {
		c.add(f)
	}
	for _, cells := range c.of["launch"].Cells {
		for under, one := range cells {
			if n := len(one.Times["launch"]); len(cells) != 3 || n != 1 {
				t.Errorf("%d conditions, %d times of %s", len(cells), n, under.Size())
			}
		}
	}
}

func TestBandwidth(t *testing.T) {
	for gbps, want := range map[float64]string{0: "0.000", 2.1e-4: "0.00021", 1.14e-6: "1.1e-06", 0.0033: "0.0033", 0.00996: "0.010", 0.0333: "0.033", 46.6: "46.60", 1234: "1234.0"} {
		if got := units.Gigabytes(gbps * 1e9); got != want || len(got) > 8 {
			t.Errorf("%g GB/s: %s, want %s", gbps, got, want)
		}
	}
}
