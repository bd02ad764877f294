package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

// campaigns are the times of the runs shown, by campaign, for the tables that compare what was measured in one.
type campaigns struct {
	order []string
	of    map[string]*analysis.Measurements
	seen  map[recordID]bool // a copy of a run's file counts no more
}

// recordID is what a record is known by, wherever it lies.
type recordID struct {
	run string
	n   int
}

func (c *campaigns) add(f *result.File) {
	id := f.Run.Campaign
	if id == "" {
		id = f.Run.Launch
	}
	if c.of == nil {
		c.of, c.seen = map[string]*analysis.Measurements{}, map[recordID]bool{}
	}
	if c.of[id] == nil {
		c.of[id] = analysis.NewMeasurements()
		c.order = append(c.order, id)
	}
	for i := range f.Records {
		known := recordID{f.Run.ID, f.Records[i].N}
		if known.n == 0 || !c.seen[known] {
			c.of[id].Add(&f.Run, &f.Records[i])
			c.seen[known] = true
		}
	}
	if f.Run.Interleaved != nil {
		c.of[id].Asked = f.Run.Interleaved
	}
}

// write writes a table for every contender of a campaign but the first, against the first that it has a condition in common
// with: variants may differ in how figures are taken.
func (c *campaigns) write(w io.Writer) {
	for _, id := range c.order {
		m := c.of[id]
		if len(m.Contenders) < 2 {
			continue
		}
		m.Arrange()
		name := analysis.Names(m.Contenders)
		for i, other := range m.Contenders {
			for _, first := range m.Contenders[:i] {
				if m.Common(first, other) {
					writeComparison(w, m, first, other, name)
					break
				}
			}
		}
	}
}

// writeComparison writes what two contenders took under each condition that both were measured under.
func writeComparison(w io.Writer, m *analysis.Measurements, first, other analysis.Contender, name map[analysis.Contender]string) {
	var shared []analysis.Condition
	for under := range m.Cells[other] {
		if m.Cells[first][under] != nil {
			shared = append(shared, under)
		}
	}
	if shared == nil {
		return
	}
	slices.SortFunc(shared, analysis.CompareConditions)
	title := fmt.Sprintf("%s against %s: ratio of their times", name[other], name[first])
	if first.Rehearsed || other.Rehearsed {
		title += " (REHEARSED: it says nothing about hardware)"
	}
	fmt.Fprintln(w)
	for _, line := range wrap(title, 80) {
		fmt.Fprintln(w, line)
	}
	notes := &footnotes{}
	for i, under := range shared {
		if i == 0 || analysis.TableOf(shared[i-1]) != analysis.TableOf(under) {
			fmt.Fprintf(w, "\n%s\n", strings.Join(wrap(under.Title(), 80), "\n"))
			fmt.Fprintf(w, "       size %11s %11s   ratio  bounds\n", clip(head(first, other)), clip(head(other, first)))
		}
		a, b := m.Cells[first][under], m.Cells[other][under]
		r := analysis.Ratio(b, a)
		was, _ := a.Over()
		now, _ := b.Over()
		words, about := verdict(r), []string{meaning(r)}
		if why := m.Crowded(analysis.ShapeOf(under), first, other); why != "" {
			words, about = "", append(about, why)
		}
		fmt.Fprintf(w, "%11s %11s %11s %7s  %-17s %-11s %s\n", coll.FormatSize(under.SizeBytes, true), units.Duration(was.Value), units.Duration(now.Value), units.Times(r.Value), say.Span(r), words, notes.marks(about))
	}
	notes.write(w)
}

// head is what tells a contender from the other one above their columns: its backend, or of one backend its variant.
func head(c, other analysis.Contender) string {
	if c.Backend == other.Backend && c.Variant != "" {
		return c.Variant
	}
	return c.Backend
}

// clip shortens a name to the width of a column.
func clip(name string) string {
	if r := []rune(name); len(r) > 11 {
		return string(r[:10]) + "…"
	}
	return name
}
