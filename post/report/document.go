package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// Bounds of the Markdown form, which is read in a terminal and in merge requests.
const (
	maxMarkdownPoints = 1500 // more of them, and each curve has one row
	maxMarkdownCurves = 400
	maxMarkdownHeats  = 6
	maxMarkdownRuns   = 100
	maxMarkdownRows   = 40 // of a table about timelines
)

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error { return r.Document().Write(w, document.Markdown) }

// Document is the report without its charts.
func (r *Report) Document() *document.Document {
	d := &document.Document{Kind: "report", Title: r.Title}
	d.Add(document.Paragraph(fmt.Sprintf("%s, %s.", cmp.Or(r.Tool, "post"), r.Made)))
	for _, b := range r.Banners {
		d.Add(document.Callout(b.Message))
	}
	sections := []*document.Section{r.inShort(), r.timelineSection()}
	if r.Measured() {
		sections = append(sections, r.results()...)
	}
	for _, s := range append(sections, r.filesSection()) {
		if s != nil && len(s.Blocks) > 0 {
			d.Add(s)
		}
	}
	return d
}

// Summary is the banners and headlines alone, for a terminal.
func (r *Report) Summary() *document.Document {
	d := &document.Document{Kind: "report"}
	for _, b := range r.Banners {
		d.Add(document.Callout(b.Message))
	}
	var list document.List
	for _, h := range r.Headlines {
		list = append(list, h.Message)
	}
	d.Add(list)
	return d
}

// results are all that is about what rank measured.
func (r *Report) results() []*document.Section {
	all := []*document.Section{r.planSection(), r.stepsSection()}
	method := factsSection("How every figure was taken", r.Method)
	if r.Collectives() {
		all = append(all, r.findingsSection(), r.modelsSection())
		all = append(all, r.pointSections()...)
		all = append(all, r.ranksSection())
		method.Add(document.Paragraph(unitsSay))
	}
	return append(all, r.qualitySection(), method, factsSection("Environment", r.Environment), r.runsSection())
}

// unitsSay is what all tables are to be read with.
const unitsSay = "Sizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians. algbw is size / time; busbw is " +
	"algbw times a factor of the collective and the number of ranks."

// table has columns of these names; those of names that end in > have values, which are aligned at the right.
func table(names ...string) *document.Table {
	t := &document.Table{}
	for _, name := range names {
		name, right := strings.CutSuffix(name, ">")
		t.Columns = append(t.Columns, document.Column{Name: name, Right: right})
	}
	return t
}

// more states how many entries only the page has; nothing where there are none.
func more(n int, noun string) []document.Block {
	if n <= 0 {
		return nil
	}
	return []document.Block{document.Paragraph(fmt.Sprintf("And %s, on the page.", units.Count(n, "more "+noun)))}
}

func paragraphs(texts []string) (all []document.Block) {
	for _, t := range texts {
		all = append(all, document.Paragraph(t))
	}
	return all
}

func (r *Report) inShort() *document.Section {
	s := &document.Section{Title: "In short"}
	if len(r.Headlines) == 0 {
		s.Add(document.Paragraph(NoHeadline))
	}
	var items document.Items
	for _, h := range r.Headlines {
		item := document.Item{Text: h.Message}
		if h.Severity > notice.Info {
			item.Label = h.Severity.String()
		}
		if h.Finding > 0 {
			item.Text += fmt.Sprintf(" (finding %d)", h.Finding)
		}
		items.All = append(items.All, item)
	}
	for _, t := range r.LeftOut {
		items.All = append(items.All, document.Item{Text: "Left out here: " + t})
	}
	s.Add(items)
	return s
}

func (r *Report) planSection() *document.Section {
	p := &r.Plan
	planned := "The plan is not recorded."
	if p.Planned > 0 {
		planned = units.Count(p.Planned, "point") + " planned"
		if p.Left > 0 {
			planned += fmt.Sprintf(", %d without a record", p.Left)
		}
		planned += "."
	}
	s := &document.Section{Title: "Plan and done"}
	s.Add(document.Paragraph(fmt.Sprintf("%s %s.", planned, units.Capital(countsWords(p.Counts)))))
	for _, n := range p.Notices {
		s.Add(document.Paragraph(n.Message))
	}
	return s
}

