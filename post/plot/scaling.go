package plot

import (
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// scaling draws bandwidth at the largest and time at the smallest size that all worlds have, against the world.
func (c *chooser) scaling(all []series) {
	worlds := group(all, func(k key) int { return k.world })
	if len(worlds) < 2 {
		c.passed = append(c.passed, "scaling over worlds: only one world ("+units.Count(all[0].world, "rank")+")")
		return
	}
	drawn := len(c.figs)
	for _, machine := range group(onePlacement(all), func(k key) key {
		return key{backend: k.backend, library: k.library, variant: k.variant, settings: k.settings, device: k.device, rotate: k.rotate, aggregate: k.aggregate, dataType: k.dataType}
	}) {
		throughput, latency := in(coll.Throughput, machine), in(coll.Latency, machine)
		if len(throughput) == 0 {
			throughput = latency
		}
		if len(latency) == 0 {
			latency = throughput
		}
		for _, b := range c.Bandwidths {
			c.over(throughput, b.short(), b.title()+": scaling over worlds", Axis{b.axis(), GBps}, b.value, true)
		}
		label, short := "latency (median)", "latency"
		if latency[0].mode == coll.Throughput {
			label, short = "time of one operation", "time"
		}
		c.over(latency, short, "Smallest messages: scaling over worlds", Axis{label, Seconds}, seconds, false)
	}
	if len(c.figs) == drawn {
		c.passed = append(c.passed, "scaling over worlds: no size was measured in two worlds")
	}
}

const fewestNodes = "Of several ways to lay a world on nodes, the one with the fewest nodes."

// over draws one curve for each collective against the number of ranks.
func (c *chooser) over(all []series, short, title string, y Axis, value func(coll.Case, float64) float64, largest bool) {
	k := all[0].key
	f := Figure{Title: title, X: Axis{"ranks", Ranks}, Y: y}
	parts := []string{"scaling", short, c.backend(k), k.variant}
	if c.types {
		parts = append(parts, typeOf(k))
	}
	k.average = "" // has curves of its own
	f.Name = fileName(append(parts, unusual(k)...)...)
	var used []series
	var keys []key
	var at []int64
	sizes := map[int64]bool{}
	for _, one := range group(all, func(k key) key {
		k.world, k.nodes, k.perNode = 0, 0, 0
		return k
	}) {
		cells := common(one, largest)
		if len(cells) < 2 {
			continue
		}
		var curve Curve
		for _, cell := range cells {
			if xy := point(float64(cell.of.World), cell, value); xy.Y > 0 {
				curve.Points = append(curve.Points, xy)
			}
		}
		size := cells[len(cells)-1].of.SizeBytes
		at, sizes[size] = append(at, size), true
		f.Curves, used, keys = append(f.Curves, curve), append(used, one...), append(keys, one[0].key)
	}
	if len(used) == 0 {
		return
	}
	names := name(keys)
	for i := range f.Curves {
		if f.Curves[i].Label = names[i]; names[i] == "" {
			f.Curves[i].Label = keys[i].collective.String()
		}
		if len(sizes) == 1 {
			f.Subtitle = []string{"at " + coll.FormatSize(at[i], true)}
		} else {
			f.Curves[i].Label += " at " + coll.FormatSize(at[i], true)
		}
	}
	dress(f.Curves, keys)
	if y == (Axis{BusBW.axis(), GBps}) {
		c.limit(&f, used)
	}
	if len(group(used, shapeOf)) > len(group(used, worldOf)) {
		f.Caption = append(f.Caption, fewestNodes)
	}
	c.add(f, used)
}

// common picks, for the largest or smallest size that most worlds have, the cell of each world, ascending by world.
// Sizes made of one share per rank are trimmed differently in each world, so they are matched to an eighth of an octave.
func common(worlds []series, largest bool) []cell {
	at := map[int]map[int]cell{} // by size class, then world
	most := 0
	for _, s := range worlds {
		for _, c := range s.cells {
			if c.n == 0 {
				continue
			}
			class := int(math.Round(math.Log2(float64(c.of.SizeBytes)) * 8))
			if at[class] == nil {
				at[class] = map[int]cell{}
			}
			if _, taken := at[class][s.world]; !taken { // series come with the fewest nodes first
				at[class][s.world] = c
			}
			most = max(most, len(at[class]))
		}
	}
	classes := slices.Sorted(maps.Keys(at))
	if largest {
		slices.Reverse(classes)
	}
	for _, class := range classes {
		if len(at[class]) < most {
			continue
		}
		cells := make([]cell, 0, most)
		for _, w := range slices.Sorted(maps.Keys(at[class])) {
			cells = append(cells, at[class][w])
		}
		return cells
	}
	return nil
}
