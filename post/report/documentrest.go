package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// ranksSection has the slowest ranks of the curves whose ranks are furthest apart, and the page a map of all of them.
func (r form) ranksSection() *document.Section {
	s := &document.Section{ID: "ranks", Title: "Ranks"}
	if len(r.Heats) == 0 {
		return s
	}
	if r.page {
		s.Add(chart("ranks-picture", "map of ranks and sizes"))
	}
	t := table("curve", "ranks that take longest", "ranks that issue last")
	heats, left := upTo(r.Heats, r.heats)
	for _, h := range heats {
		c := r.Curves[h.Curve]
		t.Row(r.Families[c.Family].Title+", "+c.Label, h.Slowest, h.Latest)
	}
	s.Add(
		document.Paragraph(
			"Each rank's median time relative to the median of all ranks, over the sizes of the curve, from 1 % on. "+
				"In a collective that makes ranks wait for each other, all take as long as the slowest: see also which ranks issue last.",
		),
		t,
	)
	s.Add(r.more(left, "curve")...)
	return s
}

func (r form) qualitySection() *document.Section {
	q := &r.Quality
	var list document.List
	for _, n := range q.Notices {
		list = append(list, inWords(n))
	}
	for _, c := range q.Checks {
		list = append(list, c.Text+": "+units.Count(c.N, "point"))
	}
	if len(q.Warnings) == 0 {
		list = append(list, "No warnings.")
	}
	s := &document.Section{ID: "quality", Title: "Data quality"}
	if list != nil {
		s.Add(list)
	}
	if len(q.Misses) > 0 {
		t := table("status", "points>", "reason~", "where~")
		for _, one := range q.Misses {
			t.Row(one.Status, fmt.Sprint(one.N), one.Reason, one.Where)
		}
		s.Add(document.Paragraph("Points without a value (one example of each reason):"), t)
	}
	if len(q.Warnings) > 0 {
		t := table("code", "warning~", "count>", "where~")
		for _, one := range q.Warnings {
			t.Row(string(one.Code), one.Message, units.Count(one.N, one.Of), one.Where)
		}
		s.Add(document.Paragraph("Warnings (one example of each):"), t)
	}
	if len(q.Files) > 0 {
		s.Add(document.Paragraph("Files:"), document.List(q.Files))
	}
	return s
}

// factsSection has a table for each topic.
func factsSection(id, title string, facts []Fact) *document.Section {
	s := &document.Section{ID: id, Title: title}
	for len(facts) > 0 {
		topic := facts[0].Topic
		n := slices.IndexFunc(facts, func(f Fact) bool { return f.Topic != topic })
		if n < 0 {
			n = len(facts)
		}
		s.Add(&document.Section{Title: topic, Fold: document.Open, Blocks: []document.Block{factsTable(facts[:n])}})
		facts = facts[n:]
	}
	return s
}

// factsTable has which runs have which value, where they differ.
func factsTable(facts []Fact) *document.Table {
	t := table("what", "value~")
	for _, f := range facts {
		if slices.ContainsFunc(f.Values, func(v Value) bool { return v.Runs != "" }) {
			t = table("what", "value~", "runs")
			break
		}
	}
	for _, f := range facts {
		for i, v := range f.Values {
			name := f.Name
			if i > 0 {
				name = ""
			}
			t.Row([]string{name, v.Text, v.Runs}[:len(t.Columns)]...)
		}
	}
	return t
}