func countsWords(counts []Count) string {
	var words []string
	for _, c := range counts {
		words = append(words, fmt.Sprintf("%d %s", c.N, c.Text))
	}
	return strings.Join(words, ", ")
}

func (r *Report) findingsSection() *document.Section {
	s := &document.Section{Title: "Findings"}
	if len(r.Findings) == 0 {
		s.Add(document.Paragraph(r.NoFinding()))
	}
	tried := map[Hint]int{} // the finding under which a hint is whole
	items := document.Items{Numbered: true}
	for _, f := range r.Findings {
		item := document.Item{
			Label: fmt.Sprintf("%s, %s", f.Severity, f.Code),
			Text:  f.Message,
			Below: paragraphs(f.Evidence),
		}
		for _, h := range f.Hints {
			if first := tried[h]; first > 0 {
				item.Below = append(
					item.Below,
					document.Paragraph(fmt.Sprintf("Try%s, as under finding %d", h.setting(), first)),
				)
				continue
			}
			tried[h] = f.Number
			item.Below = append(
				item.Below,
				document.Paragraph(fmt.Sprintf("Try%s: %s (%s)", h.setting(), h.Says, h.Source)),
			)
			if h.Sweep != "" {
				item.Below = append(item.Below, document.Code(h.Sweep))
			}
		}
		items.All = append(items.All, item)
	}
	s.Add(items)
	return s
}

// setting is a variable with its value, behind a space; "" where a hint has none.
func (h Hint) setting() string {
	switch {
	case h.Variable == "":
		return ""
	case h.Value == "":
		return " " + h.Variable
	}
	return fmt.Sprintf(" %s=%s", h.Variable, h.Value)
}

func (r *Report) modelsSection() *document.Section {
	s := &document.Section{Title: "Models"}
	if len(r.Models) == 0 {
		return s
	}
	t := table("operation", "contender", "ranks>", "latency>", "bandwidth>", "n½>", "other laws from", "scatter>",
		"bounds")
	for _, one := range r.Models[:min(len(r.Models), maxMarkdownCurves)] {
		c := r.Curves[one.Curve]
		t.Row(
			r.Families[c.Family].Title,
			c.name(),
			ranksOf(c),
			one.Latency,
			one.Bandwidth,
			one.Half,
			one.Changes,
			one.Scatter,
			one.Bounds,
		)
	}
	s.Add(document.Paragraph(modelsSay), t)
	s.Add(more(len(r.Models)-maxMarkdownCurves, "model")...)
	if words := r.unmodelled(); words != "" {
		s.Add(document.Paragraph(words))
	}
	return s
}

// boundsSay is what the tables of points are to be read with.
const boundsSay = "Bounds of one launch are the 95 % CI of its median; another launch may differ by more. Of two to five launches " +
	"they are the minimum and the maximum, of six or more the 95 % CI of the median over launches."

// pointSections are the points by collective, or where they are many, a row for each curve.
func (r *Report) pointSections() (all []*document.Section) {
	points := 0
	for _, c := range r.Curves {
		points += len(c.Time)
	}
	switch {
	case points == 0:
		return nil
	case points > maxMarkdownPoints:
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

func (r *Report) addPoints(t *document.Table, number int, latency bool) {
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
		name += " (rehearsed)"
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

// curvesSection has a row for each curve, the fastest place of each.
func (r *Report) curvesSection() *document.Section {
	t := table("operation", "contender", "ranks>", "sizes", "time of the smallest>", "largest busbw GB/s>", "at>",
		"% of peak>")
	for _, c := range r.Curves[:min(len(r.Curves), maxMarkdownCurves)] {
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
	s := &document.Section{Title: "Curves"}
	s.Add(
		document.Paragraph(
			"There are too many points for this form: each curve has the time of its smallest size and its "+
				"largest bandwidth. The page has the points.",
		),
		t,
	)
	s.Add(more(len(r.Curves)-maxMarkdownCurves, "curve")...)
	return s
}
