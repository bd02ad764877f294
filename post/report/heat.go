package report

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// Bounds of the per-rank data. A page of them is for looking at.
const (
	maxKept  = 4_000_000 // figures that are kept while rows come
	maxCells = 40_000    // figures on the page
)

// heats keeps what each rank took, of the last record of each point.
type heats struct {
	of   map[heatKey]*heat
	kept int

	points, left int // that are kept, and that came too late to be
}

// heatKey is the curve that a record belongs to.
type heatKey struct {
	who   analysis.Contender
	tool  string
	under analysis.Condition // without size and count
}

// heat is one curve's.
type heat struct {
	rows map[int64]*rankTimes // by size
	run  string               // the ID of the last run

	uncertainty float64 // s, the largest of what it is late by
}

// rankTimes are those of one point, by rank, in seconds.
type rankTimes struct {
	median, late []float32
	run          string // the ID of the run that took them
}

func newHeats() *heats { return &heats{of: map[heatKey]*heat{}} }

func heatKeyOf(run *result.Run, r *result.Record) heatKey {
	k := heatKey{who: analysis.ContenderOf(run), under: analysis.ConditionOf(run, r)}
	k.under.SizeBytes, k.under.Count = 0, 0
	if run.Imported != nil {
		k.tool = run.Imported.Tool
	}
	return k
}

func (h *heats) add(row result.Row) {
	r := row.Record
	if r.Ranks == nil || len(r.Ranks.Median) < 2 {
		return
	}
	key := heatKeyOf(row.Run, r)
	one := h.of[key]
	if one == nil {
		one = &heat{rows: map[int64]*rankTimes{}}
		h.of[key] = one
	}
	t := one.rows[r.SizeBytes]
	if t == nil {
		need := len(r.Ranks.Median) + len(r.Ranks.Late)
		if h.kept+need > maxKept {
			h.left++
			return
		}
		h.kept += need
		h.points++
		t = &rankTimes{}
		one.rows[r.SizeBytes] = t
	}
	t.median, t.late = short(t.median, r.Ranks.Median), short(t.late, r.Ranks.Late)
	t.run = row.Run.ID
	one.run, one.uncertainty = row.Run.ID, max(one.uncertainty, r.Ranks.Uncertainty)
}

// short copies figures in half the room, where to has it.
func short(to []float32, from []float64) []float32 {
	to = to[:0]
	if cap(to) < len(from) {
		to = make([]float32, 0, len(from))
	}
	for _, x := range from {
		to = append(to, float32(x))
	}
	return to
}

// unevenness is how far ranks are apart: the largest share by which a rank's median is off the median of all.
func (h *heat) unevenness() float64 {
	most := 0.0
	for _, t := range h.rows {
		middle := medianOf(t.median)
		for _, x := range t.median {
			if middle > 0 {
				most = max(most, max(float64(x)/middle, middle/float64(x))-1)
			}
		}
	}
	return most
}

func medianOf(x []float32) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (float64(sorted[(n-1)/2]) + float64(sorted[n/2])) / 2
}

// addHeats adds the per-rank data of the curves that stand in the report, where ranks are furthest apart first.
func (b *builder) addHeats(m *making, shown []*analysis.Curve) {
	type candidate struct {
		curve  int
		heat   *heat
		uneven float64
	}
	var all []candidate
	for i, c := range shown {
		k := heatKey{c.Contender, c.Tool, c.Condition}
		if h := b.heats.of[k]; h != nil && len(h.rows) > 0 {
			b.settle(h)
			all = append(all, candidate{i, h, h.unevenness()})
		}
	}
	slices.SortStableFunc(all, func(x, y candidate) int { return cmp.Compare(y.uneven, x.uneven) })
	room, left := maxCells, 0
	for _, c := range all {
		made := b.heatOf(c.heat)
		if room -= made.cells(); room < 0 && len(m.Heats) > 0 {
			left++
			continue
		}
		made.Curve, made.Axis = c.curve, m.axisOf(c.heat.sizes())
		m.Curves[c.curve].Heat = len(m.Heats)
		m.Heats = append(m.Heats, made)
	}
	if left > 0 {
		m.LeftOut = append(m.LeftOut, notice.ReportLeftOut{Shown: len(m.Heats), Of: len(all), What: notice.LeftRankTimes})
	}
	if b.heats.left > 0 {
		m.LeftOut = append(m.LeftOut, notice.ReportLeftOut{
			Shown: b.heats.points, Of: b.heats.points + b.heats.left, What: notice.LeftRankSizes,
		})
	}
}

// settle drops the points of runs whose ranks lay elsewhere than those of the last one: rank 3 of one line of the map is
// one place.
func (b *builder) settle(h *heat) {
	last := b.byRun[h.run].layout
	for size, t := range h.rows {
		if !last.placedAs(b.byRun[t.run].layout) {
			delete(h.rows, size)
		}
	}
}

// cells is how many figures it has.
func (h *Heat) cells() (n int) {
	for _, rows := range [][]Figures{h.Median, h.Late} {
		for _, row := range rows {
			n += len(row)
		}
	}
	return n
}

func (h *heat) sizes() (sizes []int64) {
	for s := range h.rows {
		sizes = append(sizes, s)
	}
	slices.Sort(sizes)
	return sizes
}

func (b *builder) heatOf(h *heat) (made Heat) {
	ranks, late := 0, false
	for _, s := range h.sizes() {
		t := h.rows[s]
		ranks = max(ranks, len(t.median), len(t.late))
		late = late || len(t.late) > 0
		made.Median, made.Late = append(made.Median, micro(t.median)), append(made.Late, micro(t.late))
	}
	if made.Uncertainty = rounded(1e6 * h.uncertainty); !late {
		made.Late, made.Uncertainty = nil, 0
	}
	l := b.byRun[h.run].layout
	for rank := range ranks {
		made.Ranks = append(made.Ranks, l.label(rank))
	}
	made.Slowest, made.Latest = made.slowest(), made.latest()
	return made
}

func micro(seconds []float32) Figures {
	f := make(Figures, len(seconds))
	for i, s := range seconds {
		f[i] = 1e6 * float64(s)
	}
	return f
}

// label names a rank with its host, where that is known.
func (l *layout) label(rank int) string {
	if l != nil && rank < len(l.ranks) && l.ranks[rank].Rank == rank {
		return fmt.Sprintf("%d %s", rank, l.ranks[rank].Host)
	}
	return fmt.Sprint(rank)
}