func (r form) runsSection() *document.Section {
	t := table("run>", "contender", "ranks>", "hosts", "start (UTC)", "sweep", "planned>", "points", "ended~", "files")
	runs, left := upTo(r.Runs, r.runs)
	s := &document.Section{ID: "runs", Title: "Runs"}
	s.Add(t)
	s.Add(r.more(left, "run")...)
	for _, one := range runs {
		var files []string
		for _, f := range one.Files {
			files = append(files, r.Files[f].Name)
		}
		t.Row(
			fmt.Sprint(one.Number), one.Who, known(one.World), one.Hosts, moment(one.Start), one.Sweep, known(one.Planned),
			countsWords(one.Counts), one.ended(), strings.Join(files, ", "),
		)
		if r.page {
			s.Add(r.runDetails(one))
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

// ended is how a run ended, with what it is to be read with.
func (one Run) ended() string {
	ended := one.Outcome
	if one.Reason != "" {
		ended += ": " + one.Reason
	}
	if one.Left > 0 {
		ended += fmt.Sprintf(", %d not reached", one.Left)
	}
	for _, n := range one.Resumes {
		ended += fmt.Sprintf(", continues run %d", n)
	}
	for _, mark := range one.Marks {
		ended += ", " + mark
	}
	return ended
}

// runDetails are how to repeat a run, its warnings and its files.
func (r form) runDetails(one Run) *document.Section {
	s := &document.Section{Title: fmt.Sprintf("Run %d: command, warnings, files", one.Number), Fold: document.Folded}
	s.Add(document.Paragraph(one.ID))
	if one.Command != "" {
		s.Add(document.Code(one.Command))
	}
	if one.Resume != "" {
		s.Add(document.Paragraph("Resume it with the same launcher:"), document.Code(one.Resume))
	}
	if len(one.Warnings) > 0 {
		s.Add(document.List(one.Warnings))
	}
	var links document.Links
	for _, f := range one.Files {
		links = append(links, document.Link{Name: r.Files[f].Name, Href: r.Files[f].Href})
	}
	if links != nil {
		s.Add(links)
	}
	return s
}

func (r form) filesSection() *document.Section {
	files, left := upTo(r.Files, r.files)
	var links document.Links
	for _, f := range files {
		about := ""
		if f.Points > 0 {
			about = ", " + units.Count(f.Points, "record")
		}
		links = append(links, document.Link{Name: f.Name, Href: f.Href, About: about})
	}
	s := &document.Section{ID: "files", Title: "Files"}
	s.Add(links)
	if left > 0 {
		s.Add(document.List{"and " + units.Count(left, "more file")})
	}
	return s
}

func (r form) stepsSection() *document.Section {
	s := &document.Section{ID: "steps", Title: "Training step"}
	if r.Steps == nil {
		return s
	}
	s.Add(document.Paragraph(stepTableSays))
	if r.page {
		s.Add(chart("steps-picture", "plots of the steps"))
	}
	for i, run := range r.Steps.Runs {
		of := &document.Section{ID: fmt.Sprintf("steps-%d", i+1), Title: run.Title}
		of.Add(append(document.List(run.About), messages(run.Notices)...))
		for k, g := range run.Groups {
			group := &document.Section{Title: g.Title}
			group.Add(document.List(messages(g.Notices)))
			for _, l := range g.listings(fmt.Sprintf("%s-%d", of.ID, k+1)) {
				group.Add(r.listing(l))
			}
			of.Add(group)
		}
		s.Add(of)
	}
	return s
}

func messages(all []notice.Notice) (texts []string) {
	for _, n := range all {
		texts = append(texts, notice.Paragraph(n.Fact))
	}
	return texts
}

// listing is a table with what it is to be read with, of as many rows as the form has.
func (r form) listing(l listing) *document.Section {
	s := &document.Section{ID: l.ID, Title: l.Name, Fold: document.Folded, Blocks: paragraphs(l.Says)}
	if l.Open {
		s.Fold = document.Open
	}
	if l.Bars != nil {
		s.Add(l.Bars.chart())
	}
	t := &document.Table{Values: [][]float64{}}
	for _, h := range l.Heads {
		t.Columns = append(t.Columns, document.Column{Name: h.Name, Right: h.Figure, Wrap: h.Words})
	}
	rows, left := upTo(l.Rows, r.rows)
	for _, row := range rows {
		var cells []string
		var values []float64
		for _, c := range row {
			value := math.NaN()
			if c.Known {
				value = c.Value
			}
			cells, values = append(cells, c.Text), append(values, value)
		}
		t.Row(cells...)
		t.Values = append(t.Values, values)
	}
	s.Add(t)
	if left > 0 {
		s.Add(document.Paragraph(fmt.Sprintf("And %s, in post timeline --format json.", units.Count(left, "more row"))))
	}
	return s
}
