package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// analyst writes what can be said of findings, in sentences that are computed and each stand for themselves.
type analyst struct {
	*findings
	b strings.Builder
}

// writeAnalysis writes the headlines, what cannot be said, and then everything behind them.
func (f *findings) writeAnalysis(w io.Writer) error {
	a := &analyst{findings: f}
	a.paragraph("", "Comparison of backends")
	if f.rehearsed > 0 {
		a.paragraph("", "REHEARSED: sentences marked [rehearsed] are about stand-ins. No device was measured, and they say nothing about hardware.")
	}
	a.section("In short")
	headlines := a.headlines()
	for i, s := range headlines {
		a.paragraph(fmt.Sprintf("%d. ", i+1), s)
	}
	if headlines == nil {
		a.paragraph("", "Nothing that the results carry; the next section says what they lack.")
	}
	a.section("What the results cannot say")
	for _, s := range a.gaps() {
		a.paragraph("- ", s)
	}
	families := a.analysed()
	for _, family := range families {
		if len(families) > 1 {
			fmt.Fprintf(&a.b, "\n\n%s\n%s\n", family.FamilyTitle(), strings.Repeat("=", len(family.FamilyTitle())))
		}
		a.part("Which backend is faster", a.faster(family))
		a.part("Where bandwidth saturates", a.saturation(family))
		a.part("How time grows with size", a.growth(family))
		a.part("How time grows with the world", a.scaling(family))
	}
	a.section("How to read this")
	for _, s := range reading {
		a.paragraph("- ", s)
	}
	_, err := io.WriteString(w, a.b.String())
	return err
}

var reading = []string{
	"Times are medians, of one operation; ratios are of times. Sizes are powers of 1024, GB/s are 1e9 bytes per second.",
	"An interval holds what it is of in 95 of 100 cases, each by itself: among twenty sentences one may be wrong. Two times differ where the interval of their ratio leaves out 1.",
	"An interval within one launch knows nothing of other launches, which may differ by more. From six launches on intervals are over launches, of two to five the least and the greatest are given.",
	"Bandwidth saturates at the size from which on bus bandwidth stays within 10 % of its largest.",
}

// paragraph writes wrapped text; its lines but the first are set in as far as the first word stands.
func (a *analyst) paragraph(first, text string) {
	for i, line := range wrap(text, 100-len(first)) {
		if i > 0 {
			first = strings.Repeat(" ", len(first))
		}
		a.b.WriteString(first + line + "\n")
	}
}

func (a *analyst) section(title string) {
	fmt.Fprintf(&a.b, "\n%s\n%s\n", title, strings.Repeat("-", len([]rune(title))))
}

func (a *analyst) part(title string, sentences []string) {
	if sentences == nil {
		return
	}
	a.section(title)
	for _, s := range sentences {
		a.paragraph("- ", s)
	}
}

// analysed are the families that sentences are about: those of throughput mode, or all where there is none.
func (a *analyst) analysed() []analysis.Condition {
	all := a.times.Families()
	throughput := slices.DeleteFunc(slices.Clone(all), func(c analysis.Condition) bool { return c.Mode != coll.Throughput })
	if len(throughput) == 0 {
		return all
	}
	return throughput
}

// told ends a sentence: with the word on rehearsal where there was any, so that each says which it is.
func (a *analyst) told(sentence string, about ...analysis.Contender) string {
	switch {
	case slices.ContainsFunc(about, func(c analysis.Contender) bool { return c.Rehearsed }):
		return sentence + " [rehearsed]"
	case a.rehearsed > 0:
		return sentence + " [measured]"
	}
	return sentence
}

// gaps says what is missing, and what the rest can therefore not tell.
func (a *analyst) gaps() (sentences []string) {
	for _, b := range a.missing() {
		sentences = append(sentences, fmt.Sprintf("Nothing on %s: %s.", b, a.whyMissing(b)))
	}
	if n := len(a.times.Contenders); n == 1 {
		sentences = append(sentences, a.told(fmt.Sprintf("No backend is compared with another: only %s has times.", a.name[a.times.Contenders[0]]), a.times.Contenders[0]))
	} else if n == 0 {
		sentences = append(sentences, "No point has a time.")
	}
	sentences = append(sentences, a.apart()...)
	for _, who := range a.times.Contenders {
		n := a.launches(who)
		switch {
		case n == 1:
			sentences = append(sentences, a.told(fmt.Sprintf("%s: one launch, so how much launches differ from each other is unknown. What is said of it holds for that launch.", a.name[who]), who))
		case n < stats.MinForInterval:
			sentences = append(sentences, a.told(fmt.Sprintf("%s: %s; an interval over launches takes %d.", a.name[who], units.Count(n, "launch"), stats.MinForInterval), who))
		}
		if crowds := a.crowds(who); crowds != "" {
			sentences = append(sentences, a.told(a.name[who]+": "+crowds+".", who))
		}
	}
	if sentences = append(sentences, a.unmeasured()...); sentences == nil {
		return []string{"Nothing is missing."}
	}
	return sentences
}

// apart names pairs of contenders that nothing was measured of alike.
func (a *analyst) apart() (sentences []string) {
	for i, first := range a.times.Contenders {
		for _, other := range a.times.Contenders[i+1:] {
			if !a.times.Common(first, other) {
				sentences = append(sentences, a.told(fmt.Sprintf("%s and %s have no condition in common (world, nodes, collective, type, size, mode, way of measuring), so they are not compared.", a.name[first], a.name[other]), first, other))
			}
		}
	}
	return sentences
}

// launches are how many launches a contender was measured in.
func (a *analyst) launches(who analysis.Contender) int {
	var launches []string
	for _, run := range a.runs {
		if analysis.ContenderOf(run) == who {
			launches = addWord(launches, run.PairedBy())
		}
	}
	return len(launches)
}

// crowds names the worlds in which ranks shared cores or GPUs.
func (a *analyst) crowds(who analysis.Contender) string {
	var words []string
	for _, under := range a.worlds(who) {
		if why := a.times.Crowded(under, who); why != "" {
			words = append(words, "with "+under.Words()+", "+why)
		}
	}
	return strings.Join(words, ", ")
}

func (a *analyst) worlds(who analysis.Contender) (found []analysis.Shape) {
	for _, family := range a.times.Families() {
		for _, s := range a.times.Shapes(who, family) {
			if !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}

// unmeasured names points without a time and why, the worlds together that have one reason.
func (a *analyst) unmeasured() (sentences []string) {
	type point struct {
		who  analysis.Contender
		what string
	}
	var order []point
	worlds := map[point][]string{}
	for _, row := range a.rows {
		r := row.Record
		if r.Timed() {
			continue
		}
		p := point{analysis.ContenderOf(row.Run), fmt.Sprintf("%s: %s", r.Case.Point(), r.Status)}
		if r.Reason != "" {
			p.what += ": " + r.Reason
		}
		if worlds[p] == nil {
			order = append(order, p)
		}
		worlds[p] = addWord(worlds[p], analysis.ShapeOf(analysis.ConditionOf(row.Run, r)).String())
	}
	for i, p := range order {
		if i == 12 {
			return append(sentences, fmt.Sprintf("So it is with %d more; full_results.md has them all.", len(order)-i))
		}
		noun := "ranks"
		if len(worlds[p]) == 1 && worlds[p][0] == "1" {
			noun = "rank"
		}
		sentences = append(sentences, a.told(fmt.Sprintf("%s with %s %s, %s.", a.name[p.who], units.Some(worlds[p]), noun, p.what), p.who))
	}
	return sentences
}
