package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// limits are how much of a report stands in one of its forms.
type limits struct {
	points int // more of them, and each curve has one row
	curves int
	heats  int
	runs   int
	files  int
	rows   int  // of a table about steps or timelines
	page   bool // the form has charts, and can hide
}

// The Markdown form is read in a terminal and in merge requests.
var (
	markdownLimits = limits{points: 1500, curves: 400, heats: 6, runs: 100, files: 100, rows: 40}
	pageLimits     = limits{curves: 1000, heats: math.MaxInt, runs: math.MaxInt, files: math.MaxInt, rows: 300, page: true}
)

// form is a report as it is written.
type form struct {
	*Report
	limits
}

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	return form{r, markdownLimits}.document().Write(w, document.Markdown)
}

func (r form) document() *document.Document {
	d := &document.Document{Kind: "report", Tool: r.Tool, Title: r.Title}
	d.Add(document.Paragraph(r.about()))
	for _, b := range r.Banners {
		d.Add(document.Callout{Severity: b.Severity, Text: inWords(b)})
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

// about is which post wrote the report, when, and about how much.
func (r form) about() string {
	words := []string{fmt.Sprintf("%s, %s UTC", cmp.Or(r.Tool, "post"), moment(r.Made))}
	if r.Measured() {
		words = append(words, units.Count(r.Totals.Runs, "run"))
		if r.Collectives() {
			words = append(words, units.Count(r.Totals.Curves, "curve"), units.Count(r.Totals.Points, "point"))
		}
	}
	if r.Steps != nil {
		words = append(words, units.Count(r.Totals.Steps, "point")+" of training steps")
	}
	return strings.Join(words, " · ")
}

// moment writes a time of RFC 3339 in UTC.
func moment(t string) string { return strings.TrimSuffix(strings.Replace(t, "T", " ", 1), "Z") }

// Summary is the banners and headlines alone, for a terminal.
func (r *Report) Summary() *document.Document {
	d := &document.Document{Kind: "report"}
	for _, b := range r.Banners {
		d.Add(document.Callout{Severity: b.Severity, Text: inWords(b)})
	}
	var list document.List
	for _, h := range r.Headlines {
		list = append(list, h.words())
	}
	d.Add(list)
	return d
}

// results are all that is about what rank measured.
func (r form) results() []*document.Section {
	all := []*document.Section{r.planSection(), r.stepsSection()}
	method := factsSection("method", "Method", r.Method)
	if r.Collectives() {
		if r.page {
			all = append(all, r.curvesSection())
		}
		all = append(all, r.findingsSection(), r.modelsSection())
		all = append(all, r.pointSections()...)
		all = append(all, r.ranksSection())
		method.Add(document.Paragraph(unitsSay))
	}
	return append(
		all, r.qualitySection(), method, factsSection("environment", "Environment", r.Environment), r.runsSection(),
	)
}

// unitsSay is what all tables are to be read with.
const unitsSay = "Sizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians. algbw is size / time; busbw is " +
	"algbw times a factor of the collective and the number of ranks."

// table has columns of these names: those that end in > have values, which are aligned at the right, those that end in ~ long
// texts.
func table(names ...string) *document.Table {
	t := &document.Table{}
	for _, name := range names {
		name, right := strings.CutSuffix(name, ">")
		name, long := strings.CutSuffix(name, "~")
		t.Columns = append(t.Columns, document.Column{Name: name, Right: right, Wrap: long})
	}
	return t
}

// more states how many entries are left out; nothing where there are none.
func (r form) more(n int, noun string) []document.Block {
	if n <= 0 {
		return nil
	}
	where := ", in report.html"
	if r.page {
		where = ", in merged.csv (post merge)"
	}
	return []document.Block{document.Paragraph("And " + units.Count(n, "more "+noun) + where + ".")}
}

// upTo is the first entries of a list, and how many further ones there are.
func upTo[T any](all []T, most int) ([]T, int) {
	n := min(len(all), most)
	return all[:n], len(all) - n
}

func paragraphs(texts []string) (all []document.Block) {
	for _, t := range texts {
		all = append(all, document.Paragraph(t))
	}
	return all
}

func (r form) inShort() *document.Section {
	s := &document.Section{ID: "short", Title: "In short"}
	if len(r.Headlines) == 0 {
		s.Add(document.Paragraph(NoHeadline))
	}
	var items document.Items
	for _, h := range r.Headlines {
		item := document.Item{Severity: h.Severity, Text: h.words()}
		if h.Severity > notice.Info {
			item.Label = h.Severity.String()
		}
		if h.Finding > 0 {
			item.Ref = document.Link{Name: fmt.Sprintf("finding %d", h.Finding), Href: "#" + findingID(h.Finding)}
		}
		items.All = append(items.All, item)
	}
	for _, s := range leftOut(r.LeftOut) {
		items.All = append(items.All, document.Item{Text: s})
	}
	s.Add(items)
	return s
}

// inWords is a notice in whole sentences, with its details and advice.
func inWords(n notice.Notice) string {
	words := []string{n.Sentence()}
	if _, is := n.Fact.(notice.Straggler); !is { // whose details have a section
		words = append(words, n.Details()...)
	}
	if do := notice.ToDo(n.Fact); do != "" {
		words = append(words, do)
	}
	return strings.Join(words, " ")
}

// words are a headline in sentences; the details of a finding are where it is listed.
func (h Headline) words() string {
	if h.Finding > 0 {
		return h.Sentence()
	}
	return inWords(h.Notice)
}

// leftOut are the sentences about what a report has no room for.
func leftOut(all []notice.ReportLeftOut) (texts []string) {
	for _, fact := range all {
		texts = append(texts, notice.Sentence(fact))
	}
	return texts
}

// findingID is where a finding is on the page.
func findingID(number int) string { return fmt.Sprintf("finding-%d", number) }

func (r form) planSection() *document.Section {
	p := &r.Plan
	planned := "The plan is not recorded."
	if p.Planned > 0 {
		planned = units.Count(p.Planned, "point") + " planned"
		if p.Left > 0 {
			planned += fmt.Sprintf(", %d without a record", p.Left)
		}
		planned += "."
	}
	s := &document.Section{ID: "plan", Title: "Plan and done"}
	s.Add(document.Paragraph(fmt.Sprintf("%s %s.", planned, units.Capital(countsWords(p.Counts)))))
	for _, n := range p.Notices {
		s.Add(document.Paragraph(inWords(n)))
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

func (r form) findingsSection() *document.Section {
	s := &document.Section{ID: "findings", Title: "Findings"}
	if len(r.Findings) == 0 {
		s.Add(document.Paragraph(r.NoFinding()))
	}
	tried := map[Hint]int{} // the finding under which a hint is whole
	items := document.Items{Numbered: true}
	for _, f := range r.Findings {
		item := document.Item{
			ID: findingID(f.Number), Severity: f.Severity, Label: fmt.Sprintf("%s, %s", f.Severity, f.Code()), Text: f.Sentence(),
			Below: paragraphs(f.Evidence),
		}
		if len(f.Hints) > 0 {
			hints := &document.Section{Title: fmt.Sprintf("What to try (%d)", len(f.Hints)), Fold: document.Folded}
			for _, h := range f.Hints {
				hints.Add(h.blocks(tried[h])...)
				tried[h] = cmp.Or(tried[h], f.Number)
			}
			item.Below = append(item.Below, hints)
		}
		items.All = append(items.All, item)
	}
	s.Add(items)
	return s
}

// blocks are a hint, or where an earlier finding has it, a reference to that.
func (h Hint) blocks(earlier int) []document.Block {
	if earlier > 0 {
		return paragraphs([]string{fmt.Sprintf("Try%s, as under finding %d", h.setting(), earlier)})
	}
	all := paragraphs([]string{fmt.Sprintf("Try%s: %s (%s)", h.setting(), h.Says, h.Source)})
	if h.Sweep != "" {
		all = append(all, document.Code(h.Sweep))
	}
	return all
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

func (r form) modelsSection() *document.Section {
	s := &document.Section{ID: "models", Title: "Models"}
	if len(r.Models) == 0 {
		return s
	}
	t := table("operation~", "contender", "ranks>", "latency>", "bandwidth>", "n½>", "pieces from", "scatter>",
		"bounds")
	models, left := upTo(r.Models, r.curves)
	for _, one := range models {
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
	s.Add(r.more(left, "model")...)
	if words := r.unmodelled(); words != "" {
		s.Add(document.Paragraph(words))
	}
	return s
}

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
