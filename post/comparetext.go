package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/stats"
	"busbar/internal/units"
)

// intro says what a side is.
func (s *side) intro() string {
	words := []string{s.name, units.Count(len(s.launches), "launch"), s.when()}
	if tools := valuesIn(s, importedFrom); tools != nil {
		words = append(words, "measured by "+strings.Join(tools, " and "))
	}
	if s.rehearsed {
		words = append(words, "REHEARSED: its figures say nothing about hardware")
	}
	return strings.Join(words, ", ")
}

// when is from when to when the launches of a side began, where that is known of all.
func (s *side) when() string {
	first, last := s.runs[0].Start.UTC(), s.runs[len(s.runs)-1].Start.UTC()
	const day, minute = "2006-01-02", "15:04"
	switch from := first.Format(day + " " + minute); {
	case first.IsZero(): // another tool measured, and did not say
		return "begun at a time that is not told"
	case first.Format(day) != last.Format(day):
		return from + " to " + last.Format(day+" "+minute) + " UTC"
	case first.Format(minute) != last.Format(minute):
		return from + " to " + last.Format(minute) + " UTC"
	default:
		return from + " UTC"
	}
}

// title says what a duel is of.
func (d *duel) title() string {
	return fmt.Sprintf("%s against %s: ratio of %s; over 1 %s takes longer", d.b.letter, d.a.letter, d.times, d.b.letter)
}

// tally counts the verdicts.
func (d *duel) tally() string {
	var words []string
	for _, v := range []stats.Verdict{stats.Worse, stats.Better, stats.Same, stats.CannotTell} {
		words = append(words, fmt.Sprintf("%d %s", d.count(v), v))
	}
	return fmt.Sprintf("%s: %s", units.Count(len(d.points), "point"), strings.Join(words, ", "))
}

// basis says what the verdicts stand on, and what they lack.
func (d *duel) basis() (sentences []string) {
	sure := fmt.Sprintf("%g %%", 100*d.standard.Alpha)
	what := "launches"
	if d.units.paired {
		what = "pairs of launches"
		sentences = append(sentences, fmt.Sprintf("Both sides were measured in the same %s, so each is compared with itself: %d pairs.", strings.TrimPrefix(units.Count(2, d.units.held), "2 "), d.units.shared))
	}
	if n := max(len(d.a.launches), len(d.b.launches)); d.units.paired && n > d.units.shared {
		sentences = append(sentences, "Launches that are in no pair count in the times shown only, not in the ratios.")
	}
	if d.Tested > 0 {
		looked := fmt.Sprintf("all %d ways", d.Labellings)
		if !d.Exact {
			looked = fmt.Sprintf("%d ways (drawn with seed %d)", d.Labellings, d.standard.Seed)
		}
		how := "to deal the launches to two sides"
		if d.units.paired {
			how = "to swap the sides within pairs"
		}
		sentences = append(sentences, fmt.Sprintf("p is over all %s together, from %s %s: were there no difference, a single better or worse would stand here in at most %s of comparisons. Intervals are of %g %%, each for itself.",
			units.Count(d.Tested, "point"), looked, how, sure, 100*(1-d.standard.Alpha)))
	}
	if few := len(d.points) - d.Tested; few > 0 {
		seen := ""
		if len(d.a.launches)+len(d.b.launches) > 2 {
			seen = " Bounds there are the least and greatest seen."
		}
		sentences = append(sentences, fmt.Sprintf("Too few launches at %s (%s has %s, %s has %s): a word takes %d %s%s.%s",
			units.Count(few, "point"), d.a.letter, units.Count(len(d.a.launches), "launch"), d.b.letter, units.Count(len(d.b.launches), "launch"), d.units.fewest, what, ofEach(d.units.paired), seen))
	}
	if d.units.shared > 0 && !d.units.paired {
		sentences = append(sentences, fmt.Sprintf("%s held both sides; they are compared apart, since pairs tell something from %d on.", units.Capital(units.Count(d.units.shared, d.units.held)), stats.FewestLaunches(d.standard.Alpha, true)))
	}
	return sentences
}

