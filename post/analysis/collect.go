package analysis

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// Collector makes curves of records. It keeps little of each, since there may be a million.
type Collector struct {
	curves map[curveKey]*gathering
	paths  map[result.Path]*result.Path // each once
}

// curveKey is what the points of a curve share.
type curveKey struct {
	who   Contender
	tool  string
	under Condition // without size and count
}

// gathering is a curve whose records still come.
type gathering struct {
	Curve
	runs    map[*result.Run]bool
	number  units.Numbers[string] // of launches
	entries []entry
}

// entry is one record.
type entry struct {
	size, count, even int64
	time              stats.Estimate
	launch            int
	warned            [kindsOfWarning]bool
	path              *result.Path
}

// NewCollector holds nothing yet.
func NewCollector() *Collector {
	return &Collector{curves: map[curveKey]*gathering{}, paths: map[result.Path]*result.Path{}}
}

// Add adds a record, and reports whether a curve includes it. Curves omit records without a valid time, records of
// other tools that lack a part of the curve's identity, and records of single groups of nodes.
func (c *Collector) Add(row result.Row) bool {
	run, r := row.Run, row.Record
	if !r.Timed() || r.Time.Seconds <= 0 || math.IsInf(r.Time.Seconds, 0) || r.Group != nil ||
		r.Lacks() != (notice.Lack{}) {
		return false
	}
	g := c.gatheringOf(run, r)
	if !g.runs[run] {
		g.runs[run] = true
		g.Runs = append(g.Runs, run)
		if g.Crowded == nil {
			g.Crowded = run.Crowded()
		}
	}
	launch, added := g.number.Of(run.PairedBy())
	if added {
		g.Launches = append(g.Launches, run.PairedBy())
	}
	g.entries = append(g.entries, entry{r.SizeBytes, r.Count, r.EvenBytes,
		stats.Estimate{Value: r.Time.Seconds, Lo: r.Time.Lo,
			Hi: r.Time.Hi}, launch, g.warned(r.Warnings), c.once(r.Path)})
	g.Ranks = g.Ranks.add(r)
	return true
}

func (c *Collector) gatheringOf(run *result.Run, r *result.Record) *gathering {
	key := curveKey{who: ContenderOf(run), under: TableOf(ConditionOf(run, r))}
	if run.Imported != nil {
		key.tool = run.Imported.Tool
	}
	g := c.curves[key]
	if g == nil {
		g = &gathering{Curve: Curve{Contender: key.who, Tool: key.tool, Condition: key.under},
			runs: map[*result.Run]bool{}}
		c.curves[key] = g
	}
	return g
}

// once is a path that is kept only once.
func (c *Collector) once(p *result.Path) *result.Path {
	if p == nil {
		return nil
	}
	kept := c.paths[*p]
	if kept == nil {
		kept = p
		c.paths[*p] = p
	}
	return kept
}

// Curves are what was collected, in the order of tables. The collector is empty then.
func (c *Collector) Curves() []*Curve {
	var curves []*Curve
	for _, g := range c.curves {
		g.Points, g.entries = pointsOf(g.entries), nil
		curves = append(curves, &g.Curve)
	}
	*c = *NewCollector()
	slices.SortFunc(curves, compareCurves)
	nameCurves(curves)
	return curves
}

// nameCurves gives each contender a unique name, and marks those that another tool measured.
func nameCurves(curves []*Curve) {
	name := Names(ContendersOf(curves))
	for _, c := range curves {
		c.Who = name[c.Contender]
		if slices.ContainsFunc(curves, func(d *Curve) bool { return d.Contender == c.Contender && d.Tool != c.Tool }) {
			c.Who += ", measured by " + cmp.Or(c.Tool, "rank")
		}
	}
}

// ContendersOf are the contenders of curves, each once.
func ContendersOf(curves []*Curve) (all []Contender) {
	for _, c := range curves {
		all = units.AddOnce(all, c.Contender)
	}
	return all
}

// pointsOf makes a point of all entries of one size.
func pointsOf(entries []entry) (points []Point) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.launch, b.launch))
	})
	for _, same := range units.GroupBy(entries, func(e entry) int64 { return e.size }) {
		points = append(points, pointOf(same))
	}
	return slices.Clip(points)
}

// pointOf is one size: of one launch its own time, of several their median.
func pointOf(entries []entry) Point {
	p := Point{SizeBytes: entries[0].size, Count: entries[0].count, EvenBytes: entries[0].even,
		Records: len(entries)}
	for _, e := range entries {
		p.Path = cmp.Or(p.Path, e.path)
		for kind, is := range e.warned {
			if is && p.Warned[kind] < math.MaxUint16 {
				p.Warned[kind]++
			}
		}
	}
	for _, same := range units.GroupBy(entries, func(e entry) int { return e.launch }) {
		if p.Time = overCycles(same); len(same) < len(entries) {
			p.Launches = append(p.Launches, p.Time.Value)
		}
	}
	switch {
	case p.Launches != nil:
		p.Time, p.Basis = stats.MedianOfLaunches(p.Launches)
	case p.Time.Lo > 0:
		p.Basis = stats.WithinLaunch
	}
	return p
}

// overCycles is what one launch took: its record, or the median over the cycles of a soak.
func overCycles(entries []entry) stats.Estimate {
	if len(entries) == 1 {
		return entries[0].time
	}
	times := make([]float64, len(entries))
	for i, e := range entries {
		times[i] = e.time.Value
	}
	e, basis := stats.MedianOfLaunches(times)
	if basis != stats.AcrossLaunches {
		e.Lo, e.Hi = 0, 0
	}
	return e
}
