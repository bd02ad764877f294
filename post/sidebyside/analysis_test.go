package sidebyside

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll/colltest"
	"busbar/internal/document"
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

func findingsOf(all ...made) *Results {
	f := &Results{times: analysis.NewMeasurements()}
	var who []analysis.Contender
	for _, m := range all {
		for l := range m.launches {
			for _, world := range m.worlds {
				run := &result.Run{ID: fmt.Sprint(m.backend, l, world), Launch: fmt.Sprint("launch ", l),
					Backend: result.Backend{Name: m.backend}, World: world, Nodes: 1, RanksPerNode: world,
					Rehearse: m.backend == rehearsal}
				if m.crowded > 0 && world >= m.crowded {
					run.Warnings = notice.Of(notice.Oversubscribed{Ranks: 8, Cores: 4, Host: "a"})
				}
				f.runs = append(f.runs, run)
				for i, size := range sizesMade {
					s := m.seconds(world, float64(size)) * (1 + 0.01*float64(l))
					c := colltest.AllReduce(size)
					c.World = world
					r := &result.Record{N: i + 1, Status: result.OK, Case: c, Time: &result.Time{Seconds: s, Lo: s * (1 - m.half),
						Hi: s * (1 + m.half)}}
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

// codesOf counts facts by their codes.
func codesOf(facts []notice.Fact) map[notice.Code]int {
	codes := map[notice.Code]int{}
	for _, f := range facts {
		codes[f.Code()]++
	}
	return codes
}

// factOf is the first fact of a type.
func factOf[F notice.Fact](facts []notice.Fact) (first F) {
	for _, f := range facts {
		if of, is := f.(F); is {
			return of
		}
	}
	return first
}

// linear takes a microsecond, and a nanosecond for so many bytes.
func linear(bytesPerNs float64) func(int, float64) float64 {
	return func(world int, size float64) float64 {
		return 1e-6 + 1e-9*size/bytesPerNs*2*float64(world-1)/float64(world)
	}
}

// Headlines are about what the results carry, and nothing else.
func TestHeadlines(t *testing.T) {
	fast := made{"nccl", 1, []int{2, 4}, 0.01, 0, linear(100)}
	slow := made{"gloo", 1, []int{2, 4}, 0.01, 0, linear(1)}
	edit := func(m made, f func(*made)) made { f(&m); return m }
	launches := func(m made, n int) made { m.launches = n; return m }
	crowded := func(m made, from int) made { m.crowded = from; return m }
	type codes = map[notice.Code]int
	for name, c := range map[string]struct {
		made            []made
		headlines, gaps codes
	}{
		"one launch": {[]made{slow, fast}, codes{"faster-contender": 1, "saturation": 2}, codes{"few-launches": 2}},
		"six launches": {[]made{launches(slow, 6), launches(fast, 6)},
			codes{"faster-contender": 1, "saturation": 2}, codes{}},
		"three launches have no interval": {[]made{launches(slow, 3), launches(fast, 3)},
			codes{"saturation": 2, "world-growth": 2}, codes{"few-launches": 2}},
		"no difference": {[]made{edit(slow, func(m *made) { m.half = 0.2 }), edit(slow, func(m *made) { m.backend = "mpi" })},
			codes{"same-speed": 1, "saturation": 2}, codes{"backend-missing": 1, "few-launches": 2}},
		"a larger world is crowded": {[]made{crowded(slow, 4), fast},
			codes{"faster-contender": 1, "saturation": 2}, codes{"few-launches": 2, "crowded-worlds": 1}},
		"all are crowded": {[]made{crowded(slow, 2), crowded(fast, 2)},
			codes{}, codes{"few-launches": 2, "crowded-worlds": 2}},
		"one backend": {[]made{fast}, codes{"saturation": 1, "world-growth": 1},
			codes{"backend-missing": 1, "not-compared": 1, "few-launches": 1}},
		"nothing simulated beside what was measured": {[]made{slow, edit(fast, func(m *made) { m.backend = rehearsal })},
			codes{"saturation": 2, "world-growth": 2}, codes{"few-launches": 2}},
		"nothing in common": {[]made{edit(slow, func(m *made) { m.worlds = []int{3} }), fast},
			codes{"saturation": 2, "world-growth": 1}, codes{"not-compared": 1, "few-launches": 2}},
	} {
		a := &analyst{Results: findingsOf(c.made...)}
		if got := codesOf(a.headlines()); !maps.Equal(got, c.headlines) {
			t.Errorf("%s: headlines %v, want %v", name, got, c.headlines)
		}
		if got := codesOf(gaps{a.Results}.facts()); !maps.Equal(got, c.gaps) {
			t.Errorf("%s: gaps %v, want %v", name, got, c.gaps)
		}
	}
	a := &analyst{Results: findingsOf(slow, edit(fast, func(m *made) {
		m.seconds = func(int, float64) float64 { return 0.1 }
	}))}
	won := factOf[notice.FasterContender](a.headlines())
	if len(won.Leads) != 2 || won.Leads[0].Who != "gloo" || won.Leads[1].Who != "nccl" || won.Leads[1].All ||
		!slices.Equal(won.Leads[1].Sizes, []units.Bytes{100 << 20, 1 << 30}) {
		t.Errorf("%+v", won)
	}
	wider := factOf[notice.WorldGrowth](a.scaling(a.analysed()[0]))
	if math.Abs(float64(wider.Factor)-1.5) > 0.01 || wider.Equal != 1.5 {
		t.Errorf("%+v", wider)
	}
}

// Bandwidth saturates, drops, still rises, or nobody can know.
func TestSaturation(t *testing.T) {
	for name, c := range map[string]struct {
		half    float64
		seconds func(int, float64) float64
		want    notice.Saturation
	}{
		"saturates": {0.01, linear(100), notice.Saturation{At: 1 << 30, From: 1 << 20}},
		"rises": {0.01, func(_ int, size float64) float64 { return 1 + size/1e12 },
			notice.Saturation{At: 1 << 30, Verdict: notice.StillRising}},
		"drops": {0.01, func(_ int, size float64) float64 { return size * size },
			notice.Saturation{At: 1 << 20, Last: 1 << 30, Share: 1.0 / 1024}},
		"no interval": {1, func(_ int, size float64) float64 { return size * size },
			notice.Saturation{At: 1 << 20, Last: 1 << 30, Share: 1.0 / 1024, Verdict: notice.Inconclusive}},
		"may drop": {0.2, func(_ int, size float64) float64 { return math.Pow(size, 1.05) },
			notice.Saturation{At: 1 << 20, Last: 1 << 30, Share: 0.7071, Verdict: notice.Inconclusive}},
		"85 % is not saturated": {0.01, func(_ int, size float64) float64 {
			if size == 1<<30 {
				return size / 1e9
			}
			return size / 0.85e9
		}, notice.Saturation{At: 1 << 30, Verdict: notice.StillRising}},
	} {
		a := &analyst{Results: findingsOf(made{"nccl", 1, []int{4}, c.half, 0, c.seconds})}
		got := factOf[notice.Saturation](a.headlines())
		if got.At != c.want.At || got.From != c.want.From || got.Last != c.want.Last || got.Verdict != c.want.Verdict ||
			math.Abs(float64(got.Share-c.want.Share)) > 1e-4 {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Logs of nccl-tests begin with rows of 0 bytes, of which nothing grows in proportion.
func TestGrowthFromNothing(t *testing.T) {
	f := findingsOf(made{"nccl", 1, []int{2}, 0.01, 0, linear(100)})
	run, c := f.rows[0].Run, f.rows[0].Record.Case
	c.SizeBytes, c.Count = 0, 0
	f.times.Add(run, &result.Record{N: 99, Status: result.OK, Case: c, Time: &result.Time{Seconds: 1e-6}})
	a := &analyst{Results: f}
	got := factOf[notice.TimeGrowth](a.growth(a.analysed()[0]))
	if got.From != 1<<20 || got.To != 1<<30 || got.Data != 1024 || math.Abs(got.Slope.Value-1) > 0.02 {
		t.Errorf("%+v", got)
	}
}

// A headline reaches as far as the least of what it stands on.
func TestScope(t *testing.T) {
	across, one := stats.Ratio{Basis: stats.AcrossLaunches}, stats.Ratio{Basis: stats.WithinLaunch, Paired: true}
	for want, ratios := range map[notice.Scope][]stats.Ratio{
		notice.AllLaunches:   {across, across},
		notice.SomeLaunches:  {one, across},
		notice.OneLaunch:     {one, one},
		notice.OneLaunchEach: {one, {Basis: stats.WithinLaunch}},
	} {
		if got := scope(ratios); got != want {
			t.Errorf("%v: %s", ratios, got)
		}
	}
}

// A ratio to times of an oversubscribed world is no ratio of speeds, also where the row itself is of none.
func TestTablesOfCrowdedReference(t *testing.T) {
	f := findingsOf(made{"gloo", 1, []int{2}, 0.01, 2, linear(1)}, made{"nccl", 1, []int{2}, 0.01, 0, linear(100)})
	for name, d := range map[string]*document.Document{"summary": f.summary(), "full": f.fullResults()} {
		notes := d.Blocks[len(d.Blocks)-1].(document.Footnotes)
		n := slices.IndexFunc(notes, func(s string) bool { return strings.HasPrefix(s, "reference gloo: ") })
		var marks string
		for _, b := range d.Blocks {
			if s, is := b.(*document.Section); is {
				last := s.Blocks[0].(*document.Table).Rows[len(sizesMade)]
				marks = last[len(last)-1]
			}
		}
		if !slices.Contains(strings.Split(strings.Trim(marks, "[]"), ","), fmt.Sprint(n+1)) {
			t.Errorf("%s: marks %q, notes %q: nothing states that gloo was oversubscribed", name, marks, notes)
		}
	}
}

func TestBandwidth(t *testing.T) {
	for gbps, want := range map[float64]string{0: "0.000", 2.1e-4: "0.00021", 1.14e-6: "1.1e-06", 0.0033: "0.0033",
		0.00996: "0.010", 0.0333: "0.033", 46.6: "46.60", 1234: "1234.0"} {
		if got := units.Gigabytes(gbps * 1e9); got != want || len(got) > 8 {
			t.Errorf("%g GB/s: %s, want %s", gbps, got, want)
		}
	}
}
