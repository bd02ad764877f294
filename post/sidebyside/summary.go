package sidebyside

import (
	"fmt"

	"busbar/internal/coll"
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
	family := func(c *analysis.Curve) analysis.Condition { return analysis.FamilyOf(c.Condition) }
	for _, of := range units.GroupBy(f.curves, family) {
		table := document.NewTable("backend", "device", "ranks>", "size>", "launches>", "time>", "range>",
			"algbw GB/s>", "busbw GB/s>", "range is", "warning")
		d.Add(document.NewSection(family(of[0]).FamilyTitle(), table))
		for _, c := range of {
			for i := range c.Points {
				table.Row(f.summaryRow(c, i)...)
			}
		}
	}
	return d
}

// summaryRow is one size of a curve.
func (f *Results) summaryRow(c *analysis.Curve, i int) []string {
	p := &c.Points[i]
	bounds := ""
	if p.Basis != stats.NoBounds {
		bounds = units.Duration(p.Time.Lo) + " to " + units.Duration(p.Time.Hi)
	}
	return []string{
		f.name[c.Contender], deviceKind(c.Backend), analysis.ShapeOf(c.Condition).String(),
		coll.FormatSize(p.SizeBytes, true), fmt.Sprint(max(1, len(p.Launches))), units.Duration(p.Time.Value), bounds,
		units.Gigabytes(c.AlgBW(i)), units.Gigabytes(c.BusBW(i)), timeBounds[p.Basis], notice.Reason(c.Crowded),
	}
}

// timeBounds are what the bounds of a time are.
var timeBounds = map[stats.Basis]string{
	stats.WithinLaunch:   "95 % CI within one launch",
	stats.LaunchSpread:   fmt.Sprintf("minimum and maximum over launches; a 95 %% CI needs %d", stats.MinForInterval),
	stats.AcrossLaunches: "95 % CI over launches",
}
