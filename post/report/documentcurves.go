package report

import (
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/units"
)

// curvesSection is a row for each curve, and on the page the plots of all.
func (r form) curvesSection() *document.Section {
	s := &document.Section{ID: "curves", Title: "Curves"}
	if r.page {
		s.Add(chart("curves-picture", "interactive plots of the curves"))
	}
	if len(r.charts.Curves) > 0 {
		s.Add(&document.Section{
			ID: "each-curve", Title: "Each curve in one row", Fold: document.Folded, Blocks: r.curvesTable(),
		})
	}
	return s
}

// curvesTable has a row for each curve: the time of its smallest size and its largest bandwidth.
func (r form) curvesTable() []document.Block {
	t := table("operation~", "contender", "ranks>", "sizes", "time of the smallest>", "largest busbw GB/s>", "at>",
		"% of peak>")
	curves, left := upTo(r.charts.Curves, maxRows)
	var peaks []string
	for _, c := range curves {
		best, last := 0, len(c.Sizes)-1
		for i, size := range c.Sizes {
			if c.busBW(size, c.Time[i]) > c.busBW(c.Sizes[best], c.Time[best]) {
				best = i
			}
		}
		cells := []string{
			r.charts.Families[c.Family].Title, c.name(), c.shape.String(), size(c.Sizes[0]) + " to " + size(c.Sizes[last]),
			units.Duration(c.Time[0] / 1e6), "", "", "",
		}
		if r.charts.Families[c.Family].Mode == coll.Throughput.String() {
			seconds := c.Time[best] / 1e6
			cells[5], cells[6] = units.Gigabytes(c.busBW(c.Sizes[best], seconds)), size(c.Sizes[best])
			cells[7] = c.share(c.Sizes[best], seconds)
		}
		t.Row(cells...)
		if c.peakNote != "" {
			peaks = units.AddOnce(peaks, units.Capital(c.peakNote)+".")
		}
	}
	return slices.Concat([]document.Block{t}, r.more(left, "curve"), paragraphs(peaks))
}

// pointsSection is the table of points on the page, which its script makes.
func (r form) pointsSection() *document.Section {
	s := &document.Section{ID: "points", Title: "Points"}
	if r.page {
		s.Add(chart("points-picture", "table of all points"))
	}
	return s
}

// name is the contender with what its values are to be read with.
func (c *curve) name() string {
	name := c.Who
	if c.Simulated {
		name += " (simulated)"
	}
	if c.Imported {
		name += " (imported)"
	}
	if c.Crowded {
		name += " (oversubscribed)"
	}
	return name
}

// share is the bus bandwidth as a share of the peak; "" where none is known.
func (c *curve) share(size int64, seconds float64) string {
	if c.Peak == nil {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*c.busBW(size, seconds)/1e9/c.Peak.GBps)
}

// modelsText is what a table of models is to be read with.
const modelsText = "Model: time = latency + size / bandwidth, or several such pieces in a row. Bandwidth is what the " +
	"largest sizes approach, as busbw; n½ is the size that reaches half of it. Values that the measured sizes do not " +
	"determine are left empty. Uncertainties of one launch come from the residuals; another launch may differ by more."

func (r form) modelsSection() *document.Section {
	s := &document.Section{ID: "models", Title: "Models"}
	t := table("operation~", "contender", "ranks>", "latency>", "bandwidth>", "n½>", "pieces from", "scatter>",
		"bounds")
	without := 0
	for _, c := range r.charts.Curves {
		m := &c.model
		if len(m.Laws) == 0 {
			without++
			continue
		}
		t.Row(
			r.charts.Families[c.Family].Title, c.name(), c.shape.String(), m.LatencyWords(), m.BandwidthWords(), m.HalfWords(),
			m.ChangeWords(), m.NoiseWords(), m.Bounds().String(),
		)
	}
	if len(t.Rows) == 0 {
		return s
	}
	left := 0
	t.Rows, left = upTo(t.Rows, maxRows)
	s.Add(document.Paragraph(modelsText), t)
	s.Add(r.more(left, "model")...)
	if without > 0 {
		s.Add(document.Paragraph(units.Count(without, "curve") +
			" without a model: fewer than five sizes, residuals over 25 %, simulated, or oversubscribed."))
	}
	return s
}

// ranksSection is a map of the ranks' times, on the page.
func (r form) ranksSection() *document.Section {
	s := &document.Section{ID: "ranks", Title: "Ranks"}
	if r.page && len(r.charts.Heats) > 0 {
		s.Add(chart("ranks-picture", "map of ranks and sizes"))
	}
	return s
}
