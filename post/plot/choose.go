package plot

import (
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// Options are what is drawn, and how.
type Options struct {
	Formats     []string          // png, svg
	Bandwidths  []Measure         // BusBW when empty
	Collectives []coll.Collective // only these, each in plots of its own too; empty: all

	limit func(runs []*result.Run, of coll.Case) analysis.Ceiling // of bus bandwidths; nil: none is known
}

// Formats are those of the files.
var Formats = []string{"png", "svg"}

// maxCurves is the maximum number of curves in a plot.
const maxCurves = 10

// chooser collects the plots.
type chooser struct {
	Options
	types     bool // several data types were measured, so that names and plots distinguish them
	libraries bool // likewise of one backend's libraries
	figs      []Figure
	names     map[string]int
	passed    []string
}

// Figures chooses the plots for the points, the most general first: all collectives of one world, single collectives,
// scaling over world sizes. passed lists omitted plots with the reason.
func Figures(points []Point, o Options) (figs []Figure, passed []string) {
	if len(o.Bandwidths) == 0 {
		o.Bandwidths = []Measure{BusBW}
	}
	all := collect(points)
	if len(o.Collectives) > 0 {
		all = slices.DeleteFunc(all, func(s series) bool { return !slices.Contains(o.Collectives, s.Collective) })
	}
	if len(all) == 0 {
		return nil, nil
	}
	c := &chooser{Options: o, names: map[string]int{}}
	c.types = len(group(all, typeOf)) > 1
	libraries := group(all, func(k key) string { return k.Backend + "\x00" + k.Library })
	c.libraries = len(libraries) > len(group(all, func(k key) string { return k.Backend }))
	for _, world := range group(all, ofMachine) {
		c.overview(onePlacement(world))
	}
	for _, one := range group(all, func(k key) key {
		return key{Condition: analysis.Condition{Case: coll.Case{Collective: k.Collective, Type: k.Type}}}
	}) {
		// One curve only is in the overview already, and drawn for those asked for and the first, which is all_reduce.
		several := max(len(in(coll.Throughput, one)), len(in(coll.Latency, one))) > 1
		if several || one[0].Collective == all[0].Collective || len(c.Collectives) > 0 {
			name := one[0].Collective.String()
			c.measures(one, name, name)
		}
	}
	c.scaling(all)
	return c.figs, c.passed
}

// ofMachine is a key without what one machine is measured with in turn.
func ofMachine(k key) key {
	k.Collective, k.Op, k.Root, k.Placement, k.Mode, k.Average, k.Imbalance = 0, 0, 0, 0, 0, "", ""
	k.Groups, k.Whole = coll.Groups{}, analysis.Shape{}
	return k
}

// overview draws all collectives of one backend, world and type.
func (c *chooser) overview(all []series) {
	collectives := len(group(all, func(k key) coll.Collective { return k.Collective }))
	if collectives < 2 {
		return
	}
	k := all[0].key
	c.measures(all, "collectives", fmt.Sprintf("%d collectives, %s", collectives, units.Count(k.World, "rank")),
		c.machine(k, fmt.Sprintf("world%d", k.World))...)
}

// machine names in files what measured, and how where that is unusual.
func (c *chooser) machine(k key, world string) []string {
	k.Average = "" // has curves of its own
	words := []string{k.Backend, k.Variant, world}
	if c.libraries {
		words[0] = fileName(k.Backend, k.Library)
	}
	return append(words, unusual(k)...)
}

// onePlacement leaves out what was measured in-place where the same collective was measured out-of-place.
func onePlacement(all []series) []series {
	return units.Where(all, func(s series) bool {
		return s.Placement != coll.InPlace || !slices.ContainsFunc(all, func(t series) bool {
			return t.Placement == coll.OutOfPlace && t.Collective == s.Collective
		})
	})
}

// measures draws bandwidth, time of one operation and latency for one set of series.
func (c *chooser) measures(all []series, first, of string, rest ...string) {
	if c.types {
		rest = append(rest, typeOf(all[0].key))
	}
	throughput, latencies := in(coll.Throughput, all), in(coll.Latency, all)
	bandwidth := throughput
	if len(throughput) == 0 {
		bandwidth = latencies
	}
	draw := func(all []series, m Measure) {
		c.split(all, "", func(s []series, extra string) {
			about := measures[m]
			f := Figure{Page: Page{Name: fileName(append([]string{first, about.short}, append(rest, extra)...)...),
				Title: about.title + ": " + of},
				X: Axis{"message size", Bytes}, Y: about.y, Curves: curves(s, about.value)}
			if m == latency && len(s) == 1 {
				f.Y.Label, f.Curves = "latency", distribution(s[0])
				f.Title += ", distribution over iterations"
				if slices.ContainsFunc(s[0].cells, func(c cell) bool { return c.n > 1 }) {
					f.Caption = []string{"min and max: of all together."}
				}
			}
			if m == BusBW {
				c.ceilings(&f, s)
			}
			c.add(f, s)
		})
	}
	for _, m := range c.Bandwidths {
		draw(bandwidth, m)
	}
	draw(throughput, operationTime)
	draw(latencies, latency)
}

// split passes on series that fit one plot; if they are too many, one set for each value of a dimension.
func (c *chooser) split(all []series, extra string, draw func(s []series, extra string)) {
	if len(all) <= maxCurves {
		if len(all) > 0 {
			draw(all, extra)
		}
		return
	}
	for _, part := range splitOrder {
		of := func(k key) string { return partsOf(k)[part] }
		if groups := group(all, of); len(groups) > 1 {
			for _, g := range groups {
				c.split(g, fileName(extra, of(g[0].key)), draw)
			}
			return
		}
	}
}

// add finishes a plot of these series, unless it is empty.
func (c *chooser) add(f Figure, all []series) {
	f.Curves = slices.DeleteFunc(f.Curves, func(v Curve) bool { return len(v.Points) == 0 })
	if len(f.Curves) == 0 {
		c.passed = append(c.passed, f.Name+": all values are 0 in a world of one rank")
		return
	}
	f.Name = numbered(c.names, f.Name)
	f.Subtitle = append(f.Subtitle, facts(all)...)
	f.Caption = slices.Concat(caption(all), f.Caption)
	of := func(is func(*result.Run) bool) bool {
		return slices.ContainsFunc(all, func(s series) bool { return slices.ContainsFunc(s.runs, is) })
	}
	if of(func(r *result.Run) bool { return r.Crowded() != nil }) {
		f.Caption = append(f.Caption, "Some runs were oversubscribed: their times show no speed.")
	}
	if slices.ContainsFunc(f.Curves, func(c Curve) bool { return len(c.parts()) > 1 }) {
		f.Caption = append(f.Caption, "Gaps in a line: no value (skipped, failed, or too few samples).")
	}
	f.Rehearsed = of(func(r *result.Run) bool { return r.Rehearse })
	c.figs = append(c.figs, f)
}
