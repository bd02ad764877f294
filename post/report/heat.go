package report

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

// maxHeats is how many curves have their ranks' times on the page.
const maxHeats = 20

// heats keeps what each rank took, of the last record of each point.
type heats map[heatKey]*heat

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

func (h heats) add(row result.Row) {
	r := row.Record
	if r.Ranks == nil || len(r.Ranks.Median) < 2 {
		return
	}
	key := heatKey{who: analysis.ContenderOf(row.Run), under: analysis.ConditionOf(row.Run, r)}
	key.under.SizeBytes, key.under.Count = 0, 0
	if row.Run.Imported != nil {
		key.tool = row.Run.Imported.Tool
	}
	one := h[key]
	if one == nil {
		one = &heat{rows: map[int64]rankTimes{}}
		h[key] = one
	}
	one.rows[r.SizeBytes] = rankTimes{slices.Clone(r.Ranks.Median), slices.Clone(r.Ranks.Late), row.Run}
	one.last, one.uncertainty = row.Run, max(one.uncertainty, r.Ranks.Uncertainty)
}

// addHeats adds the per-rank data of the curves that are in the report, where ranks are furthest apart first.
func (b *builder) addHeats(r *Report, shown []*analysis.Curve) {
	var all []rankHeatmap
	uneven := map[int]float64{} // by curve
	for i, c := range shown {
		if h := b.heats[heatKey{c.Contender, c.Tool, c.Condition}]; h != nil {
			made := b.heatmapOf(h)
			made.Curve = i
			uneven[i] = made.unevenness()
			all = append(all, made)
		}
	}
	slices.SortStableFunc(all, func(x, y rankHeatmap) int { return cmp.Compare(uneven[y.Curve], uneven[x.Curve]) })
	if r.charts.Heats = all[:min(len(all), maxHeats)]; len(all) > maxHeats {
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{Shown: maxHeats, Of: len(all), What: notice.LeftRankTimes})
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
