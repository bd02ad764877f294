package sidebyside

import (
	"fmt"
	"slices"
	"testing"

	"busbar/internal/coll/colltest"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"

	"github.com/shoenig/test"
)

// made is the rows of a backend that takes seconds(size) in each of its worlds.
type made struct {
	backend  string
	launches int
	worlds   []int
	half     float64 // width of the interval to either side, relative
	crowded  int     // from this world on ranks share cores
	seconds  func(world int, size float64) float64
}

var sizesMade = []int64{1 << 20, 10 << 20, 100 << 20, 1 << 30}

func (m made) rows() (rows []result.Row) {
	for l := range m.launches {
		for _, world := range m.worlds {
			run := &result.Run{
				ID: fmt.Sprint(m.backend, l, world), Launch: fmt.Sprint("launch ", l), World: world, Nodes: 1,
				Backend: result.Backend{Name: m.backend}, RanksPerNode: world, Rehearse: m.backend == simulatedNCCL,
			}
			if m.crowded > 0 && world >= m.crowded {
				run.Warnings = notice.Of(notice.Oversubscribed{Ranks: 8, Cores: 4, Host: "a"})
			}
			for i, size := range sizesMade {
				s := m.seconds(world, float64(size)) * (1 + 0.01*float64(l))
				c := colltest.AllReduce(size)
				c.World = world
				rows = append(rows, result.Row{Run: run, Record: &result.Record{
					N: i + 1, Status: result.OK, Case: c,
					Time: &result.Time{Seconds: s, Lo: s * (1 - m.half), Hi: s * (1 + m.half)},
				}})
			}
		}
	}
	return rows
}

func headlinesOf(all ...made) []notice.Fact {
	var rows []result.Row
	var runs []*result.Run
	for _, m := range all {
		rows = append(rows, m.rows()...)
	}
	for _, row := range rows {
		runs = append(runs, row.Run)
	}
	h := NewHeadliner(runs)
	for _, row := range rows {
		h.Add(row)
	}
	return h.Headlines()
}

// linear takes a microsecond, plus a nanosecond per given number of bytes.
func linear(bytesPerNs float64) func(int, float64) float64 {
	return func(world int, size float64) float64 {
		return 1e-6 + 1e-9*size/bytesPerNs*2*float64(world-1)/float64(world)
	}
}

func TestHeadlines(t *testing.T) {
	fast := made{"nccl", 1, []int{2, 4}, 0.01, 0, linear(100)}
	slow := made{"gloo", 1, []int{2, 4}, 0.01, 0, linear(1)}
	edit := func(m made, f func(*made)) made { f(&m); return m }
	launches := func(m made, n int) made { m.launches = n; return m }
	crowded := func(m made, from int) made { m.crowded = from; return m }
	faster := map[notice.Code]int{"faster-contender": 1}
	for name, c := range map[string]struct {
		made []made
		want map[notice.Code]int
	}{
		"one launch":     {[]made{slow, fast}, faster},
		"six launches":   {[]made{launches(slow, 6), launches(fast, 6)}, faster},
		"three launches": {[]made{launches(slow, 3), launches(fast, 3)}, nil},
		"no difference": {[]made{
			edit(slow, func(m *made) { m.half = 0.2 }), edit(slow, func(m *made) { m.backend = "mpi" }),
		}, map[notice.Code]int{"same-speed": 1}},
		"larger world crowded": {[]made{crowded(slow, 4), fast}, faster},
		"all worlds crowded":   {[]made{crowded(slow, 2), crowded(fast, 2)}, nil},
		"one backend":          {[]made{fast}, nil},
		"simulated and measured": {[]made{slow, edit(fast, func(m *made) { m.backend = simulatedNCCL })},
			nil},
		"nothing in common": {[]made{edit(slow, func(m *made) { m.worlds = []int{3} }), fast}, nil},
	} {
		got := map[notice.Code]int{}
		for _, f := range headlinesOf(c.made...) {
			got[notice.CodeOf(f)]++
		}
		test.MapEqOp(t, c.want, got, test.Sprint(name))
	}
	constant := edit(fast, func(m *made) { m.seconds = func(int, float64) float64 { return 0.1 } })
	won := headlinesOf(slow, constant)[0].(notice.FasterContender)
	if len(won.Leads) != 2 || won.Leads[0].Who != "gloo" || won.Leads[1].Who != "nccl" || won.Leads[1].All ||
		!slices.Equal(won.Leads[1].Sizes, []units.Bytes{100 << 20, 1 << 30}) {
		t.Errorf("%+v", won)
	}
}

func TestScope(t *testing.T) {
	across, one := stats.Ratio{Basis: stats.AcrossLaunches}, stats.Ratio{Basis: stats.WithinLaunch, Paired: true}
	for want, ratios := range map[notice.Scope][]stats.Ratio{
		notice.AllLaunches:   {across, across},
		notice.SomeLaunches:  {one, across},
		notice.OneLaunch:     {one, one},
		notice.OneLaunchEach: {one, {Basis: stats.WithinLaunch}},
	} {
		test.EqOp(t, want, scope(ratios), test.Sprint(ratios))
	}
}
