package sidebyside

import (
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/footnote"
	"busbar/post/say"
)

// summary is the median over launches of every configuration, with its ratio to the first contender.
func (f *Results) summary() *document.Document {
	d := &document.Document{Kind: "comparison", Title: "Summary by configuration"}
	if f.simulated() {
		n := notice.New(notice.SimulatedRuns{})
		d.Add(document.Callout{Severity: n.Severity, Text: n.Message()})
	}
	d.Add(document.Paragraph("Times are medians. Sizes are powers of 1024, GB/s are 1e9 bytes per second."))
	notes := &footnote.List{Shows: func(notice.Code) bool { return true }, Report: func(notice.Fact) {}}
	var table *document.Table
	var family analysis.Condition
	for _, c := range f.curves {
		if table == nil || analysis.FamilyOf(c.Condition) != family {
			family = analysis.FamilyOf(c.Condition)
			table = &document.Table{Columns: []document.Column{{Name: "backend"}, {Name: "device"}}}
			table.Columns = append(table.Columns, document.NumericColumns("ranks", "size", "launches", "time", "bounds",
				"algbw GB/s", "busbw GB/s", "ratio to "+f.name[f.reference()])...)
			table.Columns = append(table.Columns, document.Column{Name: "notes"})
			d.Add(&document.Section{Title: family.FamilyTitle(), Blocks: []document.Block{table}})
		}
		base := curveOf(f.curves, f.reference(), c.Condition)
		for i := range c.Points {
			table.Row(f.summaryRow(notes, c, i, base)...)
		}
	}
	d.Add(notes.Blocks()...)
	return d
}

// reference is the contender that the others are compared with.
func (f *Results) reference() analysis.Contender {
	return slices.MinFunc(f.curves, func(a, b *analysis.Curve) int {
		return analysis.CompareContenders(a.Contender, b.Contender)
	}).Contender
}

// summaryRow is one size of a curve; base is the curve of the reference, or nil.
func (f *Results) summaryRow(notes *footnote.List, c *analysis.Curve, i int, base *analysis.Curve) []string {
	p := &c.Points[i]
	var warnings notice.List
	var about []string
	var bounds, ratio string
	if p.Basis != stats.NoBounds {
		bounds = units.Duration(p.Time.Lo) + " to " + units.Duration(p.Time.Hi)
		about = append(about, timeBounds[p.Basis])
	}
	switch {
	case c.Crowded != nil:
		warnings.Add(c.Crowded)
	case c.Contender == f.reference():
		ratio = "1 (reference)"
	case base != nil && base.Crowded == nil:
		for at, j := range analysis.Shared(c, base) {
			if at != i {
				continue
			}
			r := analysis.Ratio(c, i, base, j)
			ratio, about = units.Times(r.Value), append(about, "ratio, "+say.Basis(r))
			if r.Basis != stats.NoBounds {
				ratio += " (" + say.Span(r) + ")"
			}
		}
	}
	return []string{
		f.name[c.Contender], deviceKind(c.Backend), analysis.ShapeOf(c.Condition).String(),
		coll.FormatSize(p.SizeBytes, true), fmt.Sprint(max(1, len(p.Launches))),
		units.Duration(p.Time.Value), bounds, units.Gigabytes(c.AlgBW(i)), units.Gigabytes(c.BusBW(i)),
		ratio, notes.Marks(warnings, about...),
	}
}

// timeBounds explain the bounds of a time.
var timeBounds = map[stats.Basis]string{
	stats.WithinLaunch: "time, bounds: 95 % CI of the median within one launch; other launches may differ by more",
	stats.LaunchSpread: fmt.Sprintf(
		"time, bounds: minimum and maximum over launches; a 95 %% CI needs %d launches", stats.MinForInterval),
	stats.AcrossLaunches: "time, bounds: 95 % CI of the median over launches",
}
