package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
)

// campaigns are the times of the runs shown, by campaign, for the tables that compare what was measured in one.
type campaigns struct {
	order []string
	of    map[string]*measurements
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
		c.of, c.seen = map[string]*measurements{}, map[recordID]bool{}
	}
	if c.of[id] == nil {
		c.of[id] = newMeasurements()
		c.order = append(c.order, id)
	}
	for i := range f.Records {
		known := recordID{f.Run.ID, f.Records[i].N}
		if known.n == 0 || !c.seen[known] {
			c.of[id].add(&f.Run, &f.Records[i])
			c.seen[known] = true
		}
	}
	if f.Run.Interleaved != nil {
		c.of[id].asked = f.Run.Interleaved
	}
}

// write writes a table for every contender of a campaign but the first, against the first that it has a condition in common
// with: variants may differ in how figures are taken.
func (c *campaigns) write(w io.Writer) {
	for _, id := range c.order {
		m := c.of[id]
		if len(m.contenders) < 2 {
			continue
		}
		m.arrange()
		name := names(m.contenders)
		for i, other := range m.contenders {
			for _, first := range m.contenders[:i] {
				if m.common(first, other) {
					writeComparison(w, m, first, other, name)
					break
				}
			}
		}
	}
}

// tableOf is the condition that all rows of one comparison share: everything but the size.
func tableOf(c condition) condition {
	c.SizeBytes, c.Count = 0, 0
	return c
}

// writeComparison writes what two contenders took under each condition that both were measured under.
func writeComparison(w io.Writer, m *measurements, first, other contender, name map[contender]string) {
	var shared []condition
	for under := range m.cells[other] {
		if m.cells[first][under] != nil {
			shared = append(shared, under)
		}
	}
	if shared == nil {
		return
	}
	slices.SortFunc(shared, compareConditions)
	title := fmt.Sprintf("%s against %s: ratio of their times", name[other], name[first])
	if first.rehearsed || other.rehearsed {
		title += " (REHEARSED: it says nothing about hardware)"
	}
	fmt.Fprintln(w)
	for _, line := range wrap(title, 80) {
		fmt.Fprintln(w, line)
	}
	notes := &footnotes{}
	for i, under := range shared {
		if i == 0 || tableOf(shared[i-1]) != tableOf(under) {
			fmt.Fprintf(w, "\n%s\n", strings.Join(wrap(heading(under), 80), "\n"))
			fmt.Fprintf(w, "       size %11s %11s   ratio  bounds\n", clip(head(first, other)), clip(head(other, first)))
		}
		a, b := m.cells[first][under], m.cells[other][under]
		r := ratio(b, a)
		was, _ := a.over()
		now, _ := b.over()
		words, about := verdict(r), []string{meaning(r)}
		if why := m.crowded(shapeOf(under), first, other); why != "" {
			words, about = "", append(about, crowdedNote(why))
		}
		fmt.Fprintf(w, "%11s %11s %11s %7s  %-17s %-11s %s\n", coll.FormatSize(under.SizeBytes, true), duration(was.Value), duration(now.Value), times(r.Value), span(r), words, notes.marks(about))
	}
	notes.write(w)
}

// crowdedNote is the footnote of times whose ranks or threads shared cores.
func crowdedNote(why string) string {
	return "oversubscribed: " + why + ": these figures say nothing about speed"
}

// span is the bounds alone; "-" where there are none.
func span(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "-"
	}
	return times(r.Lo) + " to " + times(r.Hi)
}

// head is what tells a contender from the other one above their columns: its backend, or of one backend its variant.
func head(c, other contender) string {
	if c.backend == other.backend && c.variant != "" {
		return c.variant
	}
	return c.backend
}

// clip shortens a name to the width of a column.
func clip(name string) string {
	if r := []rune(name); len(r) > 11 {
		return string(r[:10]) + "…"
	}
	return name
}

// heading says under what condition a table's times were taken.
func heading(c condition) string {
	world := count(c.World, "rank")
	if c.nodes > 1 {
		world += fmt.Sprintf(" on %d nodes", c.nodes)
	}
	words := tableKey{"", c.Collective, c.Type, c.Op, c.Root, c.Placement, c.Mode}.String()
	return words + ", " + world + unusual(&result.Method{Rotate: c.rotate, Aggregate: c.aggregate, Average: c.average})
}
