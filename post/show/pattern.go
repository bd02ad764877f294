package show

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Patterns are the verdict on each pattern with its times; list makes the list of notices about a case.
func Patterns(runs *pattern.Runs, list func([]notice.Notice, string) document.List) (all []document.Block) {
	chains := runs.Chains()
	for _, t := range chains {
		of := t.Run.Pattern
		section := &document.Section{
			Title: fmt.Sprintf("%s of %s with %s (%s), in %s: %s", of.Kind, units.Count(len(of.Hosts), "node"),
				t.Run.Backend.Name, t.Run.Backend.Library, units.Count(of.Rounds, "round"), units.Some(of.Hosts)),
		}
		if t.Run.Rehearse {
			section.Title += " (SIMULATED: not about hardware)"
		}
		if len(chains) > 1 {
			section.Title += ", started " + t.Run.Start.Format("2006-01-02 15:04:05 UTC")
		}
		t.Each(func(c coll.Case, v pattern.Verdict) {
			below := document.NewSection(c.String(), list(v.Notices(of.Hosts), c.String()))
			below.Add(matrices(v.Matrices(of.Hosts))...)
			if of.Kind == pattern.Halves {
				below.Add(halvesOf(t, c))
			}
			section.Add(below)
		})
		all = append(all, section)
	}
	return all
}

// mostColumns is how many nodes or GPUs a table has room for in 80 columns; longer tables than mostRows nobody reads.
const mostColumns, mostRows = 11, 64

// matrices are tables of nodes or GPUs, where a table has room for them.
func matrices(all []pattern.Matrix) (blocks []document.Block) {
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
			blocks = append(blocks, document.Paragraph(matrixTitle(m)), t)
		}
	}
	return blocks
}

func matrixTitle(m pattern.Matrix) string {
	if m.Name == "" {
		return "times of the pairs as multiples of " + m.Unit + ", the median of sound pairs"
	}
	return fmt.Sprintf("%s (%s)", m.Name, m.Unit)
}

// multiple writes a factor in four columns, unless it is less than 0.1.
func multiple(x float64) string {
	if x < 1 && x >= 0.1 {
		return fmt.Sprintf("%.2f", x)
	}
	return units.Times(min(x, 9999))
}

// halvesOf are the times of the halves of each round.
func halvesOf(t *pattern.Chain, c coll.Case) (list document.List) {
	rounds, err := pattern.ShapeOf(t.Run.Pattern).Rounds()
	if err != nil {
		return nil
	}
	for i, halves := range rounds {
		var words []string
		for _, nodes := range halves {
			g := pattern.GroupOf(t.Run.Pattern, i+1, nodes)
			key := result.Point(t.Run.Backend.Name, c, 0)
			key.Group = g.String()
			words = append(words, units.Duration(t.Times[key].Seconds)+" "+units.Some(g.Hosts))
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
