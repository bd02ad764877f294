package plot

import (
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Options say what is drawn.
type Options struct {
	Bandwidths  []Bandwidth       // BusBW when empty
	Collectives []coll.Collective // only these, each in pictures of its own too; all when empty
	// of bus bandwidths that these runs measured alike; nil: none is known
	Limit   func(runs []*result.Run, of coll.Case) Limit
	Remarks []Remark
}

// Bandwidth is one of the two bandwidths of a point.
type Bandwidth uint8

// The bandwidths.
const (
	BusBW Bandwidth = iota
	AlgBW
)

// maxCurves is how many curves one picture carries before it is split.
const maxCurves = 9

// chooser collects the figures.
type chooser struct {
	Options
	types     bool // several data types were measured, so that names and pictures keep them apart
	libraries bool // likewise of one backend's libraries
	figs      []Figure
	names     map[string]int
	passed    []string
}

// Figures chooses the pictures that the points are good for, in the order in which one would look at them: all
// collectives of one world, collectives alone, scaling over worlds. passed says what was left out and why.
func Figures(points []Point, o Options) (figs []Figure, passed []string) {
	if len(o.Bandwidths) == 0 {
		o.Bandwidths = []Bandwidth{BusBW}
	}
	all := collect(points)
	if len(o.Collectives) > 0 {
		all = slices.DeleteFunc(all, func(s series) bool { return !slices.Contains(o.Collectives, s.collective) })
	}
	if len(all) == 0 {
		return nil, nil
	}
	c := &chooser{Options: o, names: map[string]int{}}
	c.types = len(group(all, func(k key) coll.DataType { return k.dataType })) > 1
	c.libraries = len(group(all, func(k key) [2]string {
		return [2]string{k.backend, k.library}
	})) > len(group(all, backendOf))
	for _, world := range group(all, func(k key) key {
		k.collective, k.op, k.root, k.placement, k.average = 0, 0, 0, 0, ""
		return k
	}) {
		c.overview(world)
	}
	for _, one := range group(all, func(k key) key { return key{collective: k.collective, dataType: k.dataType} }) {
		c.alone(one, c.principal(all) == one[0].collective)
	}
	c.scaling(all)
	return c.figs, c.passed
}

// principal is the collective that gets pictures of its own in any case.
func (c *chooser) principal(all []series) coll.Collective {
	return all[0].collective // series are sorted by it, all_reduce comes first
}

// overview draws all collectives of one backend, world and type; out-of-place where there is a choice.
func (c *chooser) overview(all []series) {
	all = onePlacement(all)
	collectives := len(group(all, func(k key) coll.Collective { return k.collective }))
	if collectives < 2 {
		return
	}
	k := all[0].key
	k.average = "" // has curves of its own
	words := append([]string{c.backend(k), k.variant, fmt.Sprintf("world%d", k.world)}, unusual(k)...)
	c.measures(all, "collectives", words, fmt.Sprintf("%d collectives, %s", collectives, units.Count(k.world, "rank")))
}

// backend names a backend in names of files.
func (c *chooser) backend(k key) string {
	if c.libraries {
		return fileName(k.backend, k.library)
	}
	return k.backend
}

// onePlacement leaves out what was measured in-place where the same collective was measured out-of-place.
func onePlacement(all []series) []series {
	return slices.DeleteFunc(slices.Clone(all), func(s series) bool {
		return s.placement == coll.InPlace && slices.ContainsFunc(all, func(t series) bool {
			return t.placement == coll.OutOfPlace && t.collective == s.collective
		})
	})
}

// alone draws one collective with a curve for each backend, world, placement and so on; where that is one curve only,
// which the overview has already, it is drawn for the principal collective and for those asked for.
func (c *chooser) alone(all []series, principal bool) {
	if curves := max(len(in(coll.Throughput, all)), len(in(coll.Latency, all))); curves == 1 && !principal &&
		len(c.Collectives) == 0 {
		return
	}
	name := all[0].collective.String()
	c.measures(all, name, nil, name)
}

// measures draws bandwidth, time of one operation and latency for one set of series.
func (c *chooser) measures(all []series, first string, rest []string, of string) {
	if c.types {
		rest = append(rest, typeOf(all[0].key))
	}
	throughput, latency := in(coll.Throughput, all), in(coll.Latency, all)
	bandwidth := throughput
	if len(throughput) == 0 {
		bandwidth = latency
	}
	for _, b := range c.Bandwidths {
		c.split(bandwidth, func(s []series, extra string) {
			f := Figure{
				Name: fileName(append([]string{first, b.short()}, append(rest, extra)...)...), Title: b.title() + ": " + of,
				X: Axis{"message size", Bytes}, Y: Axis{b.axis(), GBps}, Curves: curves(s, b.value),
			}
			if b == BusBW {
				c.limit(&f, s)
			}
			c.remark(&f, s)
			c.add(f, s)
		})
	}
	c.split(throughput, func(s []series, extra string) {
		f := Figure{
			Name: fileName(append([]string{first, "time"}, append(rest, extra)...)...), Title: "Time of one operation: " + of,
			X: Axis{"message size", Bytes}, Y: Axis{"time of one operation", Seconds}, Curves: curves(s, seconds),
		}
		c.remark(&f, s)
		c.add(f, s)
	})
	c.split(latency, func(s []series, extra string) {
		f := Figure{
			Name: fileName(append([]string{first, "latency"}, append(rest, extra)...)...), Title: "Latency: " + of,
			X: Axis{"message size", Bytes}, Y: Axis{"latency (median)", Seconds}, Curves: curves(s, seconds),
		}
		if len(s) == 1 {
			f.Y.Label, f.Curves = "latency", distribution(s[0])
			f.Title += ", distribution over iterations"
			if slices.ContainsFunc(s[0].cells, func(c cell) bool { return c.n > 1 }) {
				f.Caption = []string{"min and max: of all together."}
			}
		}
		c.remark(&f, s)
		c.add(f, s)
	})
}

// split hands on series that fit one picture; where they are too many, one set for each value of a dimension.
func (c *chooser) split(all []series, draw func(s []series, extra string)) {
	if len(all) == 0 {
		return
	}
	if len(all) <= maxCurves {
		draw(all, "")
		return
	}
	for _, words := range splitOrder {
		groups := group(all, words)
		if len(groups) == 1 {
			continue
		}
		for _, g := range groups {
			c.split(g, func(s []series, extra string) { draw(s, fileName(words(s[0].key), extra)) })
		}
		return
	}
}

// add finishes a figure that shows these series, if anything is left to draw.
func (c *chooser) add(f Figure, all []series) {
	f.Curves = slices.DeleteFunc(f.Curves, func(v Curve) bool { return len(v.Points) == 0 })
	if len(f.Curves) == 0 {
		c.passed = append(c.passed, f.Name+": all values are 0 in a world of one rank")
		return
	}
	if c.names[f.Name]++; c.names[f.Name] > 1 {
		f.Name = fmt.Sprintf("%s-%d", f.Name, c.names[f.Name])
	}
	f.Subtitle = append(f.Subtitle, facts(all)...)
	f.Caption = append(append(caption(all), f.Caption...), crowded(all)...)
	if slices.ContainsFunc(f.Curves, func(c Curve) bool { return len(c.parts()) > 1 }) {
		f.Caption = append(f.Caption, "Gaps in a line: no value (skipped, failed, or too few samples).")
	}
	for _, s := range all {
		for _, r := range s.runs {
			f.Rehearsed = f.Rehearsed || r.Rehearse
		}
	}
	c.figs = append(c.figs, f)
}
