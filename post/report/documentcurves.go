package report

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/units"
)

// curvesSection is a row for each curve, and on the page the plots of all.
func (r form) curvesSection() *document.Section {
	s := section("curves", "Curves")
	if r.page {
		s.Add(chart("curves-picture", "interactive plots of the curves"))
	}
	if len(r.charts.Curves) > 0 {
		each := section("each-curve", "Curve summary", r.curvesTable()...)
		if r.page {
			each.Fold = document.Folded
		}
		s.Add(each)
	}
	return s
}

// curvesTable has a row for each curve: the time of its smallest size and its largest bandwidth.
func (r form) curvesTable() []document.Block {
	t := document.NewTable("operation…", "contender", "ranks>", "sizes", "time, smallest size>",
		"largest busbw GB/s>", "at>", "% of peak>", "model…")
	var peaks []string
	for _, c := range r.charts.Curves {
		best, last := 0, len(c.Sizes)-1
		for i, size := range c.Sizes {
			if c.busBW(size, c.Time[i]) > c.busBW(c.Sizes[best], c.Time[best]) {
				best = i
			}
		}
		cells := []string{
			r.charts.Families[c.Family].Title, c.name(), c.shape.String(),
			size(c.Sizes[0]) + " to " + size(c.Sizes[last]),
			units.Duration(c.Time[0] / 1e6), "", "", "", c.model,
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
	t.DropEmpty()
	return append([]document.Block{t}, paragraphs(peaks)...)
}

// pointsSection is the table of points on the page, which its script makes.
func (r form) pointsSection() *document.Section {
	s := section("points", "Points")
	if r.page {
		s.Add(chart("points-picture", "table of all points"))
	}
	return s
}

// name is the contender with its marks.
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
