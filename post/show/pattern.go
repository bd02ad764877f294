package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Patterns are runs that measured groups of nodes. A run that continues another is judged with it. Other launches are
// judged alone: a slow node may have been repaired between them.
type Patterns struct{ of []*patternTimes }

// patternTimes are the times of the groups of a pattern in a run and in those that continue it.
type patternTimes struct {
	runs  []string // their IDs
	run   *result.Run
	cases []coll.Case
	times map[result.PointKey]result.Time
}

// Add adds a record; one without a pattern changes nothing.
func (p *Patterns) Add(row result.Row) {
	run, r := row.Run, row.Record
	if run.Pattern == nil {
		return
	}
	i := slices.IndexFunc(p.of, func(t *patternTimes) bool { return t.run.ID == run.ID })
	if i < 0 {
		i, p.of = len(p.of), append(p.of, &patternTimes{
			runs: append([]string{run.ID}, run.Resumes...), run: run, times: map[result.PointKey]result.Time{},
		})
	}
	t := p.of[i]
	t.cases = units.AddOnce(t.cases, r.Case)
	if r.Timed() {
		t.times[r.Point(run.Backend.Name)] = *r.Time
	}
}

// Notices are the verdicts on all cases.
func (p *Patterns) Notices() (all []notice.Notice) {
	for _, t := range p.chains() {
		verdicts := t.verdicts()
		for _, c := range t.cases {
			v := verdicts[c]
			for _, n := range v.Notices(t.run.Pattern.Hosts) {
				n.At.Subject = c.String()
				all = append(all, n)
			}
		}
	}
	return all
}

// Matrices calls f for each matrix of each case.
func (p *Patterns) Matrices(f func(*result.Run, coll.Case, pattern.Matrix)) {
	for _, t := range p.chains() {
		verdicts := t.verdicts()
		for _, c := range t.cases {
			v := verdicts[c]
			for _, m := range v.Matrices(t.run.Pattern.Hosts) {
				m.Title = matrixTitle(t.run.Pattern.Kind, m)
				f(t.run, c, m)
			}
		}
	}
}

func (t *patternTimes) verdicts() map[coll.Case]pattern.Verdict {
	return pattern.Verdicts(t.run.Pattern, t.run.Backend.Name, t.cases, t.times)
}

// chains are the runs, oldest first, each with those that continue it.
func (p *Patterns) chains() (chains []*patternTimes) {
	runs := slices.Clone(p.of)
	slices.SortStableFunc(runs, func(a, b *patternTimes) int { return a.run.Start.Compare(b.run.Start) })
	for _, t := range runs {
		i := slices.IndexFunc(chains, func(c *patternTimes) bool {
			return c.run.Key() == t.run.Key() &&
				slices.ContainsFunc(t.runs, func(id string) bool { return slices.Contains(c.runs, id) })
		})
		if i < 0 {
			chains = append(chains, t)
			continue
		}
		c := chains[i]
		c.runs = append(c.runs, t.runs...)
		for _, k := range t.cases {
			c.cases = units.AddOnce(c.cases, k)
		}
		maps.Copy(c.times, t.times)
	}
	return chains
}

// Sections are the verdict on each pattern with its times; list makes the list of notices about a case.
func (p *Patterns) Sections(list func([]notice.Notice, string) document.List) (all []document.Block) {
	chains := p.chains()
	for _, t := range chains {
		of := t.run.Pattern
		section := &document.Section{
			Title: fmt.Sprintf("%s of %s with %s (%s), in %s: %s", of.Kind, units.Count(len(of.Hosts), "node"),
				t.run.Backend.Name, t.run.Backend.Library, units.Count(of.Rounds, "round"), units.Some(of.Hosts)),
		}
		if t.run.Rehearse {
			section.Title += " (SIMULATED: not about hardware)"
		}
		if len(chains) > 1 {
			section.Title += ", started " + t.run.Start.Format("2006-01-02 15:04:05 UTC")
		}
		verdicts := t.verdicts()
		for _, c := range t.cases {
			v := verdicts[c]
			below := document.NewSection(c.String(), list(v.Notices(of.Hosts), c.String()))
			below.Add(matrices(of.Kind, v.Matrices(of.Hosts))...)
			if of.Kind == pattern.Halves {
				below.Add(t.halves(c))
			}
			section.Add(below)
		}
		all = append(all, section)
	}
	return all
}

// mostColumns is how many nodes or GPUs a table has room for in 80 columns; longer tables than mostRows nobody reads.
const mostColumns, mostRows = 11, 64

// matrices are tables of nodes or GPUs, where a table has room for them.
func matrices(kind string, all []pattern.Matrix) (blocks []document.Block) {
	for _, m := range all {
		t := document.NewTable("")
		for _, name := range m.Columns {
			t.Columns = append(t.Columns, document.Column{Name: name, Right: true})
		}
		for i, row := range m.Values {
			cells := []string{clip(m.Rows[i])}
			for k, x := range row {
				switch {
				case x > 0:
					cells = append(cells, multiple(x))
				case k == i:
					cells = append(cells, "-")
				default:
					cells = append(cells, "?")
				}
			}
			t.Row(cells...)
		}
		if len(m.Columns) <= mostColumns && len(m.Rows) <= mostRows {
			blocks = append(blocks, document.Paragraph(matrixTitle(kind, m)), t)
		}
	}
	return blocks
}

func matrixTitle(kind string, m pattern.Matrix) string {
	if kind == pattern.Pairs {
		return "times of the pairs as multiples of " + m.Title + ", the median of sound pairs"
	}
	return m.Title
}

// multiple writes a factor in four columns, unless it is less than 0.1.
func multiple(x float64) string {
	if x < 1 && x >= 0.1 {
		return fmt.Sprintf("%.2f", x)
	}
	return units.Times(min(x, 9999))
}

// halves are the times of the halves of each round.
func (t *patternTimes) halves(c coll.Case) (list document.List) {
	rounds, err := pattern.ShapeOf(t.run.Pattern).Rounds()
	if err != nil {
		return nil
	}
	for i, halves := range rounds {
		var words []string
		for _, nodes := range halves {
			g := pattern.GroupOf(t.run.Pattern, i+1, nodes)
			key := result.Point(t.run.Backend.Name, c, 0)
			key.Group = g.String()
			words = append(words, units.Duration(t.times[key].Seconds)+" "+units.Some(g.Hosts))
		}
		list = append(list, fmt.Sprintf("round %d: %s", i+1, strings.Join(words, " | ")))
	}
	return list
}

// patternRun is one run of a pattern: its description, and the points that have no value. Its times are judged with
// those of the runs that continue it.
func (s *Tables) patternRun(f *result.File) *document.Section {
	notes := s.footnotes(f.Path)
	section, described := s.head(f, notes)
	described.Tables = []shownTable{{Title: f.Run.Pattern.Kind}}
	points, list := &described.Tables[0].Points, document.List(nil)
	for r := range units.Each(f.Records) {
		*points = append(*points, result.Row{Run: &f.Run, Record: r}.JSON())
		if r.Status != result.OK {
			list = append(list, fmt.Sprintf("%s, %s: %s: %s", r.Case, r.Group, r.Status, r.Reason))
		}
	}
	section.Add(list)
	section.Add(notes.Blocks()...)
	return section
}

// clip shortens a name to the width of a column.
func clip(name string) string {
	if r := []rune(name); len(r) > 14 {
		return string(r[:13]) + "…"
	}
	return name
}
