package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/footnote"
)

// pointTable is the records of one table, in their order; of throughput mode with the share of the peak, where that is
// known.
func pointTable(
	mode coll.Mode, records []*result.Record, notes *footnote.List, ceiling analysis.Ceiling,
) *document.Table {
	heads := "size> count> time> ±%> algbw> busbw> iters>"
	switch {
	case mode == coll.Latency:
		heads = "size> median> ±%> min> p90> p99> max>"
	case ceiling.Known():
		heads = "size> count> time> ±%> algbw> busbw> %peak> iters>"
	}
	t := document.NewTable(append(strings.Fields(heads), "check", "")...)
	for _, r := range records {
		size := coll.FormatSize(r.SizeBytes, true)
		if r.Cycle > 1 {
			size = fmt.Sprintf("#%d %s", r.Cycle, size)
		}
		switch {
		case r.Status == result.OK && r.Time == nil && r.Imported != nil:
			t.Row(size, pairs(r.Imported.Stated))
		case r.Status != result.OK || r.Time == nil:
			t.Row(size, notOKWords(r))
		default:
			t.Row(append(append([]string{size}, values(mode, r, ceiling)...), notes.Marks(r.Warnings))...)
			if e := r.Time.Event; e != nil {
				t.Row("", fmt.Sprintf("by events %s (min %s, max %s)", units.Duration(e.Seconds), units.Duration(e.Min),
					units.Duration(e.Max)))
			}
		}
	}
	return t
}

// values are the cells of an ok point behind its size.
func values(mode coll.Mode, r *result.Record, ceiling analysis.Ceiling) []string {
	t := r.Time
	if mode == coll.Latency {
		cells := []string{units.Duration(t.Seconds), halfWidth(t.Seconds, t.Lo, t.Hi)}
		for _, seconds := range []float64{t.Min, t.P90, t.P99, t.Max} {
			cells = append(cells, ifKnown(seconds > 0, units.Duration(seconds)))
		}
		return append(cells, r.Check.Result)
	}
	cells := []string{
		ifKnown(r.Count >= 0, fmt.Sprint(r.Count)), units.Duration(t.Seconds), halfWidth(t.Seconds, t.Lo, t.Hi),
		ifKnown(r.HasAlgBW(), units.Gigabytes(r.AlgBW(t.Seconds))),
		ifKnown(r.HasBusBW(), units.Gigabytes(r.BusBW(t.Seconds))),
	}
	if ceiling.Known() {
		cells = append(cells, ifKnown(r.HasBusBW(), percent(ceiling.Share(r.BusBW(t.Seconds)))))
	}
	return append(cells, ifKnown(t.Iterations > 0, fmt.Sprint(t.Iterations)), r.Check.Result)
}

// percent writes a share, of which less than a tenth of a percent is no more than that.
func percent(share float64) string {
	if share > 0 && share < 0.0005 {
		return "<0.1"
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// ifKnown is a value, or the mark of one that is unknown.
func ifKnown(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

// pairs are the names and values of a map.
func pairs(of map[string]string) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		words = append(words, name+" "+of[name])
	}
	return strings.Join(words, ", ")
}

// notOKWords are status and reason.
func notOKWords(r *result.Record) string {
	text := string(r.Status)
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	if first := r.Check.First; first != nil {
		text += fmt.Sprintf(" (%s wrong; first on rank %d, host %s, index %d: expected %s, found %s)",
			units.Count(int(r.Check.Wrong), "element"), first.Rank, first.Host, first.Index, first.Want, first.Got)
	}
	return text
}

// halfWidth is half the confidence interval in percent of its value; "-" if it has no interval.
func halfWidth(value, lo, hi float64) string {
	if value <= 0 || lo <= 0 || hi < lo {
		return "-"
	}
	return fmt.Sprintf("%.1f", 50*(hi-lo)/value)
}
