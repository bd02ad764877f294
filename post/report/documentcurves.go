package report

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/units"
)

// curvesSection is the plots of curves on the page, and a row for each curve where the points have no tables.
func (r form) curvesSection() *document.Section {
	s := &document.Section{ID: "curves", Title: "Curves"}
	switch {
	case r.page:
		s.Add(chart("curves-picture", "interactive plots of the curves"))
		if len(r.charts.Curves) > 0 {
			s.Add(&document.Section{
				ID: "each-curve", Title: "Each curve in one row", Fold: document.Folded, Blocks: r.curvesTable(),
			})
		}
	case r.Totals.Points > maxPointRows:
		s.Add(document.Paragraph("Too many points for this form: report.html and merged.csv (post merge) have them."))
		s.Add(r.curvesTable()...)
	}
	return s
}

// curvesTable has a row for each curve: the time of its smallest size and its largest bandwidth.
func (r form) curvesTable() []document.Block {
	t := table("operation~", "contender", "ranks>", "sizes", "time of the smallest>", "largest busbw GB/s>", "at>",
		"% of peak>")
	curves, left := upTo(r.charts.Curves, maxRows)
	for _, c := range curves {
		best, last := 0, len(c.Sizes)-1
		for i, size := range c.Sizes {
			if c.busBW(size, c.Time[i]) > c.busBW(c.Sizes[best], c.Time[best]) {
				best = i
			}
		}
		cells := []string{
			r.charts.Families[c.Family].Title, c.name(), c.ranks(), size(c.Sizes[0]) + " to " + size(c.Sizes[last]),
			units.Duration(c.Time[0] / 1e6), "", "", "",
		}
		if r.charts.Families[c.Family].Mode == coll.Throughput.String() {
			seconds := c.Time[best] / 1e6
			cells[5], cells[6] = units.Gigabytes(c.busBW(c.Sizes[best], seconds)), size(c.Sizes[best])
			cells[7] = c.share(c.Sizes[best], seconds)
		}
		t.Row(cells...)
	}
	return append([]document.Block{t}, r.more(left, "curve")...)
}

// boundsText is what the tables of points are to be read with.
const boundsText = "Bounds of one launch are the 95 % CI of its median; another launch may differ by more. Of two to " +
	"five launches they are the minimum and the maximum, of six or more the 95 % CI of the median over launches."

// pointSections are the points: on the page one table that the script draws, else tables by operation.
func (r form) pointSections() (all []*document.Section) {
	if r.page {
		points := chart("points-picture", "table of all points")
		return []*document.Section{{ID: "points", Title: "Points", Blocks: []document.Block{points}}}
	}
	if r.Totals.Points > maxPointRows {
		return nil
	}
	for i, family := range r.charts.Families {
		latency := family.Mode == coll.Latency.String()
		names := []string{"contender", "ranks>", "size>", "launches>", "time>", "bounds>"}
		if !latency {
			names = append(names, "algbw GB/s>", "busbw GB/s>", "% of peak>")
		}
		t := table(append(names, "notes")...)
		var peaks []string
		for n, c := range r.charts.Curves {
			if c.Family != i {
				continue
			}
			r.addPoints(t, n, latency)
			if c.peakNote != "" {
				peaks = units.AddOnce(peaks, units.Capital(c.peakNote)+".")
			}
		}
		blocks := append([]document.Block{t}, paragraphs(peaks)...)
		all = append(all, &document.Section{Title: family.Title, Blocks: blocks})
	}
	if all != nil {
		all[len(all)-1].Add(document.Paragraph(boundsText))
	}
	return all
}

func (r form) addPoints(t *document.Table, number int, latency bool) {
	c := &r.charts.Curves[number]
	for i, bytes := range c.Sizes {
		seconds, bounds := c.Time[i]/1e6, ""
		if c.Bases[i] > 0 {
			bounds = units.Duration(c.Lo[i]/1e6) + " to " + units.Duration(c.Hi[i]/1e6)
		}
		cells := []string{c.name(), c.ranks(), size(bytes), fmt.Sprint(c.Launches[i]), units.Duration(seconds), bounds}
		if !latency {
			algBW, busBW := units.Gigabytes(float64(bytes)/seconds), units.Gigabytes(c.busBW(bytes, seconds))
			cells = append(cells, algBW, busBW, c.share(bytes, seconds))
		}
		t.Row(append(cells, r.notesOn(number, i))...)
	}
}

// notesOn are the notes on a point.
func (r form) notesOn(number, i int) string {
	c := &r.charts.Curves[number]
	var notes []string
	if c.Notes != nil {
		for _, n := range c.Notes[i] {
			notes = append(notes, r.charts.Notes[n])
		}
	}
	for _, at := range r.charts.Regions {
		if at.Curve == number && at.From <= c.Sizes[i] && c.Sizes[i] <= at.To {
			notes = units.AddOnce(notes, fmt.Sprintf("finding %d", at.Number))
		}
	}
	return strings.Join(notes, "; ")
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

func (c *curve) ranks() string {
	if c.nodes > 1 {
		return fmt.Sprintf("%d on %d nodes", c.World, c.nodes)
	}
	return fmt.Sprint(c.World)
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
		t.Row(append(append([]string{r.charts.Families[c.Family].Title, c.name(), c.ranks()}, m.Cells()...),
			m.Bounds().String())...)
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

// maxHeatRows is how many curves are listed with the ranks that stand out.
const maxHeatRows = 20

// ranksText is what the table of ranks is to be read with.
const ranksText = "Each rank's median time relative to the median of all ranks, over the sizes of the curve, from " +
	"1 % on. In a collective that makes ranks wait for each other, all take as long as the slowest: see also which " +
	"ranks issue last."

// ranksSection has the slowest ranks of the curves whose ranks are furthest apart, and the page a map of all of them.
func (r form) ranksSection() *document.Section {
	s := &document.Section{ID: "ranks", Title: "Ranks"}
	if len(r.charts.Heats) == 0 {
		return s
	}
	if r.page {
		s.Add(chart("ranks-picture", "map of ranks and sizes"))
	}
	t := table("curve", "ranks that take longest", "ranks that issue last")
	for _, h := range r.charts.Heats {
		if c := r.charts.Curves[h.Curve]; h.Slowest+h.Latest != "" {
			t.Row(r.charts.Families[c.Family].Title+", "+c.Label, h.Slowest, h.Latest)
		}
	}
	left := 0
	t.Rows, left = upTo(t.Rows, maxHeatRows)
	s.Add(document.Paragraph(ranksText), t)
	s.Add(r.more(left, "curve")...)
	return s
}
