package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/plot"
)

// writeMarkdown writes the comparison as a page.
func (c comparison) writeMarkdown(w io.Writer) error {
	p := &page{}
	p.line("# Comparison")
	if c.rehearsed() {
		p.line("\n**REHEARSED: rows of a rehearsed side are of stand-ins; no device was measured, and their figures say nothing about hardware.**")
	}
	for _, one := range c {
		if one.heading != "" {
			p.line("\n## %s", one.heading)
		}
		one.markdown(p)
	}
	return p.end(w)
}

func (c *comparedSides) markdown(p *page) {
	p.line("")
	for _, s := range c.sides {
		p.item(s.letter + ": " + s.intro())
	}
	p.line("\n%s", c.units)
	for _, d := range c.duels {
		p.line("\n## %s\n", d.title())
		p.line("%s.", units.Capital(d.tally()))
		for _, s := range d.basis() {
			p.line("%s", result.MarkdownText(s))
		}
		if text := d.exceedance(); text != "" {
			p.line("\n**%s**", text)
		}
		d.markdownTables(p)
		p.list("Not alike, apart from times", d.findingWords())
		p.list("Without a partner, and so not compared", d.aloneWords())
		var facts []string
		for _, f := range d.facts {
			facts = append(facts, f.words())
		}
		p.list(fmt.Sprintf("What else differs (%s, then %s), any of which may be the cause", d.a.letter, d.b.letter), facts)
	}
}

func (c comparison) rehearsed() bool {
	for _, one := range c {
		if slices.ContainsFunc(one.sides, func(s *side) bool { return s.rehearsed }) {
			return true
		}
	}
	return false
}

// item writes one line of a list.
func (p *page) item(text string) { p.line("- %s", result.MarkdownText(text)) }

// list writes a part of the page that is a list, if there is something in it.
func (p *page) list(title string, lines []string) {
	if lines == nil {
		return
	}
	p.line("\n### %s\n", title)
	for _, l := range lines {
		p.item(l)
	}
}

func (d *duel) markdownTables(p *page) {
	for _, table := range d.tables() {
		p.line("\n### %s\n", result.MarkdownText(table[0].of.title()))
		p.row(slices.Concat([]string{d.point, d.a.letter, "launches"}, d.beside, []string{d.b.letter, "launches"}, d.beside, []string{"ratio", "bounds", "p", "verdict", "notes"})...)
		p.rule(strings.Repeat("r", 8+2*len(d.beside)) + "ll")
		for _, j := range table {
			d.markdownRow(p, &j)
		}
	}
	if d.count(stats.CannotTell) > 0 {
		p.line("\n%s.", units.Capital(moreNote))
	}
}

func (d *duel) markdownRow(p *page, j *judged) {
	notes := j.notes
	if j.verdict.Ratio.Basis == stats.LaunchSpread {
		notes = append(notes, "bounds: the least and greatest seen; the launches are too few for an interval")
	}
	if j.exceeded {
		notes = append(notes, fmt.Sprintf("worse by more than the %.3g %% of --fail-above", 100*j.limit.failAbove))
	}
	verdict := j.verdict.Verdict.String()
	if text := more(j.verdict); text != "" {
		verdict += " " + text
	}
	cells := []string{j.of.name()}
	for _, t := range []took{j.a, j.b} {
		cells = append(append(cells, units.Duration(t.median), fmt.Sprint(t.launches)), j.of.beside(t)...)
	}
	p.row(append(cells, fineRatio(j.verdict.Ratio), fineSpan(j.verdict.Ratio), pvalue(j.verdict), verdict, p.notes.marksOf(notes))...)
}

// pictures are those of all that is compared by size.
func (c comparison) pictures() (all []plot.Ratio) {
	for _, one := range c {
		if one.hasSizes {
			all = append(all, one.pictures()...)
		}
	}
	return all
}

// pictures are the ratios of every duel over size, a picture for each table and a curve for each world in it.
func (c *comparedSides) pictures() (all []plot.Ratio) {
	type id struct {
		d      *duel
		family analysis.Condition
		who    string
	}
	index, curve := map[id]int{}, map[id]map[analysis.Condition]int{}
	for _, d := range c.duels {
		for _, j := range d.points {
			if j.verdict.Ratio.N == 0 {
				continue
			}
			under := j.of.(collective)
			k := id{d, analysis.FamilyOf(under.Condition), under.who}
			i, there := index[k]
			if !there {
				i = len(all)
				index[k], curve[k] = i, map[analysis.Condition]int{}
				all = append(all, plot.Ratio{Name: pictureName(d, k.family.FamilyTitle()+under.who), Title: fmt.Sprintf("%s%s: %s against %s", k.family.FamilyTitle(), under.who, d.b.letter, d.a.letter),
					Subtitle: []string{d.a.letter + ": " + d.a.intro(), d.b.letter + ": " + d.b.intro()}, Label: fmt.Sprintf("time of %s / time of %s", d.b.letter, d.a.letter),
					Margin: j.limit.margin, Rehearsed: d.a.rehearsed || d.b.rehearsed, Bounds: d.bounds()})
			}
			r := &all[i]
			if r.Margin != j.limit.margin {
				r.Margin = 0
			}
			n, there := curve[k][analysis.TableOf(under.Condition)]
			if !there {
				n = len(r.Curves)
				curve[k][analysis.TableOf(under.Condition)] = n
				r.Curves = append(r.Curves, plot.RatioCurve{Label: under.shape().Words()})
			}
			q := j.verdict.Ratio
			xy := plot.XY{X: float64(under.SizeBytes), Y: q.Value, Lo: q.Value, Hi: q.Value}
			if q.Basis != stats.NoBounds {
				xy.Lo, xy.Hi = q.Lo, q.Hi
			}
			r.Curves[n].Points = append(r.Curves[n].Points, xy)
		}
	}
	return all
}

func pictureName(d *duel, of string) string {
	return strings.NewReplacer(", ", "_", " ", "_").Replace(fmt.Sprintf("compare_%s_%s", d.b.letter, of))
}

// bounds are what the bands of a picture are.
func (d *duel) bounds() string {
	switch {
	case d.Tested == len(d.points):
		return fmt.Sprintf("%g %% intervals over launches", 100*(1-d.standard.Alpha))
	case d.Tested == 0 && len(d.a.launches)+len(d.b.launches) == 2:
		return "none, with one launch of each"
	case d.Tested == 0:
		return "the least and greatest seen, too few launches for an interval"
	}
	return fmt.Sprintf("%g %% intervals over launches, or the least and greatest of few", 100*(1-d.standard.Alpha))
}
