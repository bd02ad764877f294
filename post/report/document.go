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
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/show"
)

// form is a report as it is written: the page has charts, and can fold.
type form struct {
	*Report
	page bool
}

// WriteMarkdown writes the report as Markdown, which is read in a terminal and in merge requests.
func (r *Report) WriteMarkdown(w io.Writer) error {
	return form{r, false}.document().Write(w, document.Markdown)
}

func (r form) document() *document.Document {
	d := &document.Document{Kind: "report", Tool: r.Tool, Title: r.Title}
	for _, text := range nonEmpty(r.ranOn(), r.about()) {
		d.Add(document.Paragraph(text))
	}
	d.Add(callouts(r.Banners)...)
	first := []*document.Section{r.inShort(), r.timelineSection(), section("hang", "Hang", r.hang...)}
	for _, s := range append(first, r.results()...) {
		if len(s.Blocks) > 0 {
			d.Add(s)
		}
	}
	d.Add(section("files", "Files", r.Files))
	return d
}

// section is a section that links lead to by its id.
func section(id, title string, blocks ...document.Block) *document.Section {
	return &document.Section{ID: id, Title: title, Blocks: blocks}
}

func callouts(all []notice.Notice) (blocks []document.Block) {
	for _, n := range all {
		blocks = append(blocks, document.Callout{Severity: n.Severity, Text: inWords(n)})
	}
	return blocks
}

// ranOn is the hosts, the libraries and the number of launches.
func (r form) ranOn() string {
	var hosts, libraries []string
	launches := map[string]bool{}
	for _, g := range r.runs {
		of := g.layout.hosts()
		if of == nil {
			of = nonEmpty(g.run.Machine.Host)
		}
		for _, host := range of {
			hosts = units.AddOnce(hosts, host)
		}
		libraries = units.AddOnce(libraries, cmp.Or(g.run.Backend.Library, g.run.Backend.Name))
		launches[g.run.Launch] = true
	}
	words := nonEmpty(units.Some(nonEmpty(hosts...)), units.Some(nonEmpty(libraries...)))
	if len(launches) > 0 {
		words = append(words, units.Count(len(launches), "launch"))
	}
	return strings.Join(words, " · ")
}

// tiles are the fastest contender's peak and latency, and the worst finding.
func (r form) tiles() document.Tiles {
	var all document.Tiles
	if len(r.answers) > 0 {
		best := r.answers[0].Peak
		share := "% of peak unknown: set --peak"
		switch {
		case best.Share > 0:
			share = fmt.Sprintf("%s of peak (%s)", best.Share, best.Limit)
		case best.Unknown.Fact == nil:
			share = ""
		}
		note := nonEmpty(best.Who, best.Operation, best.Placement, best.World.String(), best.At.String(), share)
		all = append(all, document.Tile{
			Name: "Peak bus bandwidth", Value: best.BusBW.String(), Note: strings.Join(note, ", "),
		})
		if small := r.answers[0].Smallest; small != nil {
			note := nonEmpty(small.Who, small.Operation, small.Placement, small.Mode+" mode", small.World.String())
			name := "Latency at "
			if small.Mode != coll.Latency.String() {
				name = "Time at "
			}
			all = append(all, document.Tile{
				Name: name + small.At.String(), Value: small.Latency.String(), Note: strings.Join(note, ", "),
			})
		}
	}
	if len(all) == 0 {
		return nil
	}
	worst := document.Tile{Name: "Worst finding", Value: "none", Note: r.noFinding()}
	if len(r.Findings) > 0 {
		f := r.Findings[0]
		worst = document.Tile{
			Name:  fmt.Sprintf("Worst of %s", units.Count(len(r.Findings), "finding")),
			Value: string(f.Code()), Note: units.Capital(f.Message()) + ".", Severity: f.Severity,
			Href: "#" + findingID(f.Number),
		}
	}
	return append(all, worst)
}

// about is which post wrote the report, when, and about how much.
func (r form) about() string {
	made := strings.TrimSuffix(strings.Replace(r.Made, "T", " ", 1), "Z")
	words := []string{fmt.Sprintf("%s, %s UTC", cmp.Or(r.Tool, "post"), made)}
	if r.Measured() {
		words = append(words, units.Count(len(r.runs), "run"))
		if r.Collectives() {
			words = append(words, units.Count(r.Totals.Curves, "curve"), units.Count(r.Totals.Points, "point"))
		}
	}
	if r.steps != nil {
		words = append(words, units.Count(r.Totals.Steps, "point")+" of training steps")
	}
	return strings.Join(words, " · ")
}

// Summary is the banners and headlines alone, for a terminal; its JSON has the report's Notices.
func (r *Report) Summary() *document.Document {
	d := &document.Document{Kind: "report", Notices: r.Notices()}
	d.Add(callouts(r.Banners)...)
	var items document.Items
	subject := "" // of the last item, if it has findings
	for _, h := range r.Headlines {
		if h.Finding == 0 {
			items.All, subject = append(items.All, document.Item{Text: inWords(h.Notice)}), ""
			continue
		}
		if h.At.Subject != subject {
			subject = h.At.Subject
			items.All = append(items.All, document.Item{Text: subject + ":"})
		}
		last := &items.All[len(items.All)-1]
		last.Below = append(last.Below, document.Paragraph(r.Findings[h.Finding-1].BelowSubject()))
	}
	d.Add(items)
	return d
}

