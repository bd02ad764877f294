package analysis

import (
	"maps"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
)

// Measurements are the times of runs by contender and condition. Only points that are ok have one.
type Measurements struct {
	Contenders []Contender // in the order in which they are compared: the first is what the others stand against
	Cells      map[Contender]map[Condition]*Cell
	crowd      map[Contender]map[Shape]notice.Fact // worlds whose ranks or threads shared cores, and how
}

// Cell is what one contender took under one condition, by launch.
type Cell struct {
	Launches []string // in the order of appearance
	Times    map[string][]stats.Estimate
}

// NewMeasurements holds nothing yet.
func NewMeasurements() *Measurements {
	return &Measurements{Cells: map[Contender]map[Condition]*Cell{}, crowd: map[Contender]map[Shape]notice.Fact{}}
}

// Add takes a record, if it has a time that holds.
func (m *Measurements) Add(run *result.Run, r *result.Record) {
	if !r.Timed() || r.Time.Seconds == 0 { // 0 stands for what was no number
		return
	}
	who := ContenderOf(run)
	if m.Cells[who] == nil {
		m.Cells[who], m.crowd[who] = map[Condition]*Cell{}, map[Shape]notice.Fact{}
		m.Contenders = append(m.Contenders, who)
	}
	under := ConditionOf(run, r)
	if why := run.Crowded(); why != nil {
		m.crowd[who][ShapeOf(under)] = why
	}
	c := m.Cells[who][under]
	if c == nil {
		c = &Cell{Times: map[string][]stats.Estimate{}}
		m.Cells[who][under] = c
	}
	launch := run.PairedBy()
	if c.Times[launch] == nil {
		c.Launches = append(c.Launches, launch)
	}
	c.Times[launch] = append(c.Times[launch], stats.Estimate{Value: r.Time.Seconds, Lo: r.Time.Lo, Hi: r.Time.Hi})
}

// Crowded is why times of a world say nothing about speed, for the first of the contenders that has a reason.
func (m *Measurements) Crowded(s Shape, contenders ...Contender) notice.Fact {
	for _, who := range contenders {
		if why := m.crowd[who][s]; why != nil {
			return why
		}
	}
	return nil
}

// In is what one launch took.
func (c *Cell) In(launch string) stats.Estimate { return overCycles(c.Times[launch]) }

// overCycles is what one launch took: its record, or the median over the cycles of a soak.
func overCycles(times []stats.Estimate) stats.Estimate {
	if len(times) == 1 {
		return times[0]
	}
	e, basis := stats.MedianOfLaunches(values(times))
	if basis != stats.AcrossLaunches {
		e.Lo, e.Hi = 0, 0
	}
	return e
}

// Over is what all launches took: of one its own interval, of several the median, with bounds as the basis says.
func (c *Cell) Over() (stats.Estimate, stats.Basis) {
	if len(c.Launches) == 1 {
		e := c.In(c.Launches[0])
		if e.Lo <= 0 {
			return e, stats.NoBounds
		}
		return e, stats.WithinLaunch
	}
	return stats.MedianOfLaunches(c.ByLaunch())
}

// ByLaunch is what each launch took, in their order.
func (c *Cell) ByLaunch() []float64 {
	var v []float64
	for _, l := range c.Launches {
		v = append(v, c.In(l).Value)
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

// Ratio divides the times of a by those of b: launch by launch where they share launches, else as a whole.
func Ratio(a, b *Cell) stats.Ratio {
	var shared []string
	var ratios []float64
	for _, l := range a.Launches {
		if b.Times[l] != nil {
			shared = append(shared, l)
			ratios = append(ratios, a.In(l).Value/b.In(l).Value)
		}
	}
	switch {
	case len(shared) == 1:
		r := stats.RatioOf(a.In(shared[0]), b.In(shared[0]))
		r.Paired = true
		return r
	case len(shared) > 1:
		return stats.RatioOfPairs(ratios)
	case len(a.Launches) == 1 && len(b.Launches) == 1:
		return stats.RatioOf(a.In(a.Launches[0]), b.In(b.Launches[0]))
	}
	return stats.RatioOfLaunches(a.ByLaunch(), b.ByLaunch())
}

// Families are those that have a time, all_reduce first.
func (m *Measurements) Families() []Condition {
	seen := map[Condition]bool{}
	for _, cells := range m.Cells {
		for under := range cells {
			seen[FamilyOf(under)] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), CompareConditions)
}

// Conditions are those of a family that a contender has a time under, by world and size.
func (m *Measurements) Conditions(who Contender, family Condition) []Condition {
	var found []Condition
	for under := range m.Cells[who] {
		if FamilyOf(under) == family {
			found = append(found, under)
		}
	}
	slices.SortFunc(found, CompareConditions)
	return found
}

// Shapes are the worlds of a family that a contender has a time in, ascending.
func (m *Measurements) Shapes(who Contender, family Condition) (found []Shape) {
	for _, under := range m.Conditions(who, family) {
		if s := ShapeOf(under); !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}

// In are the conditions of a family in one world, by size.
func (m *Measurements) In(who Contender, family Condition, s Shape) (found []Condition) {
	for _, under := range m.Conditions(who, family) {
		if ShapeOf(under) == s {
			found = append(found, under)
		}
	}
	return found
}
