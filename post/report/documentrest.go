package report

import (
	"fmt"
	"strings"

	"busbar/internal/document"
	"busbar/internal/units"
)

// ranksSection has the slowest ranks of the curves whose ranks are furthest apart; the page has the whole map.
func (r *Report) ranksSection() *document.Section {
	s := &document.Section{Title: "Ranks"}
	if len(r.Heats) == 0 {
		return s
	}
	t := table("curve", "ranks that take longest", "ranks that issue last")
	for _, h := range r.Heats[:min(len(r.Heats), maxMarkdownHeats)] {
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
	s.Add(more(len(r.Heats)-maxMarkdownHeats, "curve")...)
	return s
}

func (r *Report) qualitySection() *document.Section {
	q := &r.Quality
	var list document.List
	for _, n := range q.Notices {
		list = append(list, n.Message)
	}
	for _, c := range q.Checks {
		list = append(list, c.Text+": "+units.Count(c.N, "point"))
	}
	if len(q.Warnings) == 0 {
		list = append(list, "No warnings.")
	}
	s := &document.Section{Title: "Data quality"}
	if list != nil {
		s.Add(list)
	}
	if len(q.Misses) > 0 {
		t := table("status", "points>", "reason", "where")
		for _, one := range q.Misses {
			t.Row(one.Status, fmt.Sprint(one.N), one.Reason, one.Where)
		}
		s.Add(document.Paragraph("Points without a value, each reason with one of its texts:"), t)
	}
	if len(q.Warnings) > 0 {
		t := table("code", "warning", "count", "where")
		for _, one := range q.Warnings {
			t.Row(string(one.Code), one.Message, units.Count(one.N, one.Of), one.Where)
		}
		s.Add(document.Paragraph("Warnings, each with one of its texts:"), t)
	}
	if len(q.Files) > 0 {
		s.Add(document.Paragraph("Files:"), document.List(q.Files))
	}
	return s
}

func factsSection(title string, facts []Fact) *document.Section {
	s := &document.Section{Title: title}
	topic := ""
	var t *document.Table
	for _, f := range facts {
		if t == nil || f.Topic != topic {
			topic, t = f.Topic, table("what", "value", "runs")
			s.Add(document.Paragraph(topic), t)
		}
		for i, v := range f.Values {
			name := f.Name
			if i > 0 {
				name = ""
			}
			t.Row(name, strings.ReplaceAll(v.Text, "\n", "; "), v.Runs)
		}
	}
	return s
}

func (r *Report) runsSection() *document.Section {
	t := table("run>", "contender", "ranks>", "hosts", "start", "sweep", "planned>", "points", "ended", "files")
	for _, one := range r.Runs[:min(len(r.Runs), maxMarkdownRuns)] {
		var files []string
		for _, f := range one.Files {
			files = append(files, r.Files[f].Name)
		}
		ended := one.Outcome
		if one.Reason != "" {
			ended += ": " + one.Reason
		}
		if one.Left > 0 {
			ended += fmt.Sprintf(", %d not reached", one.Left)
		}
		for _, mark := range one.Marks {
			ended += ", " + mark
		}
		world, planned := "", ""
		if one.World > 0 {
			world = fmt.Sprint(one.World)
		}
		if one.Planned > 0 {
			planned = fmt.Sprint(one.Planned)
		}
		t.Row(
			fmt.Sprint(one.Number),
			one.Who,
			world,
			one.Hosts,
			one.Start,
			one.Sweep,
			planned,
			countsWords(one.Counts),
			ended,
			strings.Join(files, ", "),
		)
	}
	s := &document.Section{Title: "Runs"}
	s.Add(t)
	s.Add(more(len(r.Runs)-maxMarkdownRuns, "run")...)
	return s
}

func (r *Report) filesSection() *document.Section {
	var links document.Links
	for _, f := range r.Files[:min(len(r.Files), maxMarkdownRuns)] {
		about := ""
		if f.Points > 0 {
			about = ", " + units.Count(f.Points, "record")
		}
		links = append(links, document.Link{Name: f.Name, Href: f.Href, About: about})
	}
	s := &document.Section{Title: "Files"}
	s.Add(links)
	if n := len(r.Files) - maxMarkdownRuns; n > 0 {
		s.Add(document.List{"and " + units.Count(n, "more file")})
	}
	return s
}

func (r *Report) stepsSection() *document.Section {
	s := &document.Section{Title: "Training step"}
	if r.Steps == nil {
		return s
	}
	s.Add(document.Paragraph(stepTableSays))
	for _, run := range r.Steps.Runs {
		of := &document.Section{Title: run.Title}
		of.Add(append(document.List(run.About), messages(run.Notices)...))
		for _, g := range run.Groups {
			group := &document.Section{Title: g.Title}
			group.Add(document.List(messages(g.Notices)))
			for _, l := range g.listings("") {
				group.Add(l.upTo(maxMarkdownRows).table())
			}
			of.Add(group)
		}
		s.Add(of)
	}
	return s
}

func messages(all []Headline) (texts []string) {
	for _, h := range all {
		texts = append(texts, h.Message)
	}
	return texts
}

// table is a listing's table alone.
func (l listing) table() *document.Table {
	t := &document.Table{}
	for _, h := range l.Heads {
		t.Columns = append(t.Columns, document.Column{Name: h.Name, Right: h.Figure})
	}
	for _, row := range l.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = c.Text
		}
		t.Row(cells...)
	}
	return t
}
