package plot

import (
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// scaling plots, over world sizes, bandwidth at the largest and time at the smallest message size that all worlds have.
func (c *chooser) scaling(all []series) {
	if len(group(all, func(k key) int { return k.World })) < 2 {
		c.passed = append(
			c.passed,
			"scaling over world sizes: only one world size ("+units.Count(all[0].World, "rank")+")",
		)
		return
	}
	for _, machine := range group(onePlacement(all), func(k key) key {
		return ofMachine(shapeless(k))
	}) {
		throughput, latencies := in(coll.Throughput, machine), in(coll.Latency, machine)
		if len(throughput) == 0 {
			throughput = latencies
		}
		if len(latencies) == 0 {
			latencies = throughput
		}
		words := c.machine(machine[0].key, "")
		if c.types {
			words = append(words, typeOf(machine[0].key))
		}
		draw := func(all []series, m Measure, title string, largest bool) {
			f := Figure{Page: Page{Name: fileName(append([]string{"scaling", measures[m].short}, words...)...),
				Title: title + ": scaling over world sizes"}}
			c.over(all, m, f, func(worlds []series) []cell {
				if cells := common(worlds, largest); len(cells) > 1 {
					return cells
				}
				return nil
			})
		}
		for _, m := range c.Bandwidths {
			draw(throughput, m, measures[m].title, true)
		}
		draw(latencies, timeOf(latencies), "Smallest messages", false)
	}
}

// shapeless is a key without the world and its nodes.
func shapeless(k key) key {
	k.World, k.Nodes, k.PerNode, k.Whole = 0, 0, 0, analysis.Shape{}
	return k
}

const fewestNodes = "Each world is the one with the fewest nodes."

// over plots, over the number of ranks, a curve for all series that differ only in their world. pick returns their
// cells.
func (c *chooser) over(all []series, m Measure, f Figure, pick func([]series) []cell) {
	f.X, f.Y = Axis{"ranks", Ranks}, measures[m].y
	var used []series
	var keys []key
	var at []int64
	for _, one := range group(all, shapeless) {
		cells := pick(one)
		if cells == nil {
			continue
		}
		var curve Curve
		for _, cell := range cells {
			if xy := point(float64(cell.of.World), cell, measures[m].value); xy.Y > 0 {
				curve.Points = append(curve.Points, xy)
			}
		}
		at = append(at, cells[len(cells)-1].of.SizeBytes)
		f.Curves, used, keys = append(f.Curves, curve), append(used, one...), append(keys, one[0].key)
	}
	if len(used) == 0 {
		c.passed = append(c.passed, f.Name+": no message size was measured in two worlds")
		return
	}
	dress(f.Curves, keys)
	if slices.Min(at) == slices.Max(at) {
		f.Subtitle = []string{"at " + coll.FormatSize(at[0], true)}
	} else {
		for i := range f.Curves {
			f.Curves[i].Label += " at " + coll.FormatSize(at[i], true)
		}
	}
	if m == BusBW {
		c.ceilings(&f, used)
	}
	if len(group(used, func(k key) [3]int { return [3]int{k.World, k.Nodes, k.PerNode} })) > len(group(used, worldOf)) {
		f.Caption = append(f.Caption, fewestNodes)
	}
	c.add(f, used)
}

// common picks, for the largest or smallest size that most worlds have, the cell of each world, ascending by world.
// Sizes made of one share per rank are trimmed differently in each world, so they are matched to an eighth of an
// octave.
func common(worlds []series, largest bool) (best []cell) {
	at := map[int]map[int]cell{} // by size class, then world
	for _, s := range worlds {
		for _, c := range s.cells {
			if c.n == 0 {
				continue
			}
			class := int(math.Round(math.Log2(float64(c.of.SizeBytes)) * 8))
			if at[class] == nil {
				at[class] = map[int]cell{}
			}
			if _, taken := at[class][s.World]; !taken { // series come with the fewest nodes first
				at[class][s.World] = c
			}
		}
	}
	classes := slices.Sorted(maps.Keys(at))
	if largest {
		slices.Reverse(classes)
	}
	for _, class := range classes {
		if len(at[class]) <= len(best) {
			continue
		}
		best = nil
		for _, w := range slices.Sorted(maps.Keys(at[class])) {
			best = append(best, at[class][w])
		}
	}
	return best
}
