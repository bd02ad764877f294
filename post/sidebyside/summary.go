package sidebyside

import (
	"fmt"

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
	for _, family := range f.times.Families() {
		table := &document.Table{Columns: []document.Column{{Name: "backend"}, {Name: "device"}}}
		table.Columns = append(table.Columns, document.NumericColumns("ranks", "size", "launches", "time", "bounds",
			"algbw GB/s", "busbw GB/s", "ratio to "+f.name[f.times.Contenders[0]])...)
		table.Columns = append(table.Columns, document.Column{Name: "notes"})
		d.Add(&document.Section{Title: family.FamilyTitle(), Blocks: []document.Block{table}})
		for _, who := range f.times.Contenders {
			for _, under := range f.times.Conditions(who, family) {
				table.Row(f.summaryRow(notes, who, under)...)
			}
		}
	}
	d.Add(notes.Blocks()...)
	return d
}

func (f *Results) summaryRow(notes *footnote.List, who analysis.Contender, under analysis.Condition) []string {
	c, first := f.times.Cells[who][under], f.times.Contenders[0]
	t, basis := c.Over()
	var warnings notice.List
	var about []string
	var bounds, ratio string
	if basis != stats.NoBounds {
		bounds = units.Duration(t.Lo) + " to " + units.Duration(t.Hi)
		about = append(about, timeBounds[basis])
	}
	base, shape := f.times.Cells[first][under], analysis.ShapeOf(under)
	switch why := f.times.Crowded(shape, who); {
	case why != nil:
		warnings.Add(why)
	case who == first:
		ratio = "1 (reference)"
	case base != nil && f.times.Crowded(shape, first) == nil:
		r := analysis.Ratio(c, base)
		ratio, about = units.Times(r.Value), append(about, "ratio, "+say.Basis(r))
		if r.Basis != stats.NoBounds {
			ratio += " (" + say.Span(r) + ")"
		}
	}
	return []string{
		f.name[who], deviceKind(who.Backend), shape.String(), under.Size(), fmt.Sprint(len(c.Launches)),
		units.Duration(t.Value), bounds, units.Gigabytes(under.AlgBW(t.Value)), units.Gigabytes(under.BusBW(t.Value)),
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
