package main

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
)

// contender is what is compared with others: a backend with its library on one kind of device, and the variant and the
// settings of it.
type contender struct {
	backend, library, variant, settings, device string
	rehearsed                                   bool
}

// condition is what two times must share to be compared, apart from the contender and the launch.
type condition struct {
	coll.Case
	nodes, perNode int
	rotate         int64
	aggregate      int
	average        string // of throughput mode; latency mode has no choice
}

// measurements are the times of runs by contender and condition. Only points that are ok have one.
type measurements struct {
	contenders []contender // in the order in which they are compared: the first is what the others stand against
	asked      []string    // backends in the order in which rank was asked for them, where one launch measured several
	cells      map[contender]map[condition]*cell
	crowd      map[contender]map[shape]string // worlds whose ranks or threads shared cores, and how
}

// shape is a world and how it was laid on nodes.
type shape struct{ world, nodes, perNode int }

func shapeOf(c condition) shape { return shape{c.World, c.nodes, c.perNode} }

// cell is what one contender took under one condition, by launch.
type cell struct {
	launches []string // in the order of appearance
	times    map[string][]stats.Estimate
}

func newMeasurements() *measurements {
	return &measurements{cells: map[contender]map[condition]*cell{}, crowd: map[contender]map[shape]string{}}
}

func contenderOf(r *result.Run) contender {
	return contender{r.Backend.Name, r.Backend.Title(), r.Variant, r.Method.Settings().String(), r.Device, r.Rehearse}
}

func conditionOf(run *result.Run, r *result.Record) condition {
	c := condition{Case: r.Case, nodes: run.Nodes, perNode: run.RanksPerNode, rotate: run.Method.Rotate, aggregate: max(run.Method.Aggregate, 1)}
	if r.Mode == coll.Throughput {
		c.average = run.Method.Average
	}
	return c
}

// add takes a record, if it has a time that holds.
func (m *measurements) add(run *result.Run, r *result.Record) {
	if !timed(r) || r.Time.Seconds == 0 { // 0 stands for what was no number
		return
	}
	who := contenderOf(run)
	if m.cells[who] == nil {
		m.cells[who], m.crowd[who] = map[condition]*cell{}, map[shape]string{}
		m.contenders = append(m.contenders, who)
	}
	under := conditionOf(run, r)
	if why := run.Crowded(); why != "" {
		m.crowd[who][shapeOf(under)] = why
	}
	c := m.cells[who][under]
	if c == nil {
		c = &cell{times: map[string][]stats.Estimate{}}
		m.cells[who][under] = c
	}
	launch := run.PairedBy()
	if c.times[launch] == nil {
		c.launches = append(c.launches, launch)
	}
	c.times[launch] = append(c.times[launch], stats.Estimate{Value: r.Time.Seconds, Lo: r.Time.Lo, Hi: r.Time.Hi})
}

// arrange puts the contenders into the order in which their backends were asked for; others keep their places behind.
func (m *measurements) arrange() {
	place := func(c contender) int {
		if i := slices.Index(m.asked, c.backend); i >= 0 {
			return i
		}
		return len(m.asked)
	}
	slices.SortStableFunc(m.contenders, func(a, b contender) int { return cmp.Compare(place(a), place(b)) })
}

// crowded is why times of a world say nothing about speed, for the first of the contenders that has a reason.
func (m *measurements) crowded(s shape, contenders ...contender) string {
	for _, who := range contenders {
		if why := m.crowd[who][s]; why != "" {
			return why
		}
	}
	return ""
}

// common says whether two contenders have a time under the same condition.
func (m *measurements) common(a, b contender) bool {
	for under := range m.cells[a] {
		if m.cells[b][under] != nil {
			return true
		}
	}
	return false
}

// in is what one launch took: its record, or the median over the cycles of a soak.
func (c *cell) in(launch string) stats.Estimate {
	times := c.times[launch]
	if len(times) == 1 {
		return times[0]
	}
	e, basis := stats.MedianOfLaunches(values(times))
	if basis != stats.AcrossLaunches {
		e.Lo, e.Hi = 0, 0
	}
	return e
}

// over is what all launches took: of one its own interval, of several the median, with bounds as the basis says.
func (c *cell) over() (stats.Estimate, stats.Basis) {
	if len(c.launches) == 1 {
		e := c.in(c.launches[0])
		if e.Lo <= 0 {
			return e, stats.NoBounds
		}
		return e, stats.WithinLaunch
	}
	return stats.MedianOfLaunches(c.byLaunch())
}

func (c *cell) byLaunch() []float64 {
	var v []float64
	for _, l := range c.launches {
		v = append(v, c.in(l).Value)
	}
	return v
}

func values(times []stats.Estimate) []float64 {
	v := make([]float64, len(times))
	for i, t := range times {
		v[i] = t.Value
	}
	return v
}

// ratio divides the times of a by those of b: launch by launch where they share launches, else as a whole.
func ratio(a, b *cell) stats.Ratio {
	var shared []string
	var ratios []float64
	for _, l := range a.launches {
		if b.times[l] != nil {
			shared = append(shared, l)
			ratios = append(ratios, a.in(l).Value/b.in(l).Value)
		}
	}
	switch {
	case len(shared) == 1:
		r := stats.RatioOf(a.in(shared[0]), b.in(shared[0]))
		r.Paired = true
		return r
	case len(shared) > 1:
		return stats.RatioOfPairs(ratios)
	case len(a.launches) == 1 && len(b.launches) == 1:
		return stats.RatioOf(a.in(a.launches[0]), b.in(b.launches[0]))
	}
	return stats.RatioOfLaunches(a.byLaunch(), b.byLaunch())
}

// names tells contenders apart in as few words as it takes.
func names(contenders []contender) map[contender]string {
	name := map[contender]string{}
	for _, c := range contenders {
		name[c] = c.backend
	}
	for _, more := range []func(contender) string{
		func(c contender) string { return c.variant }, func(c contender) string { return c.settings }, func(c contender) string { return c.library },
		func(c contender) string { return c.device },
	} {
		for _, same := range alike(contenders, name) {
			for _, c := range same {
				if words := more(c); words != "" && slices.ContainsFunc(same, func(d contender) bool { return more(d) != words }) {
					name[c] += " (" + words + ")"
				}
			}
		}
	}
	return name
}

// alike are the groups of contenders that have one name.
func alike(contenders []contender, name map[contender]string) map[string][]contender {
	groups := map[string][]contender{}
	for _, c := range contenders {
		groups[name[c]] = append(groups[name[c]], c)
	}
	for n, group := range groups {
		if len(group) == 1 {
			delete(groups, n)
		}
	}
	return groups
}

func compareConditions(a, b condition) int {
	return cmp.Or(
		cmp.Compare(a.Collective, b.Collective), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Root, b.Root),
		cmp.Compare(a.Placement, b.Placement), cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.rotate, b.rotate), cmp.Compare(a.aggregate, b.aggregate),
		cmp.Compare(a.average, b.average), cmp.Compare(a.World, b.World), cmp.Compare(a.nodes, b.nodes), cmp.Compare(a.perNode, b.perNode),
		cmp.Compare(a.SizeBytes, b.SizeBytes),
	)
}
