package show

import (
	"fmt"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/footnote"
	"busbar/post/steps"
)

// stepRun is a run of training steps: its description, the tables of each group of points with what they show,
// footnotes.
func (s *Tables) stepRun(f *result.StepFile) *document.Section {
	r, notes := &f.Run, s.footnotes(f.Path)
	var lines document.Lines
	lines = append(lines, notes.Simulated(r)...)
	counts := map[result.Status]int{}
	for i := range f.Records {
		counts[f.Records[i].Status]++
	}
	lines = append(
		lines,
		steps.About(r.Step),
		ranOn(r),
		ranWhere(r),
		steps.How(r.Step),
		endWords(f.End, counts)+" "+notes.Marks(r.Warnings),
	)
	section := &document.Section{Title: f.Path}
	section.Add(lines)
	s.describe(f.Path, r, f.End, counts).Steps = f.Records
	for _, run := range steps.Gather([]*result.StepFile{f}) {
		for _, g := range run.Groups {
			below := stepGroup(g, notes)
			below.Add(s.list(g.Findings(), f.Path+", "+g.Title(), notice.Paragraph))
			section.Add(below)
		}
		if list := s.list(run.Findings(), f.Path, notice.Paragraph); list != nil {
			section.Add(&document.Section{Title: "all groups", Blocks: []document.Block{list}})
		}
	}
	section.Add(notes.Blocks()...)
	return section
}

// stepGroup is the tables of a group of points, and what they show.
func stepGroup(g *steps.Group, notes *footnote.List) *document.Section {
	section := &document.Section{Title: g.Title()}
	timed := false
	t := &document.Table{
		Columns: append(document.NumericColumns("bucket", "ops", "compute", "±%", "comm", "±%", "in turn", "±%", "overlap", "±%"),
			document.Column{}),
	}
	for _, p := range g.Points {
		if !p.Timed() {
			t.Row(steps.Bucket(p.Bucket), strings.Join(p.Reasons(), "; "))
			continue
		}
		timed = true
		row := []string{steps.Bucket(p.Bucket), ifKnown(len(p.Ops) > 0, fmt.Sprint(len(p.Ops)))}
		for _, f := range []step.Time{p.Figures.Compute, p.Figures.Comm, p.Figures.Sequential, p.Figures.Overlapped} {
			row = append(row, units.Duration(f.Value), halfWidth(f.Figure))
		}
		t.Row(append(row, shortMark(g, p))...)
	}
	section.Add(t)
	if timed {
		section.Add(stepRatios(g, notes))
	}
	return section
}

// stepRatios is the table of what follows from the times.
func stepRatios(g *steps.Group, notes *footnote.List) *document.Table {
	t := &document.Table{
		Columns: append(document.NumericColumns("bucket", "exposed", "%step", "%wall", "%intvl", "%bound", "comp", "comm", "speed",
			"%weak"), document.Column{}),
	}
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		f := p.Figures
		t.Row(
			steps.Bucket(p.Bucket),
			units.SignedDuration(f.Exposed.Value),
			hundredth(&step.Figure{Value: f.Share()}),
			hundredth(
				f.Overlap,
			),
			hundredth(f.ByInterval),
			hundredth(f.Bound),
			factor(f.SlowerComp),
			factor(f.SlowerComm),
			factor(f.SpeedUp),
			hundredth(f.Efficiency),
			notes.Marks(nil, footnotesOf(p)...),
		)
	}
	return t
}

// footnotesOf is what a point is to be read with.
func footnotesOf(p *steps.Point) (all []string) {
	all = append(all, p.Reasons()...)
	all = append(all, p.Notes...)
	return append(all, p.Warnings.Texts()...)
}

// halfWidth is half the interval in percent of the time; "-" where there is none.
func halfWidth(f step.Figure) string {
	if f.Hi <= f.Lo || f.Value <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 50*(f.Hi-f.Lo)/f.Value)
}

func hundredth(f *step.Figure) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*f.Value)
}

func factor(f *step.Figure) string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", f.Value)
}

// shortMark is how a point stands to the best, in a word that fits the table.
func shortMark(g *steps.Group, p *steps.Point) string {
	switch s := g.Compared(p); s.Verdict {
	case step.Best:
		return "best"
	case step.Least:
		return "smallest"
	case step.NoDifference:
		return "="
	case step.Slower:
		return "+" + units.Share(s.Slower.Value).String()
	case step.TooFewRounds:
		return "?"
	}
	return ""
}

// list reports notices about a subject, and lists them.
func (s *Tables) list(all []notice.Notice, subject string, text func(notice.Fact) string) (list document.List) {
	for _, n := range all {
		if s.shows(n.Code()) {
			n.At.Subject = subject
			s.doc.Report(n)
			list = append(list, text(n.Fact))
		}
	}
	return list
}
