package main

import (
	"fmt"
	"io"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
	"busbar/post/plot"
	"busbar/post/say"
)

// writeMarkdown writes the comparison as a page.
func (c *comparedSides) writeMarkdown(w io.Writer) error {
	p := &page{}
	p.line("# Comparison\n")
	if c.rehearsed() {
		p.line("**REHEARSED: rows of a rehearsed side are of stand-ins; no device was measured, and their figures say nothing about hardware.**\n")
	}
	for _, s := range c.sides {
		p.item(s.letter + ": " + s.intro())
	}
	p.line("\nSizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians over launches.")
	for _, d := range c.duels {
		p.line("\n## %s\n", d.title())
		p.line("%s.", upper(d.tally()))
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
	return p.end(w)
}

func (c *comparedSides) rehearsed() bool {
	for _, s := range c.sides {
		if s.rehearsed {
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
	for i, j := range d.points {
		if i == 0 || analysis.TableOf(d.points[i-1].under) != analysis.TableOf(j.under) || d.points[i-1].who != j.who {
			p.line("\n### %s\n", result.MarkdownText(j.under.Title()+j.who))
			p.row("size", d.a.letter, "launches", "busbw GB/s", d.b.letter, "launches", "busbw GB/s", "ratio", "bounds", "p", "verdict", "notes")
			p.rule("rrrrrrrrrrll")
		}
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
		p.row(coll.FormatSize(j.under.SizeBytes, true), say.Duration(j.a.median), fmt.Sprint(j.a.launches), say.Bandwidth(j.under.BusBW(j.a.median)),
			say.Duration(j.b.median), fmt.Sprint(j.b.launches), say.Bandwidth(j.under.BusBW(j.b.median)),
			fineRatio(j.verdict.Ratio), fineSpan(j.verdict.Ratio), pvalue(j.verdict), verdict, p.notes.marks(notes))
	}
	if d.count(stats.CannotTell) > 0 {
		p.line("\n%s.", upper(moreNote))
	}
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
			k := id{d, analysis.FamilyOf(j.under), j.who}
			i, there := index[k]
			if !there {
				i = len(all)
				index[k], curve[k] = i, map[analysis.Condition]int{}
				all = append(all, plot.Ratio{Name: pictureName(d, k.family.FamilyTitle()+j.who), Title: fmt.Sprintf("%s%s: %s against %s", k.family.FamilyTitle(), j.who, d.b.letter, d.a.letter),
					Subtitle: []string{d.a.letter + ": " + d.a.intro(), d.b.letter + ": " + d.b.intro()}, Label: fmt.Sprintf("time of %s / time of %s", d.b.letter, d.a.letter),
					Margin: j.limit.margin, Rehearsed: d.a.rehearsed || d.b.rehearsed, Bounds: d.bounds()})
			}
			r := &all[i]
			if r.Margin != j.limit.margin {
				r.Margin = 0
			}
			n, there := curve[k][analysis.TableOf(j.under)]
			if !there {
				n = len(r.Curves)
				curve[k][analysis.TableOf(j.under)] = n
				r.Curves = append(r.Curves, plot.RatioCurve{Label: analysis.ShapeOf(j.under).Words()})
			}
			q := j.verdict.Ratio
			xy := plot.XY{X: float64(j.under.SizeBytes), Y: q.Value, Lo: q.Value, Hi: q.Value}
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
