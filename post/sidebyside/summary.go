package sidebyside

import (
	"fmt"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// summary is the median over launches of every configuration.
func (f *Results) summary() *document.Document {
	d := &document.Document{Kind: "comparison", Title: "Summary by configuration"}
	if f.simulated() {
		n := notice.New(notice.SimulatedRuns{})
		d.Add(document.Callout{Severity: n.Severity, Text: n.Message()})
	}
	d.Add(document.Paragraph("Times are medians. Sizes are powers of 1024, GB/s are 1e9 bytes per second."))
	for _, family := range f.times.Families() {
		table := &document.Table{Columns: []document.Column{{Name: "backend"}, {Name: "device"}}}
		table.Columns = append(table.Columns, document.NumericColumns("ranks", "size", "launches", "time", "bounds",
			"algbw GB/s", "busbw GB/s")...)
		table.Columns = append(table.Columns, document.Column{Name: "bounds are"}, document.Column{Name: "warning"})
		d.Add(&document.Section{Title: family.FamilyTitle(), Blocks: []document.Block{table}})
		for _, who := range f.times.Contenders {
			for _, under := range f.times.Conditions(who, family) {
				table.Row(f.summaryRow(who, under)...)
			}
		}
	}
	return d
}

func (f *Results) summaryRow(who analysis.Contender, under analysis.Condition) []string {
	c := f.times.Cells[who][under]
	t, basis := c.Over()
	bounds := ""
	if basis != stats.NoBounds {
		bounds = units.Duration(t.Lo) + " to " + units.Duration(t.Hi)
	}
	shape := analysis.ShapeOf(under)
	return []string{
		f.name[who], deviceKind(who.Backend), shape.String(), under.Size(), fmt.Sprint(len(c.Launches)),
		units.Duration(t.Value), bounds, units.Gigabytes(under.AlgBW(t.Value)), units.Gigabytes(under.BusBW(t.Value)),
		timeBounds[basis], notice.Reason(f.times.Crowded(shape, who)),
	}
}

// timeBounds are what the bounds of a time are.
var timeBounds = map[stats.Basis]string{
	stats.WithinLaunch:   "95 % CI within one launch",
	stats.LaunchSpread:   fmt.Sprintf("minimum and maximum over launches; a 95 %% CI needs %d", stats.MinForInterval),
	stats.AcrossLaunches: "95 % CI over launches",
}
