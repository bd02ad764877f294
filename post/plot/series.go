package plot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// key is what a measured time belongs to, apart from its size, its mode and its launch. It has many fields because
// times share a curve only if all of them are equal.
type key struct {
	backend, library, variant, settings, device string
	world, nodes, perNode                       int

	rotate    int64  // span over which buffers move, in bytes
	aggregate int    // operations issued as one
	average   string // whose time counts; empty in latency mode, which has no choice

	collective coll.Collective
	dataType   coll.DataType
	op         coll.RedOp
	root       int
	placement  coll.Placement
}

func (p Point) key() key {
	m := p.Run.Method
	if p.Case.Mode == coll.Latency {
		m.Average = ""
	}
	return key{
		backend: p.Run.Backend.Name, library: p.Run.Backend.Title(), variant: p.Run.Variant,
		settings: m.Settings().String(),
		device:   p.Run.Device,
		world:    p.Case.World, nodes: p.Run.Nodes, perNode: p.Run.RanksPerNode,
		rotate: m.Rotate, aggregate: max(m.Aggregate, 1), average: m.Average,
		collective: p.Case.Collective, dataType: p.Case.Type, op: p.Case.Op, root: p.Case.Root,
		placement: p.Case.Placement,
	}
}

func compareKeys(a, b key) int {
	return cmp.Or(
		cmp.Compare(
			a.collective,
			b.collective,
		),
		strings.Compare(a.backend, b.backend),
		strings.Compare(a.library, b.library),
		strings.Compare(
			a.variant,
			b.variant,
		),
		strings.Compare(a.settings, b.settings),
		strings.Compare(a.device, b.device),
		cmp.Compare(a.world, b.world),
		cmp.Compare(a.nodes, b.nodes),
		cmp.Compare(a.perNode, b.perNode),
		cmp.Compare(a.rotate, b.rotate),
		cmp.Compare(a.aggregate, b.aggregate),
		strings.Compare(a.average, b.average),
		cmp.Compare(a.dataType, b.dataType),
		cmp.Compare(a.op, b.op),
		cmp.Compare(a.root, b.root),
		cmp.Compare(a.placement, b.placement),
	)
}

// series is everything measured for one key in one mode.
type series struct {
	key
	mode  coll.Mode
	runs  []*result.Run
	cells []cell // ascending by size
}

// cell is one size of a series: the median over launches, or over the cycles of one launch, and their range where there
// are several. It is all zero where there is no figure.
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
	type id struct {
		key
		mode coll.Mode
	}
	byID := map[id]map[int64][]Point{}
	for _, p := range points {
		if p.Run == nil || p.Case.SizeBytes <= 0 {
			continue
		}
		i := id{p.key(), p.Case.Mode}
		if byID[i] == nil {
			byID[i] = map[int64][]Point{}
		}
		byID[i][p.Case.SizeBytes] = append(byID[i][p.Case.SizeBytes], p)
	}
	var all []series
	for i, sizes := range byID {
		s := series{key: i.key, mode: i.mode}
		for _, size := range slices.Sorted(maps.Keys(sizes)) {
			s.cells = append(s.cells, newCell(sizes[size]))
			for _, p := range sizes[size] {
				if !slices.Contains(s.runs, p.Run) {
					s.runs = append(s.runs, p.Run)
				}
			}
		}
		if slices.ContainsFunc(s.cells, func(c cell) bool { return c.n > 0 }) {
			all = append(all, s)
		}
	}
	slices.SortFunc(
		all,
		func(a, b series) int { return cmp.Or(compareKeys(a.key, b.key), cmp.Compare(a.mode, b.mode)) },
	)
	return all
}

// newCell makes one cell of the records of one size.
func newCell(points []Point) cell {
	c := cell{of: points[0].Case}
	points = slices.DeleteFunc(slices.Clone(points), func(p Point) bool { return p.Time.Seconds <= 0 })
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
		slices.Sort(v)
		return v
	}
	c.overLaunches(points)
	if t := points[0].Time; c.n == 1 && t.Lo > 0 && t.Hi >= t.Lo {
		c.lo, c.hi = t.Lo, t.Hi
	}
	c.min = claimed(func(t result.Time) float64 { return t.Min })[0]
	c.p90 = middle(claimed(func(t result.Time) float64 { return t.P90 }))
	c.p99 = middle(claimed(func(t result.Time) float64 { return t.P99 }))
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
		if slices.Sort(times); len(byLaunch) == 1 {
			v = times
		} else {
			v = append(v, middle(times))
		}
	}
	slices.Sort(v)
	c.lo, c.s, c.hi, c.n, c.launches = v[0], middle(v), v[len(v)-1], len(v), len(byLaunch)
}

// middle is the median of sorted values.
func middle(v []float64) float64 {
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// in keeps the series of one mode.
func in(mode coll.Mode, all []series) []series {
	return slices.DeleteFunc(slices.Clone(all), func(s series) bool { return s.mode != mode })
}

// group splits series by what part makes of their keys, in the order of first appearance.
func group[K comparable](all []series, part func(key) K) [][]series {
	index := map[K]int{}
	var groups [][]series
	for _, s := range all {
		k := part(s.key)
		i, ok := index[k]
		if !ok {
			i = len(groups)
			index[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}