func ofEach(paired bool) string {
	if paired {
		return ""
	}
	return " of each"
}

// more is how many more launches a word would take, beside a verdict.
func more(c stats.Compared) string {
	switch {
	case c.Verdict != stats.CannotTell:
		return ""
	case c.More == stats.Hopeless:
		return "+many"
	}
	return fmt.Sprintf("+%d", c.More)
}

// moreNote explains more.
const moreNote = "cannot tell +N: about N more launches a side would probably do (+many: more than 100 in all)"

// fine writes a ratio near 1 with three decimals.
func fine(v float64) string {
	if v >= 0.0995 && v < 9.9995 {
		return fmt.Sprintf("%.3f", v)
	}
	return units.Times(v)
}

// fineRatio writes a ratio; "-" where no pair has a time of both sides.
func fineRatio(r stats.Ratio) string {
	if r.N == 0 {
		return "-"
	}
	return fine(r.Value)
}

func fineSpan(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "-"
	}
	return fine(r.Lo) + " to " + fine(r.Hi)
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

// writeText writes the comparison for a terminal of 80 columns.
func (c comparison) writeText(w io.Writer) error {
	var b strings.Builder
	for i, one := range c {
		if i > 0 {
			b.WriteString("\n")
		}
		one.writeText(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *comparedSides) writeText(b *strings.Builder) {
	put := func(indent int, text string) {
		for i, l := range wrap(text, 80-indent) {
			if i > 0 || indent > 3 {
				l = strings.Repeat(" ", indent) + l
			}
			b.WriteString(l + "\n")
		}
	}
	if c.heading != "" {
		b.WriteString(c.heading + "\n")
	}
	for _, s := range c.sides {
		put(3, s.letter+": "+s.intro())
	}
	for _, d := range c.duels {
		b.WriteString("\n")
		put(0, d.title())
		d.writeTables(b)
		b.WriteString("\n")
		put(0, units.Capital(d.tally())+".")
		for _, s := range d.basis() {
			put(0, s)
		}
		if d.count(stats.CannotTell) > 0 {
			put(0, units.Capital(moreNote)+".")
		}
		section(b, "Not alike, apart from times:", d.findingWords())
		section(b, "Without a partner, and so not compared:", d.aloneWords())
		var facts []string
		for _, f := range d.facts {
			facts = append(facts, f.words())
		}
		section(b, fmt.Sprintf("What else differs (%s | %s), any of which may be the cause:", d.a.letter, d.b.letter), facts)
		if text := d.exceedance(); text != "" {
			b.WriteString("\n")
			put(0, text)
		}
	}
}

// section writes a list under its title, if there is something in it.
func section(b *strings.Builder, title string, lines []string) {
	if lines == nil {
		return
	}
	b.WriteString("\n" + title + "\n")
	for _, text := range lines {
		for i, l := range wrap(text, 76) {
			b.WriteString([]string{"  ", "    "}[min(i, 1)] + l + "\n")
		}
	}
}

// writeTables writes the points, a table for each subject's.
func (d *duel) writeTables(b *strings.Builder) {
	notes := &footnotes{}
	for _, table := range d.tables() {
		b.WriteString("\n")
		for _, l := range wrap(table[0].of.title(), 80) {
			b.WriteString(l + "\n")
		}
		fmt.Fprintf(b, "%11s %9s %9s   ratio  %-14s %6s verdict\n", d.point, d.a.letter, d.b.letter, "interval", "p")
		for _, p := range table {
			row := fmt.Sprintf("%11s %9s %9s %7s  %-14s %6s %s", p.of.name(), units.Duration(p.a.median), units.Duration(p.b.median),
				fineRatio(p.verdict.Ratio), fineSpan(p.verdict.Ratio), pvalue(p.verdict), p.verdict.Verdict)
			for _, word := range []string{more(p.verdict), notes.marksOf(p.notes)} {
				if word == "" {
					continue
				}
				if len(row)+1+len(word) > 80 && !strings.Contains(row, "\n") {
					row += "\n" + strings.Repeat(" ", 62)
				}
				row += " " + word
			}
			b.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		if d.ownTable {
			d.writeBeside(b, table)
		}
	}
	_ = notes.write(b) // a builder has no errors
}

// writeBeside writes the figures beside the times, those of both sides next to each other.
func (d *duel) writeBeside(b *strings.Builder, table []judged) {
	line := fmt.Sprintf("%11s", d.point)
	for _, head := range d.beside {
		for _, s := range []*side{d.a, d.b} {
			line += fmt.Sprintf(" %12s", head+" "+s.letter)
		}
	}
	b.WriteString(line + "\n")
	for _, p := range table {
		line, ofA, ofB := fmt.Sprintf("%11s", p.of.name()), p.of.beside(p.a), p.of.beside(p.b)
		for i := range d.beside {
			line += fmt.Sprintf(" %12s %12s", ofA[i], ofB[i])
		}
		b.WriteString(line + "\n")
	}
}

// tables are the points by the tables that they stand in.
func (d *duel) tables() (tables [][]judged) {
	for i := 0; i < len(d.points); {
		first := i
		for ; i < len(d.points) && d.points[first].of.sameTable(d.points[i].of); i++ {
		}
		tables = append(tables, d.points[first:i])
	}
	return tables
}

// findingWords are the findings in lines; points of a table that came out alike share one.
func (d *duel) findingWords() (lines []string) {
	same := func(f, g finding) bool {
		return f.kind == g.kind && f.a == g.a && f.b == g.b && f.of.sameTable(g.of)
	}
	for i := 0; i < len(d.findings); {
		f := d.findings[i]
		var names []string
		for ; i < len(d.findings) && same(f, d.findings[i]); i++ {
			names = append(names, d.findings[i].of.name())
		}
		lines = append(lines, fmt.Sprintf("%s: %s: %s; %s: %s; %s: %s", strings.ToUpper(string(f.kind)), f.of.title(), units.Some(names), d.a.letter, f.a, d.b.letter, f.b))
	}
	return lines
}

// aloneWords are the points without a partner in lines, by table.
func (d *duel) aloneWords() (lines []string) {
	for _, s := range []*side{d.a, d.b} {
		var of []alone
		for _, f := range d.alone {
			if f.side == s {
				of = append(of, f)
			}
		}
		for i := 0; i < len(of); {
			f := of[i]
			var names []string
			for ; i < len(of) && f.of.sameTable(of[i].of); i++ {
				names = append(names, of[i].of.name())
			}
			lines = append(lines, fmt.Sprintf("only in %s: %s: %s", s.letter, f.of.title(), units.Some(names)))
		}
	}
	return lines
}

// missing counts the points that only the first side has a record of.
func (d *duel) missing() (n int) {
	for _, f := range d.alone {
		if f.side == d.a {
			n++
		}
	}
	return n
}

// exceedance says what --fail-above found; empty where it was not asked for.
func (d *duel) exceedance() string {
	if !slices.ContainsFunc(d.points, func(p judged) bool { return p.limit.failAbove > 0 }) && !slices.ContainsFunc(d.findings, func(f finding) bool { return f.limited }) {
		return ""
	}
	worse, fail := d.exceeded()
	text := fmt.Sprintf("--fail-above: %s worse by more than allowed", units.Count(worse, "point"))
	if fail > 0 {
		text += fmt.Sprintf(", %s that failed in %s and not, or less, in %s", units.Count(fail, "point"), d.b.letter, d.a.letter)
	}
	if n := d.count(stats.CannotTell); n > 0 {
		text += fmt.Sprintf("; of %s nothing can be told", units.Count(n, "point"))
	}
	if n := d.missing(); n > 0 {
		text += fmt.Sprintf("; %s that %s has not at all", units.Count(n, "point"), d.b.letter)
	}
	return text + "."
}
