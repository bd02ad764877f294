package show

import (
	"fmt"
	"slices"
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
	lines = append(lines, notes.Head(r)...)
	counts := map[result.Status]int{}
	for i := range f.Records {
		counts[f.Records[i].Status]++
	}
	lines = append(lines, steps.About(r.Step), ranOn(r), ranWhere(r), steps.How(r.Step),
		endWords(f.End, counts))
	section := document.NewSection(f.Path, lines)
	s.describe(f.Path, r, f.End, counts).Steps = f.Records
	for _, run := range steps.Gather([]*result.StepFile{f}) {
		for _, g := range run.Groups {
			below := StepGroup(g, notes)
			below.Add(s.list(g.Findings(), f.Path+", "+g.Title(), notice.Paragraph))
			section.Add(below)
		}
		if list := s.list(run.Findings(), f.Path, notice.Paragraph); list != nil {
			section.Add(document.NewSection("all groups", list))
		}
	}
	section.Add(notes.Blocks()...)
	return section
}

// StepGroup is the tables of a group of points, and what they show.
func StepGroup(g *steps.Group, notes *footnote.List) *document.Section {
	t, timed := document.NewTable("bucket>", "ops>", "compute>", "±%>", "comm>", "±%>", "in turn>", "±%>", "overlap>",
		"±%>", ""), false
	for _, p := range g.Points {
		if !p.Timed() {
			t.Row(steps.Bucket(p.Bucket), strings.Join(p.Reasons(), "; "))
			continue
		}
		timed = true
		row := []string{steps.Bucket(p.Bucket), ifKnown(len(p.Ops) > 0, fmt.Sprint(len(p.Ops)))}
		for _, f := range []step.Time{p.Figures.Compute, p.Figures.Comm, p.Figures.Sequential, p.Figures.Overlapped} {
			row = append(row, units.Duration(f.Value), halfWidth(f.Value, f.Lo, f.Hi))
		}
		t.Row(append(row, shortMark(g, p))...)
	}
	section := document.NewSection(g.Title(), t)
	if timed {
		section.Add(stepRatios(g, notes))
	}
	return section
}

// stepRatios is the table of what follows from the times.
func stepRatios(g *steps.Group, notes *footnote.List) *document.Table {
	t := document.NewTable("bucket>", "exposed>", "%step>", "%wall>", "%intvl>", "%bound>", "comp>", "comm>", "speed>",
		"%weak>", "")
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		f := p.Figures
		t.Row(
			steps.Bucket(p.Bucket), units.SignedDuration(f.Exposed.Value), scaled(&step.Figure{Value: f.Share()}, 100),
			scaled(f.Overlap, 100), scaled(f.ByInterval, 100), scaled(f.Bound, 100), scaled(f.SlowerComp, 1),
			scaled(f.SlowerComm, 1), scaled(f.SpeedUp, 1), scaled(f.Efficiency, 100),
			notes.Marks(nil, slices.Concat(p.Reasons(), p.Notes, p.Warnings.Texts())...),
		)
	}
	return t
}

// scaled is a factor, or a share in percent; "-" where it is unknown.
func scaled(f *step.Figure, by float64) string {
	switch {
	case f == nil:
		return "-"
	case by == 1:
		return fmt.Sprintf("%.2f", f.Value)
	}
	return fmt.Sprintf("%.1f", by*f.Value)
}

// shortMark is the verdict on a point, short enough for the table.
func shortMark(g *steps.Group, p *steps.Point) string {
	switch s := g.Compared(p); s.Verdict {
	case step.Best:
		return "best"
	case step.Smallest:
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