// results are all that is about what rank measured.
func (r form) results() []*document.Section {
	if !r.Measured() {
		return nil
	}
	all := []*document.Section{r.patternSection(), r.stepsSection()}
	method := r.method.section("method", "Method", len(r.runs))
	if r.Collectives() {
		all = append(all, r.curvesSection(), r.findingsSection(), r.pointsSection())
		method.Add(document.Paragraph(unitsText))
	}
	environment := r.environment.section("environment", "Environment", len(r.runs))
	environment.Add(
		document.Paragraph("The results files have all recorded fields and variables (docs/file-format.md)."),
	)
	if !r.page {
		method.Fold, environment.Fold = document.Folded, document.Folded
	}
	return append(all, r.planSection(), r.qualitySection(), method, environment, r.runsSection())
}

// unitsText explains the units of all tables.
const unitsText = "Sizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians. algbw is size / time; " +
	"busbw is algbw times a factor of the collective and the number of ranks."

func paragraphs(texts []string) (all []document.Block) {
	for _, t := range texts {
		all = append(all, document.Paragraph(t))
	}
	return all
}

// NoHeadline is what a report states where there is no headline.
const NoHeadline = "No headline: see the tables below."

func (r form) inShort() *document.Section {
	s := section("short", "In short", r.tiles())
	if len(r.Headlines) == 0 {
		s.Add(document.Paragraph(NoHeadline))
	}
	var items document.Items
	for _, h := range r.Headlines {
		item := document.Item{Severity: h.Severity}
		if h.Severity > notice.Info {
			item.Label = h.Severity.String()
		}
		if item.Text = inWords(h.Notice); h.Finding > 0 {
			item.Text = r.Findings[h.Finding-1].Short()
			item.Ref = document.Link{Name: fmt.Sprintf("finding %d", h.Finding), Href: "#" + findingID(h.Finding)}
		}
		items.All = append(items.All, item)
	}
	for _, text := range leftOut(r.LeftOut) {
		items.All = append(items.All, document.Item{Text: text})
	}
	s.Add(items)
	return s
}

// inWords is a notice in whole sentences, with its details and advice.
func inWords(n notice.Notice) string {
	words := []string{n.Sentence()}
	if _, is := n.Fact.(profiles.Straggler); !is { // whose details have a section
		words = append(words, n.Details()...)
	}
	return strings.Join(append(words, nonEmpty(notice.ToDo(n.Fact))...), " ")
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

// patternSection has the verdicts on groups of nodes, as post show prints them.
func (r form) patternSection() *document.Section {
	s := section("pattern", "Nodes and links")
	if r.patterns != nil {
		s.Add(show.Patterns(r.patterns, func(all []notice.Notice, _ string) (list document.List) {
			for _, n := range all {
				list = append(list, notice.Text(n.Fact))
			}
			return list
		})...)
	}
	return s
}

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
	s := section("plan", "Planned and measured",
		document.Paragraph(fmt.Sprintf("%s %s.", planned, units.Capital(p.Done))))
	for _, n := range p.Notices {
		s.Add(document.Paragraph(inWords(n)))
	}
	return s
}

func (r form) findingsSection() *document.Section {
	s := section("findings", "Findings")
	if len(r.Findings) == 0 {
		s.Add(document.Paragraph(r.noFinding()))
	}
	tried := map[[4]string]int{}
	for _, group := range analysis.BySubject(r.Findings) {
		items := document.Items{First: group[0].Number}
		for _, f := range group {
			item := document.Item{
				ID: findingID(f.Number), Severity: f.Severity, Label: fmt.Sprintf("%s, %s", f.Severity, f.Code()),
				Text: f.BelowSubject(), Below: paragraphs(f.Evidence()),
			}
			if len(f.Hints) > 0 {
				item.Below = append(item.Below, hints(f, tried))
			}
			items.All = append(items.All, item)
		}
		s.Add(document.NewSection(group[0].At.Subject, items))
	}
	return s
}

// hints are what to try about a finding; tried has the finding under which a hint is whole.
func hints(f analysis.Finding, tried map[[4]string]int) *document.Section {
	s := &document.Section{Title: fmt.Sprintf("What to try (%d)", len(f.Hints)), Fold: document.Folded}
	for _, h := range f.Hints {
		key := [4]string{string(h.Tip), h.Variable, h.Value, h.Sweep}
		if first := tried[key]; first > 0 {
			s.Add(document.Paragraph(fmt.Sprintf("Try%s, as under finding %d", setting(h), first)))
			continue
		}
		tried[key] = f.Number
		s.Add(document.Paragraph(fmt.Sprintf("Try%s: %s (%s)", setting(h), h.Text(), h.Tip.Source())))
		if h.Sweep != "" {
			s.Add(document.Code(h.Sweep))
		}
	}
	return s
}

// noFinding states why there are no findings.
func (r form) noFinding() string {
	analysed := func(c curve) bool { return !c.Simulated && !c.Crowded }
	if len(r.charts.Curves) > 0 && !slices.ContainsFunc(r.charts.Curves, analysed) {
		return "Not analysed: all results are simulated or oversubscribed."
	}
	if n := r.Quality.Warned; n > 0 {
		return fmt.Sprintf("No findings; warnings at %s (data quality).", units.Count(n, "point"))
	}
	return "No findings."
}

// setting is a variable with its value, behind a space; "" where a hint has none.
func setting(h analysis.Hint) string {
	switch {
	case h.Variable == "":
		return ""
	case h.Value == "":
		return " " + h.Variable
	}
	return fmt.Sprintf(" %s=%s", h.Variable, h.Value)
}
