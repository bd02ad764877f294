package plot

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
)

// scaling draws bandwidth at the largest and time at the smallest size that all worlds have, against the world.
func (c *chooser) scaling(all []series) {
	worlds := group(all, func(k key) int { return k.world })
	if len(worlds) < 2 {
		c.passed = append(c.passed, fmt.Sprintf("scaling over worlds: there is one world only (%s)", plural(all[0].world, "rank")))
		return
	}
	drawn := len(c.figs)
	for _, machine := range group(all, func(k key) key {
		return key{backend: k.backend, library: k.library, variant: k.variant, device: k.device, dataType: k.dataType}
	}) {
		throughput, latency := in(coll.Throughput, machine), in(coll.Latency, machine)
		if len(throughput) == 0 {
			throughput = latency
		}
		if len(latency) == 0 {
			latency = throughput
		}
		for _, b := range c.Bandwidths {
			c.over(throughput, b.short(), b.title()+" over worlds", Axis{b.axis(), GBps}, b.value, true)
		}
		label, short := "latency (median)", "latency"
		if latency[0].mode == coll.Throughput {
			label, short = "time of one operation", "time"
		}
		c.over(latency, short, "Time of the smallest messages over worlds", Axis{label, Seconds}, seconds, false)
	}
	if len(c.figs) == drawn {
		c.passed = append(c.passed, "scaling over worlds: no size was measured in two worlds")
	}
}

// over draws one curve for each collective against the number of ranks.
func (c *chooser) over(all []series, short, title string, y Axis, value func(coll.Case, float64) float64, largest bool) {
	k := all[0].key
	f := Figure{Title: title, X: Axis{"ranks", Ranks}, Y: y}
	parts := []string{"scaling", short, k.backend, k.variant}
	if c.types {
		parts = append(parts, k.dataType.String())
	}
	f.Name = fileName(parts...)
	var used []series
	var keys []key
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
		sizes[cells[len(cells)-1].of.SizeBytes] = true
		f.Curves, used, keys = append(f.Curves, curve), append(used, one...), append(keys, one[0].key)
	}
	if len(used) == 0 {
		return
	}
	for i, n := range name(keys) {
		f.Curves[i].Label = n
		if n == "" {
			f.Curves[i].Label = keys[i].collective.String()
		}
	}
	dress(f.Curves, keys)
	if list := slices.Sorted(maps.Keys(sizes)); len(list) == 1 {
		f.Subtitle = []string{"at " + coll.FormatSize(list[0], true)}
	} else {
		f.Subtitle = []string{fmt.Sprintf("at %s to %s", coll.FormatSize(list[0], true), coll.FormatSize(list[len(list)-1], true))}
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
			class := int(math.Round(math.Log2(float64(c.of.SizeBytes)) * 8))
			if at[class] == nil {
				at[class] = map[int]cell{}
			}
			at[class][s.world] = c
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
