package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

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

// Summary is the banners and headlines alone, for a terminal; its JSON has the report's Notices.
func (r *Report) Summary() *document.Document {
	d := &document.Document{Kind: "report", Notices: r.Notices()}
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
