package report

import (
	"fmt"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/ranges"
	"busbar/internal/units"
	"busbar/post/analysis"
)

func (r form) qualitySection() *document.Section {
	q := &r.Quality
	list := append(document.List(units.Map(q.Notices, inWords)), q.Checks...)
	warnings := len(q.Of) + len(q.OfRuns)
	if warnings == 0 {
		list = append(list, "No warnings.")
	}
	s := section("quality", "Data quality")
	if list != nil {
		s.Add(list)
	}
	if len(q.Misses) > 0 {
		t := document.NewTable("status", "points>", "reason…", "where…")
		for _, one := range q.Misses {
			t.Row(string(one.status), fmt.Sprint(one.n), notice.Message(one.fact), one.words(len(r.runs)))
		}
		s.Add(document.Paragraph("Points without a value (one example of each reason):"), t)
	}
	if warnings > 0 {
		t := document.NewTable("code", "warning…", "count>", "where…")
		r.addWarnings(t, "run", q.OfRuns)
		r.addWarnings(t, "point", q.Of)
		s.Add(document.Paragraph("Warnings (one example of each):"), t)
	}
	if len(q.Files) > 0 {
		s.Add(document.Paragraph("Files:"), q.Files)
	}
	return s
}

func (r form) addWarnings(t *document.Table, noun string, all []*tally) {
	for _, one := range all {
		n := notice.New(one.fact)
		t.Row(string(n.Code()), n.Message(), units.Count(one.n, noun), one.words(len(r.runs)))
	}
}

func (r form) runsSection() *document.Section {
	t := document.NewTable("run>", "contender", "ranks>", "hosts", "start (UTC)", "sweep", "planned>", "points",
		"ended…", "files")
	s := section("runs", "Runs", t)
	names := r.runs.names()
	for _, g := range r.runs {
		run, start := g.run, ""
		if !run.Start.IsZero() {
			start = run.Start.UTC().Format("2006-01-02 15:04:05")
		}
		t.Row(
			fmt.Sprint(g.number), names[analysis.ContenderOf(run)], known(run.World), ranges.Names(g.layout.hosts()),
			start, run.Sweep.Name, known(planned(run)), g.countWords(), g.ended(), strings.Join(g.files, ", "),
		)
		if r.page {
			s.Add(runDetails(g))
		}
	}
	return s
}

// known is a number of which 0 is unknown.
func known(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// ended is how a run ended, with its marks.
func (g *gathered) ended() string {
	ended := outcomeOf(g)
	if g.end != nil && g.end.Reason != "" {
		ended += ": " + g.end.Reason
	}
	if n := g.left(); n > 0 {
		ended += fmt.Sprintf(", %d not reached", n)
	}
	for _, n := range g.resumes {
		ended += fmt.Sprintf(", continues run %d", n)
	}
	for _, mark := range marksOf(g.run) {
		ended += ", " + mark
	}
	return ended
}

// runDetails are how to repeat a run, and its warnings.
func runDetails(g *gathered) *document.Section {
	s := &document.Section{Title: fmt.Sprintf("Run %d: command, warnings", g.number), Fold: document.Folded}
	s.Add(document.Paragraph(g.run.ID))
	if command := units.Shell(g.run.Command...); command != "" {
		s.Add(document.Code(command))
	}
	if command := resumeCommand(g.run); command != "" && g.open() {
		s.Add(document.Paragraph("Resume it with the same launcher:"), document.Code(command))
	}
	if warnings := g.run.Warnings.Texts(); len(warnings) > 0 {
		s.Add(document.List(warnings))
	}
	return s
}
