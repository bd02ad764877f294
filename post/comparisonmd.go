package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

// page collects a Markdown page.
type page struct {
	strings.Builder
	notes footnotes
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// row writes one row of a table.
func (p *page) row(cells ...string) {
	for _, c := range cells {
		p.WriteString("| " + units.Markdown(c) + " ")
	}
	p.WriteString("|\n")
}

// rule writes the line under a table's head: text to the left, figures to the right.
func (p *page) rule(alignments string) {
	for _, a := range alignments {
		p.WriteString(map[rune]string{'l': "|---", 'r': "|---:"}[a])
	}
	p.WriteString("|\n")
}

// end writes the footnotes and the page.
func (p *page) end(w io.Writer) error {
	for i, n := range p.notes.all {
		if i == 0 {
			p.line("")
		}
		p.line("- [%d] %s", i+1, units.Markdown(n.text))
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// head says what the page is of.
func (f *findings) head(p *page, title string) {
	p.line("# %s\n", title)
	if f.rehearsed > 0 {
		p.line("**%s**\n", simulatedWords)
	}
	for _, b := range f.missing() {
		p.line("%s\n", notice.Sentence(f.lackOf(b)))
	}
	p.line("Sizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians.\n")
}

// writeFull writes every point of every run.
func (f *findings) writeFull(w io.Writer) error {
	p := &page{}
	f.head(p, "Full results")
	references := f.references()
	var last analysis.Condition
	for i, row := range f.rowsByTable() {
		under := analysis.ConditionOf(row.Run, row.Record)
		if t := analysis.FamilyOf(under); i == 0 || t != last {
			last = t
			p.line("\n## %s\n", t.FamilyTitle())
			p.row("backend", "device", "ranks", "size", "time", "95 % interval", "algbw GB/s", "busbw GB/s", "time against the first of the launch", "status", "notes")
			p.rule("llrrrrrrrll")
		}
		r := row.Record
		cells := []string{f.name[analysis.ContenderOf(row.Run)] + mark(analysis.ContenderOf(row.Run)), deviceKind(row.Run.Backend.Name), analysis.ShapeOf(under).String(), coll.FormatSize(r.SizeBytes, true), "", "", "", "", "", string(r.Status)}
		about := slices.Concat(row.Run.Warnings, r.Warnings).Texts()
		if r.Timed() {
			t := r.Time
			cells[4], cells[6], cells[7] = units.Duration(t.Seconds), units.Gigabytes(r.AlgBW(t.Seconds)), units.Gigabytes(r.BusBW(t.Seconds))
			if t.Lo > 0 {
				cells[5] = units.Duration(t.Lo) + " to " + units.Duration(t.Hi)
			}
			var why string
			if cells[8], why = f.againstFirst(references, row, under); why != "" {
				about = append(about, "the first of the launch: "+why)
			}
		} else if r.Reason != "" {
			cells[9] += ": " + r.Reason
		}
		p.row(append(cells, p.notes.marksOf(about))...)
	}
	return p.end(w)
}

// references are the first contender of each launch, or block of launches, that had several.
func (f *findings) references() map[string]analysis.Contender {
	several, first := map[string]bool{}, map[string]analysis.Contender{}
	for _, run := range f.runs {
		who, launch := analysis.ContenderOf(run), run.PairedBy()
		if ref, there := first[launch]; !there {
			first[launch] = who
		} else if ref != who {
			several[launch] = true
			if f.rank(who) < f.rank(ref) {
				first[launch] = who
			}
		}
	}
	maps.DeleteFunc(first, func(launch string, _ analysis.Contender) bool { return !several[launch] })
	return first
}

// rank is a contender's place in the order of comparison.
func (f *findings) rank(who analysis.Contender) int { return slices.Index(f.times.Contenders, who) }

// againstFirst is the ratio of a row's time to that of the first contender of its launch, with its interval, and why that
// one's time says nothing about speed, if it does not.
func (f *findings) againstFirst(references map[string]analysis.Contender, row result.Row, under analysis.Condition) (words, crowded string) {
	launch := row.Run.PairedBy()
	first, there := references[launch]
	if !there {
		return "", ""
	}
	if first == analysis.ContenderOf(row.Run) {
		return "1 (the first)", ""
	}
	base := f.times.Cells[first][under]
	if base == nil || base.Times[launch] == nil {
		return "", ""
	}
	r := stats.RatioOf(stats.Estimate{Value: row.Record.Time.Seconds, Lo: row.Record.Time.Lo, Hi: row.Record.Time.Hi}, base.In(launch))
	if words = units.Times(r.Value); r.Basis != stats.NoBounds {
		words += " (" + say.Span(r) + ")"
	}
	return words, notice.Reason(f.times.Crowded(analysis.ShapeOf(under), first))
}

// writeSummary writes the median over launches of every configuration, against the first backend.
func (f *findings) writeSummary(w io.Writer) error {
	p := &page{}
	f.head(p, "Summary by configuration")
	if len(f.times.Contenders) == 0 {
		p.line("No point has a time: full_results.md says why.")
	}
	for _, family := range f.times.Families() {
		p.line("\n## %s\n", family.FamilyTitle())
		p.row("backend", "device", "ranks", "size", "launches", "time", "bounds", "algbw GB/s", "busbw GB/s", "time against "+f.name[f.times.Contenders[0]], "notes")
		p.rule("llrrrrrrrrl")
		for _, who := range f.times.Contenders {
			for _, under := range f.times.Conditions(who, family) {
				f.summaryRow(p, who, under)
			}
		}
	}
	return p.end(w)
}

func (f *findings) summaryRow(p *page, who analysis.Contender, under analysis.Condition) {
	c := f.times.Cells[who][under]
	t, basis := c.Over()
	var notes []string
	bounds := ""
	if basis != stats.NoBounds {
		bounds = units.Duration(t.Lo) + " to " + units.Duration(t.Hi)
		notes = append(notes, timeBounds[basis])
	}
	against := ""
	if first := f.times.Contenders[0]; who == first {
		against = "1 (the first)"
	} else if base := f.times.Cells[first][under]; base != nil {
		r := analysis.Ratio(c, base)
		if against = units.Times(r.Value); r.Basis != stats.NoBounds {
			against += " (" + say.Span(r) + ")"
		}
		notes = append(notes, "against "+f.name[first]+": "+meaning(r))
		if why := f.times.Crowded(analysis.ShapeOf(under), first); why != nil {
			notes = append(notes, "against "+f.name[first]+": "+notice.Message(why))
		}
	}
	if why := f.times.Crowded(analysis.ShapeOf(under), who); why != nil {
		notes = append(notes, notice.Message(why))
	}
	p.row(f.name[who]+mark(who), deviceKind(who.Backend), analysis.ShapeOf(under).String(), coll.FormatSize(under.SizeBytes, true), fmt.Sprint(len(c.Launches)),
		units.Duration(t.Value), bounds, units.Gigabytes(under.AlgBW(t.Value)), units.Gigabytes(under.BusBW(t.Value)), against, p.notes.marksOf(notes))
}

// timeBounds explain the bounds of a time.
var timeBounds = map[stats.Basis]string{
	stats.WithinLaunch:   "bounds of the time: 95 % interval of the median within the one launch; another launch may differ by more",
	stats.LaunchSpread:   fmt.Sprintf("bounds of the time: the least and greatest seen; an interval takes %d launches", stats.MinForInterval),
	stats.AcrossLaunches: "bounds of the time: 95 % interval of the median over launches",
}

// mark is what stands behind the name of a contender that was rehearsed.
func mark(who analysis.Contender) string {
	if who.Rehearsed {
		return " (rehearsed)"
	}
	return ""
}
