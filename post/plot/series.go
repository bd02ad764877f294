package plot

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// key is what a measured time belongs to, apart from its size and its launch.
type key struct {
	analysis.Contender
	analysis.Condition
}

func (p Point) key() key {
	under := analysis.ConditionOf(p.Run, &result.Record{Case: p.Case, Nodes: p.nodes, RanksPerNode: p.perNode})
	return key{analysis.ContenderOf(p.Run), analysis.TableOf(under)}
}

func compareKeys(a, b key) int {
	return cmp.Or(
		cmp.Compare(a.Collective, b.Collective), analysis.CompareContenders(a.Contender, b.Contender),
		analysis.CompareConditions(a.Condition, b.Condition),
	)
}

// series is everything measured for one key.
type series struct {
	key
	runs  []*result.Run
	cells []cell // ascending by size
}

// cell is one size of a series: the median over launches, or over the cycles of one launch, and their range where there
// are several. It is all zero where there is no value.
type cell struct {
	of            coll.Case
	n             int // launches, or cycles of the one launch
	launches      int
	s, lo, hi     float64
	min, p90, p99 float64
	max           float64
}

// collect sorts points into series.
func collect(points []Point) []series {
	points = units.Where(points, func(p Point) bool { return p.Run != nil && p.Case.SizeBytes > 0 })
	var all []series
	for _, of := range units.GroupBy(points, Point.key) {
		s := series{key: of[0].key()}
		sizes := units.GroupBy(of, func(p Point) int64 { return p.Case.SizeBytes })
		units.SortBy(sizes, func(same []Point) int64 { return same[0].Case.SizeBytes })
		for _, same := range sizes {
			s.cells = append(s.cells, newCell(same))
			for _, p := range same {
				s.runs = units.AddOnce(s.runs, p.Run)
			}
		}
		if slices.ContainsFunc(s.cells, func(c cell) bool { return c.n > 0 }) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b series) int { return compareKeys(a.key, b.key) })
	return all
}

// newCell makes one cell of the records of one size.
func newCell(points []Point) cell {
	c := cell{of: points[0].Case}
	points = units.Where(points, func(p Point) bool { return p.Time.Seconds > 0 })
	if c.n = len(points); c.n == 0 {
		return c
	}
	claimed := func(f func(result.Time) float64) []float64 {
		var v []float64
		for _, p := range points {
			if x := f(p.Time); x > 0 {
				v = append(v, x)
			}
		}
		if v == nil {
			return []float64{0}
		}
		return v
	}
	c.overLaunches(points)
	if t := points[0].Time; c.n == 1 && t.Lo > 0 && t.Hi >= t.Lo {
		c.lo, c.hi = t.Lo, t.Hi
	}
	c.min = slices.Min(claimed(func(t result.Time) float64 { return t.Min }))
	c.p90 = stats.Median(claimed(func(t result.Time) float64 { return t.P90 }))
	c.p99 = stats.Median(claimed(func(t result.Time) float64 { return t.P99 }))
	c.max = slices.Max(claimed(func(t result.Time) float64 { return t.Max }))
	return c
}

// overLaunches takes the median and the range of launches, each launch's own time being the median of its cycles; of
// one launch those of its cycles.
func (c *cell) overLaunches(points []Point) {
	byLaunch := map[string][]float64{}
	for _, p := range points {
		launch := p.Run.PairedBy()
		byLaunch[launch] = append(byLaunch[launch], p.Time.Seconds)
	}
	var v []float64
	for _, times := range byLaunch {
		if len(byLaunch) == 1 {
			v = times
		} else {
			v = append(v, stats.Median(times))
		}
	}
	c.lo, c.s, c.hi, c.n, c.launches = slices.Min(v), stats.Median(v), slices.Max(v), len(v), len(byLaunch)
}

// in keeps the series of one mode.
func in(mode coll.Mode, all []series) []series {
	return units.Where(all, func(s series) bool { return s.Mode == mode })
}

// group splits series by a part of their keys, in order of appearance.
func group[K comparable](all []series, part func(key) K) [][]series {
	return units.GroupBy(all, func(s series) K { return part(s.key) })
}
