package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"busbar/internal/coll"
)

// Comparison plots all_reduce of several backends: time and bandwidth over message size, and time over world size at
// the measured size nearest to at bytes. File names are fixed; additional plots have the curves that exceed one plot.
// passed lists omitted plots with the reason.
func Comparison(points []Point, at int64) (figs []Figure, passed []string) {
	all := collect(points)
	all = slices.DeleteFunc(all, func(s series) bool { return s.Collective != coll.AllReduce })
	if len(all) == 0 {
		return nil, []string{"comparison of backends: no all_reduce with status ok"}
	}
	c := &chooser{names: map[string]int{}}
	if throughput := in(coll.Throughput, all); len(throughput) > 0 {
		all = throughput
	}
	overlay := func(name, title string, m Measure) {
		c.split(all, "", func(s []series, extra string) {
			c.add(Figure{Page: Page{Name: fileName(name, extra), Title: title}, X: Axis{"message size", Bytes},
				Y: measures[m].y, Curves: curves(s, measures[m].value)}, s)
		})
	}
	overlay("allreduce_time_vs_datasize", "all_reduce: time over message size", timeOf(all))
	overlay("allreduce_bandwidth_vs_datasize", "all_reduce: bus bandwidth over message size", BusBW)
	c.sideBySide(all, at)
	return c.figs, c.passed
}

// sideBySide draws time against the world at one size, with a curve for each backend.
func (c *chooser) sideBySide(all []series, at int64) {
	size := nearestSize(all, at)
	f := Figure{Page: Page{Name: "allreduce_backend_comparison_100mb",
		Title: "all_reduce of " + coll.FormatSize(size, true) + ": backends side by side"}}
	if size != at {
		f.Caption = []string{fmt.Sprintf("%s is the size measured that is nearest to %s.", coll.FormatSize(size, true),
			coll.FormatSize(at, true))}
	}
	c.over(all, timeOf(all), f, func(worlds []series) (cells []cell) {
		for _, s := range worlds {
			i := slices.IndexFunc(s.cells, func(c cell) bool { return c.of.SizeBytes == size && c.n > 0 })
			// series come with the fewest nodes first
			if n := len(cells); i >= 0 && (n == 0 || cells[n-1].of.World != s.World) {
				cells = append(cells, s.cells[i])
			}
		}
		if cells == nil {
			c.passed = append(c.passed, fmt.Sprintf("%s: %s has no value at %s", f.Name,
				cmp.Or(worlds[0].Variant, worlds[0].Backend), coll.FormatSize(size, true)))
		}
		return cells
	})
}

// nearestSize is the size with a value that is nearest to bytes by their ratio, the smaller of two.
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
