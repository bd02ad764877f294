package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"busbar/internal/coll"
)

// Comparison draws all_reduce of several backends over one another: time and bandwidth against size, and time against
// the world at the size nearest to at bytes. The names of the pictures are fixed. passed says what was left out and
// why.
func Comparison(points []Point, at int64) (figs []Figure, passed []string) {
	all := collect(points)
	all = slices.DeleteFunc(all, func(s series) bool { return s.collective != coll.AllReduce })
	if len(all) == 0 {
		return nil, []string{"comparison of backends: no all_reduce with status ok"}
	}
	c := &chooser{names: map[string]int{}}
	if throughput := in(coll.Throughput, all); len(throughput) > 0 {
		all = throughput
	}
	shown, left := fewWorlds(all)
	overlay := func(name, title string, y Axis, value func(coll.Case, float64) float64) {
		c.add(Figure{Name: name, Title: title, X: Axis{"message size", Bytes}, Y: y,
			Curves: byBackend(curves(shown, value), shown), Caption: left}, shown)
	}
	overlay("allreduce_time_vs_datasize", "all_reduce: time against size", Axis{timeLabel(all), Seconds}, seconds)
	overlay("allreduce_bandwidth_vs_datasize", "all_reduce: bus bandwidth against size", Axis{BusBW.axis(), GBps},
		BusBW.value)
	c.sideBySide(all, at)
	return c.figs, c.passed
}

func timeLabel(all []series) string {
	if all[0].mode == coll.Latency {
		return "latency (median)"
	}
	return "time of one operation"
}

// fewWorlds leaves out the worlds between the smallest and the largest where there are too many curves for a picture,
// and says so.
func fewWorlds(all []series) (shown []series, caption []string) {
	if len(all) <= maxCurves {
		return all, nil
	}
	least, most := all[0].world, all[0].world
	for _, s := range all {
		least, most = min(least, s.world), max(most, s.world)
	}
	shown = slices.DeleteFunc(slices.Clone(all), func(s series) bool { return s.world != least && s.world != most })
	return shown, []string{fmt.Sprintf("Too many curves: only the worlds of %d and %d ranks are drawn.", least, most)}
}

// byBackend gives all worlds of one backend one colour and marker, and a world the same dashes with every backend.
func byBackend(curves []Curve, all []series) []Curve {
	style, dash := map[key]int{}, map[key]int{}
	worlds := slices.Clone(all)
	slices.SortStableFunc(worlds, func(a, b series) int {
		return cmp.Or(cmp.Compare(a.world, b.world), cmp.Compare(a.nodes, b.nodes), cmp.Compare(a.perNode, b.perNode))
	})
	number := func(of map[key]int, k key) int {
		if _, known := of[k]; !known {
			of[k] = len(of)
		}
		return of[k]
	}
	for _, s := range worlds {
		number(dash, shapeKey(s.key))
	}
	for i, s := range all {
		curves[i].Style, curves[i].Hollow, curves[i].Dash = number(style, shapeless(s.key)), false, dash[shapeKey(s.key)]+1
	}
	return curves
}

// shapeKey is the world of a key and how it is laid on nodes; shapeless is the rest.
func shapeKey(k key) key { return key{world: k.world, nodes: k.nodes, perNode: k.perNode} }

func shapeless(k key) key {
	k.world, k.nodes, k.perNode = 0, 0, 0
	return k
}

// crowded says of each backend in which worlds ranks or threads shared cores.
func crowded(all []series) (captions []string) {
	for _, one := range group(all, backendOf) {
		var worlds []string
		for _, s := range one {
			for _, r := range s.runs {
				if r.Crowded() != nil {
					worlds = add(worlds, strconv.Itoa(s.world))
				}
			}
		}
		if worlds != nil {
			words := "Oversubscribed, says nothing about speed: %s with %s ranks."
			if captions != nil {
				words = "Likewise %s with %s ranks."
			}
			captions = append(captions, fmt.Sprintf(words, one[0].backend, several(worlds, "numbers of")))
		}
	}
	return captions
}

// sideBySide draws time against the world at one size, with a curve for each backend.
func (c *chooser) sideBySide(all []series, at int64) {
	f := Figure{Name: "allreduce_backend_comparison_100mb", X: Axis{"ranks", Ranks}, Y: Axis{timeLabel(all), Seconds}}
	size := nearestSize(all, at)
	f.Title = "all_reduce of " + coll.FormatSize(size, true) + ": backends side by side"
	if size != at {
		f.Caption = []string{fmt.Sprintf("%s is the size measured that is nearest to %s.", coll.FormatSize(size, true),
			coll.FormatSize(at, true))}
	}
	var used []series
	var keys, absent []key
	laid := false // a world in several ways on nodes
	for _, one := range group(all, shapeless) {
		var curve Curve
		var part []series
		for _, s := range one {
			i := slices.IndexFunc(s.cells, func(c cell) bool { return c.of.SizeBytes == size && c.n > 0 })
			if i < 0 {
				continue
			}
			if n := len(part); n > 0 && part[n-1].world == s.world { // series come with the fewest nodes first
				laid = true
				continue
			}
			s.cells = s.cells[i : i+1]
			curve.Points = append(curve.Points, point(float64(s.world), s.cells[0], seconds))
			part = append(part, s)
		}
		if part == nil || len(f.Curves) == maxCurves {
			absent = append(absent, shapeless(one[0].key))
			continue
		}
		f.Curves, used, keys = append(f.Curves, curve), append(used, part...), append(keys, one[0].key)
	}
	if absent != nil {
		f.Caption = append(f.Caption, "Not drawn, without this size or one too many: "+several(curveNames(absent), "curves")+
			".")
	}
	if laid {
		f.Caption = append(f.Caption, fewestNodes)
	}
	names := curveNames(keys)
	for i := range f.Curves {
		f.Curves[i].Label = names[i]
	}
	dress(f.Curves, keys)
	c.add(f, used)
}

// curveNames are the names of keys, and the backend where there is one only.
func curveNames(keys []key) []string {
	names := name(keys)
	for i := range names {
		names[i] = cmp.Or(names[i], keys[i].backend)
	}
	return names
}

// nearestSize is the size with a figure that is nearest to bytes by their ratio, the smaller of two.
func nearestSize(all []series, bytes int64) (size int64) {
	best := math.Inf(1)
	for _, s := range all {
		for _, c := range s.cells {
			if d := math.Abs(math.Log(float64(c.of.SizeBytes) / float64(bytes))); c.n > 0 &&
				(d < best || d == best && c.of.SizeBytes < size) {
				size, best = c.of.SizeBytes, d
			}
		}
	}
	return size
}
