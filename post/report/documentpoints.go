package report

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/units"
)

// boundsSay is what the tables of points are to be read with.
const boundsSay = "Bounds of one launch are the 95 % CI of its median; another launch may differ by more. Of two to five launches " +
	"they are the minimum and the maximum, of six or more the 95 % CI of the median over launches."

// pointSections are the points: on the page one table that the script draws, else by collective, or where they are many, a row
// for each curve.
func (r form) pointSections() (all []*document.Section) {
	points := 0
	for _, c := range r.Curves {
		points += len(c.Time)
	}
	switch {
	case r.page:
		return []*document.Section{{ID: "points", Title: "Points", Blocks: []document.Block{chart("points-picture", "table of all points")}}}
	case points == 0:
		return nil
	case points > r.points:
		return []*document.Section{r.curvesSection()}
	}
	for i, family := range r.Families {
		latency := family.Mode == coll.Latency.String()
		names := []string{"contender", "ranks>", "size>", "launches>", "time>", "bounds>"}
		if !latency {
			names = append(names, "algbw GB/s>", "busbw GB/s>", "% of peak>")
		}
		t := table(append(names, "notes")...)
		for n, c := range r.Curves {
			if c.Family == i {
				r.addPoints(t, n, latency)
			}
		}
		s := &document.Section{Title: family.Title}
		s.Add(t)
		s.Add(paragraphs(r.peaksOf(i))...)
		all = append(all, s)
	}
	all[len(all)-1].Add(document.Paragraph(boundsSay))
	return all
}

// peaksOf are where the peaks of a family come from.
func (r *Report) peaksOf(family int) (said []string) {
	for _, c := range r.Curves {
		words := ""
		switch {
		case c.Family != family:
		case c.Ceiling >= 0:
			one := r.Ceilings[c.Ceiling]
			words = "Peak: " + one.Text
			if one.Source != "" {
				words += " (" + one.Source + ")"
			}
		case c.Unknown >= 0:
			words = r.Notes[c.Unknown]
		}
		if words = units.Capital(words) + "."; words != "." && !slices.Contains(said, words) {
			said = append(said, words)
		}
	}
	return said
}

func (r form) addPoints(t *document.Table, number int, latency bool) {
	c := r.Curves[number]
	for i := range c.Time {
		size, seconds := r.Axes[c.Axis][i], c.Time[i]/1e6
		bounds := ""
		if c.basis(i) > 0 {
			bounds = units.Duration(c.Lo[i]/1e6) + " to " + units.Duration(c.Hi[i]/1e6)
		}
		cells := []string{
			c.name(), ranksOf(c), coll.FormatSize(size, true), fmt.Sprint(at(c.Launches, i)), units.Duration(seconds), bounds,
		}
		if !latency {
			algBW, busBW := units.Gigabytes(float64(size)/seconds), units.Gigabytes(c.busBW(size, seconds))
			cells = append(cells, algBW, busBW, r.share(c, size, seconds))
		}
		t.Row(append(cells, r.notesOn(number, i))...)
	}
}

func (c Curve) busBW(size int64, seconds float64) float64 { return c.Factor * float64(size) / seconds }

func (c Curve) basis(i int) int {
	if len(c.Lo) == 0 {
		return 0
	}
	return at(c.Bases, i)
}

// at is the number of a point, where one may stand for all.
func at(numbers []int, i int) int {
	if len(numbers) == 1 {
		return numbers[0]
	}
	return numbers[i]
}

// name is the contender with what its figures are to be read with.
func (c Curve) name() string {
	name := c.Who
	if c.Rehearsed {
		name += " (simulated)"
	}
	if c.Imported != "" {
		name += " (imported)"
	}
	if c.Crowded != "" {
		name += " (oversubscribed)"
	}
	return name
}

func ranksOf(c Curve) string {
	if c.Nodes > 1 {
		return fmt.Sprintf("%d on %d nodes", c.World, c.Nodes)
	}
	return fmt.Sprint(c.World)
}

func (r *Report) share(c Curve, size int64, seconds float64) string {
	if c.Ceiling < 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*c.busBW(size, seconds)/1e9/r.Ceilings[c.Ceiling].GBps)
}

func (r *Report) notesOn(number, i int) string {
	c := &r.Curves[number]
	var notes []string
	for _, mark := range c.Marks {
		if mark.Point == i {
			notes = append(notes, r.Notes[mark.Note])
		}
	}
	if len(c.Paths) > 0 && c.Paths[i] >= 0 {
		notes = append(notes, r.Notes[c.Paths[i]])
	}
	for _, f := range r.Findings {
		if f.covers(number, r.Axes[c.Axis][i]) {
			notes = append(notes, fmt.Sprintf("finding %d", f.Number))
		}
	}
	return strings.Join(notes, "; ")
}

// covers says whether a finding was made at a size of a curve.
func (f Finding) covers(curve int, size int64) bool {
	return slices.ContainsFunc(f.places(), func(p Place) bool {
		return p.Curve == curve && p.From <= size && size <= p.To
	})
}

// curvesSection is the plots of curves on the page, and a row for each curve.
func (r form) curvesSection() *document.Section {
	s := &document.Section{ID: "curves", Title: "Curves"}
	if !r.page {
		s.Add(document.Paragraph("Too many points for this form: report.html and merged.csv (post merge) have them."))
		s.Add(r.curvesTable()...)
		return s
	}
	s.Add(chart("curves-picture", "interactive plots of the curves"))
	if len(r.Curves) > 0 {
		s.Add(&document.Section{ID: "each-curve", Title: "Each curve in one row", Fold: document.Folded, Blocks: r.curvesTable()})
	}
	return s
}

// curvesTable has a row for each curve: the time of its smallest size and its largest bandwidth.
func (r form) curvesTable() []document.Block {
	t := table("operation~", "contender", "ranks>", "sizes", "time of the smallest>", "largest busbw GB/s>", "at>",
		"% of peak>")
	curves, left := upTo(r.Curves, r.curves)
	for _, c := range curves {
		axis := r.Axes[c.Axis]
		best := 0
		for i := range c.Time {
			if c.busBW(axis[i], c.Time[i]) > c.busBW(axis[best], c.Time[best]) {
				best = i
			}
		}
		seconds := c.Time[best] / 1e6
		sizes := coll.FormatSize(axis[0], true) + " to " + coll.FormatSize(axis[len(axis)-1], true)
		cells := []string{
			r.Families[c.Family].Title, c.name(), ranksOf(c), sizes, units.Duration(c.Time[0] / 1e6), "", "", "",
		}
		if r.Families[c.Family].Mode == coll.Throughput.String() {
			cells[5], cells[6] = units.Gigabytes(c.busBW(axis[best], seconds)), coll.FormatSize(axis[best], true)
			cells[7] = r.share(c, axis[best], seconds)
		}
		t.Row(cells...)
	}
	return append([]document.Block{t}, r.more(left, "curve")...)
}
