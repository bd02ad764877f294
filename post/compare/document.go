package compare

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/footnote"
)

// Document is the comparison as it is shown; notices are those of all sides.
func (c Comparison) Document(notices []notice.Notice) *document.Document {
	d := &document.Document{Kind: "comparison", Title: "Comparison", Data: c.data(), Notices: notices}
	if len(notices) > 0 {
		d.Add(document.Findings(slices.Clone(notices)))
	}
	for _, one := range c {
		blocks := one.blocks(d)
		if one.heading != "" {
			blocks = []document.Block{document.NewSection(one.heading, blocks...)}
		}
		d.Add(blocks...)
	}
	return d
}

// Save writes the document of a comparison into a folder, as Markdown and as JSON.
func Save(ctx context.Context, dir string, doc *document.Document, wrote func(path string),
	charts ...atomicfile.Named,
) error {
	return atomicfile.WriteAll(ctx, dir, append([]atomicfile.Named{
		{Name: "compare.md", Write: func(w io.Writer) error { return doc.Write(w, document.Markdown) }},
		{Name: "compare.json", Write: func(w io.Writer) error { return doc.Write(w, document.JSON) }},
	}, charts...), wrote)
}

// blocks are the sides and what each is compared with; their notices go into the document.
func (c *comparedSides) blocks(to *document.Document) []document.Block {
	sides := document.Lines(units.Map(c.sides, (*side).intro))
	blocks := []document.Block{sides, document.Paragraph(c.units)}
	for _, d := range c.comparisons {
		to.Notices = append(to.Notices, d.notices...)
		blocks = append(blocks, d.section(to))
	}
	return blocks
}

// section is the results of a comparison of two sides, its tables, and what its sides differ in.
func (d *sideComparison) section(to *document.Document) *document.Section {
	title := fmt.Sprintf("%s: ratio of %s; over 1, %s takes longer", d.name(), d.times, d.b.letter)
	s := document.NewSection(title, document.Paragraph(d.points.tally()))
	var findings document.Findings
	var missing, differ document.List
	for _, n := range d.notices {
		n.At = notice.Location{} // the title has it
		switch n.Fact.(type) {
		case notice.MissingPoints:
			missing = append(missing, n.Message())
		case notice.SidesDiffer:
			differ = append(differ, n.Message())
		default:
			findings = append(findings, n)
		}
	}
	if findings != nil {
		s.Add(findings)
	}
	marks := &footnote.List{Shows: func(notice.Code) bool { return true }, Report: func(f notice.Fact) {
		n := notice.New(f)
		n.At.Subject = d.subject()
		to.CountKind(n)
	}}
	for _, points := range units.GroupBy(d.points, func(p judged) point { return p.of.table() }) {
		s.Add(document.NewSection(points[0].of.title(), d.tablesOf(points, marks)...))
	}
	s.Add(marks.Blocks()...)
	if missing != nil {
		s.Add(document.NewSection("Not compared: points without a partner", missing))
	}
	if differ != nil {
		title = fmt.Sprintf("Other differences (%s | %s): possible causes", d.a.letter, d.b.letter)
		s.Add(document.NewSection(title, differ))
	}
	return s
}

// tally counts the verdicts.
func (l pointList) tally() string {
	var words []string
	for _, v := range verdicts {
		words = append(words, fmt.Sprintf("%d %s", l.count(v), v))
	}
	return fmt.Sprintf("%s: %s.", units.Count(len(l), "point"), strings.Join(words, ", "))
}

var verdicts = []stats.Verdict{stats.Worse, stats.Better, stats.Same, stats.Inconclusive}

// tablesOf are the points of one table: times with their verdicts, and the other values.
func (d *sideComparison) tablesOf(points []judged, marks *footnote.List) []document.Block {
	a, b := d.a.letter+">", d.b.letter+">"
	times := document.NewTable(d.column+">", a, b, "ratio>", "CI>", "p>", "verdict", "")
	heads := []string{d.column + ">", "launches " + a, "launches " + b}
	for _, head := range d.beside {
		heads = append(heads, head+" "+a, head+" "+b)
	}
	others := document.NewTable(heads...)
	for _, p := range points {
		times.Row(p.of.name(), units.Duration(p.a.Time), units.Duration(p.b.Time), ratioWord(p.verdict.Ratio),
			boundsWord(p.verdict.Ratio), pvalue(p.verdict), verdictWord(p.verdict), marks.Marks(p.notes))
		row, ofA, ofB := []string{p.of.name(), fmt.Sprint(p.a.Launches), fmt.Sprint(p.b.Launches)}, p.of.beside(p.a),
			p.of.beside(p.b)
		for i := range d.beside {
			row = append(row, ofA[i], ofB[i])
		}
		others.Row(row...)
	}
	return []document.Block{times, others}
}

// intro describes a side.
func (s *side) intro() string {
	words := []string{s.letter + ": " + s.name, units.Count(len(s.launches), "launch"), s.when()}
	if tools := valuesOf(s)[importedTool]; tools != nil {
		words = append(words, "measured by "+strings.Join(tools, " and "))
	}
	if s.rehearsed {
		words = append(words, notice.Message(notice.SimulatedRuns{}))
	}
	return strings.Join(words, ", ")
}

// when is from when to when the launches of a side began, where that is known of all.
func (s *side) when() string {
	first, last := s.runs[0].Start.UTC(), s.runs[len(s.runs)-1].Start.UTC()
	const day, minute = "2006-01-02", "15:04"
	switch from := first.Format(day + " " + minute); {
	case first.IsZero(): // another tool's file has no start
		return "start not recorded"
	case first.Format(day) != last.Format(day):
		return from + " to " + last.Format(day+" "+minute) + " UTC"
	case first.Format(minute) != last.Format(minute):
		return from + " to " + last.Format(minute) + " UTC"
	default:
		return from + " UTC"
	}
}

// verdictWord is a verdict, with the number of further launches per side that would probably decide it.
func verdictWord(c stats.Compared) string {
	switch {
	case c.Verdict != stats.Inconclusive || c.More == 0:
		return c.Verdict.String()
	case c.More == stats.Hopeless:
		return c.Verdict.String() + " +many"
	}
	return fmt.Sprintf("%s +%d", c.Verdict, c.More)
}

// ratioWord writes a ratio; "-" where no pair has a time of both sides.
func ratioWord(r stats.Ratio) string {
	if r.N == 0 {
		return "-"
	}
	return notice.SideRatio(r.Value).String()
}

func boundsWord(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "-"
	}
	return fmt.Sprintf("%v to %v", notice.SideRatio(r.Lo), notice.SideRatio(r.Hi))
}

// pvalue writes a p; "-" where the point was not tested.
func pvalue(c stats.Compared) string {
	switch {
	case c.Ratio.Basis != stats.AcrossLaunches:
		return "-"
	case c.P < 0.0005:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", c.P)
}
