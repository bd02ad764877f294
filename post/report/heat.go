package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// Limits of the per-rank data.
const (
	maxKept  = 4_000_000 // values that are kept while rows come
	maxCells = 40_000    // values on the page
)

// heats keeps what each rank took, of the last record of each point.
type heats struct {
	of   map[heatKey]*heat
	kept int

	points, left int // that are kept, and for which there was no room
}

// heatKey is the curve that a record belongs to.
type heatKey struct {
	who   analysis.Contender
	tool  string
	under analysis.Condition // without size and count
}

// heat is one curve's.
type heat struct {
	rows        map[int64]rankTimes // by size
	last        *result.Run
	uncertainty float64 // s, the largest of what it is late by
}

// rankTimes are those of one point, by rank, in seconds.
type rankTimes struct {
	median, late []float64
	run          *result.Run
}

func (h *heats) add(row result.Row) {
	r := row.Record
	if r.Ranks == nil || len(r.Ranks.Median) < 2 {
		return
	}
	key := heatKey{who: analysis.ContenderOf(row.Run), under: analysis.ConditionOf(row.Run, r)}
	key.under.SizeBytes, key.under.Count = 0, 0
	if row.Run.Imported != nil {
		key.tool = row.Run.Imported.Tool
	}
	one := h.of[key]
	if one == nil {
		one = &heat{rows: map[int64]rankTimes{}}
		h.of[key] = one
	}
	if _, replaces := one.rows[r.SizeBytes]; !replaces {
		need := len(r.Ranks.Median) + len(r.Ranks.Late)
		if h.kept+need > maxKept {
			h.left++
			return
		}
		h.kept += need
		h.points++
	}
	one.rows[r.SizeBytes] = rankTimes{slices.Clone(r.Ranks.Median), slices.Clone(r.Ranks.Late), row.Run}
	one.last, one.uncertainty = row.Run, max(one.uncertainty, r.Ranks.Uncertainty)
}

// addHeats adds the per-rank data of the curves that are in the report, where ranks are furthest apart first.
func (b *builder) addHeats(r *Report, shown []*analysis.Curve) {
	var all []rankHeatmap
	uneven := map[int]float64{} // by curve
	for i, c := range shown {
		if h := b.heats.of[heatKey{c.Contender, c.Tool, c.Condition}]; h != nil {
			made := b.heatmapOf(h)
			made.Curve = i
			uneven[i] = made.unevenness()
			all = append(all, made)
		}
	}
	slices.SortStableFunc(all, func(x, y rankHeatmap) int { return cmp.Compare(uneven[y.Curve], uneven[x.Curve]) })
	room := maxCells
	for _, h := range all {
		if room -= len(h.Sizes) * len(h.Ranks) * 2; room >= 0 || r.charts.Heats == nil {
			r.charts.Heats = append(r.charts.Heats, h)
		}
	}
	if n := len(r.charts.Heats); n < len(all) {
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{Shown: n, Of: len(all), What: notice.LeftRankTimes})
	}
	if h := b.heats; h.left > 0 {
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{
			Shown: h.points, Of: h.points + h.left, What: notice.LeftRankSizes,
		})
	}
}

// heatmapOf leaves out the points of runs whose ranks were placed elsewhere than those of the last one: rank 3 of one
// line of the map is one place.
func (b *builder) heatmapOf(h *heat) (made rankHeatmap) {
	last := b.byRun[h.last.ID].layout
	for size, t := range h.rows {
		if last.placedAs(b.byRun[t.run.ID].layout) {
			made.Sizes = append(made.Sizes, size)
		}
	}
	slices.Sort(made.Sizes)
	ranks, late := 0, false
	for _, size := range made.Sizes {
		t := h.rows[size]
		ranks, late = max(ranks, len(t.median), len(t.late)), late || len(t.late) > 0
		made.Median, made.Late = append(made.Median, micro(t.median)), append(made.Late, micro(t.late))
	}
	if made.Uncertainty = rounded(1e6 * h.uncertainty); !late {
		made.Late, made.Uncertainty = nil, 0
	}
	for rank := range ranks {
		made.Ranks = append(made.Ranks, last.label(rank))
	}
	made.Slowest, made.Latest = made.slowest(), made.latest()
	return made
}

func micro(seconds []float64) figures {
	f := make(figures, len(seconds))
	for i, s := range seconds {
		f[i] = 1e6 * s
	}
	return f
}

// unevenness is how far ranks are apart: the largest share by which a rank's median is off the median of all.
func (h *rankHeatmap) unevenness() float64 {
	most := 0.0
	for _, row := range h.Median {
		middle := stats.Median(row)
		for _, x := range row {
			if middle > 0 && x > 0 {
				most = max(most, x/middle-1, middle/x-1)
			}
		}
	}
	return most
}

// leastSlow is by what share a rank takes longer before it is named: some rank always takes longest.
const leastSlow = 0.01

// slowest names the ranks whose times are longest against the median rank, by their median over sizes.
func (h *rankHeatmap) slowest() string {
	return h.highest(h.Median, func(v, middle float64) float64 { return v/middle - 1 }, leastSlow,
		func(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) })
}

// latest names the ranks that issue last, by more than the uncertainty of the clocks.
func (h *rankHeatmap) latest() string {
	return h.highest(h.Late, func(v, _ float64) float64 { return v }, h.Uncertainty,
		func(v float64) string { return units.Duration(v / 1e6) })
}

// highest names up to three ranks by the median over sizes of a value that is above a minimum.
func (h *rankHeatmap) highest(
	rows []figures, by func(v, middle float64) float64, least float64, text func(float64) string,
) string {
	values := make([][]float64, len(h.Ranks))
	for _, row := range rows {
		middle := stats.Median(row)
		for rank, v := range row {
			if x := by(v, middle); !math.IsNaN(x) && !math.IsInf(x, 0) {
				values[rank] = append(values[rank], x)
			}
		}
	}
	type standing struct {
		rank  int
		value float64
	}
	var all []standing
	for rank, x := range values {
		if slices.Sort(x); len(x) > 0 && x[len(x)/2] > least {
			all = append(all, standing{rank, x[len(x)/2]})
		}
	}
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Compare(b.value, a.value) })
	var words []string
	for _, s := range all[:min(len(all), 3)] {
		words = append(words, fmt.Sprintf("%s (%s)", h.Ranks[s.rank], text(s.value)))
	}
	return strings.Join(words, ", ")
}
