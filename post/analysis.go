package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

// analyst writes the facts of a comparison, each a sentence.
type analyst struct {
	*findings
	b strings.Builder
}

// writeAnalysis writes the headlines, what cannot be said, and then everything behind them.
func (f *findings) writeAnalysis(w io.Writer) error {
	a := &analyst{findings: f}
	a.paragraph("", "Comparison of backends")
	if f.rehearsed > 0 {
		a.paragraph("", simulatedWords)
	}
	a.section("In short")
	headlines := a.headlines()
	for i, fact := range headlines {
		a.paragraph(fmt.Sprintf("%d. ", i+1), notice.Message(fact)+".")
	}
	if headlines == nil {
		a.paragraph("", "No significant result.")
	}
	a.part("Missing", a.gaps())
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
	for line := range strings.Lines(reading) {
		a.paragraph("- ", line)
	}
	_, err := io.WriteString(w, a.b.String())
	return err
}

//go:embed analysis.txt
var reading string

// paragraph writes wrapped text; its lines but the first are set in as far as the first word stands.
func (a *analyst) paragraph(first, text string) {
	for i, line := range document.Wrap(text, 100-len(first)) {
		if i > 0 {
			first = strings.Repeat(" ", len(first))
		}
		a.b.WriteString(first + line + "\n")
	}
}

func (a *analyst) section(title string) {
	fmt.Fprintf(&a.b, "\n%s\n%s\n", title, strings.Repeat("-", len([]rune(title))))
}

func (a *analyst) part(title string, facts []notice.Fact) {
	if facts == nil {
		return
	}
	a.section(title)
	for _, fact := range facts {
		a.paragraph("- ", notice.Message(fact)+".")
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

// gaps is what the results lack for a comparison.
func (a *analyst) gaps() (facts []notice.Fact) {
	for _, b := range a.missing() {
		facts = append(facts, a.lackOf(b))
	}
	switch all := a.times.Contenders; len(all) {
	case 0:
		facts = append(facts, notice.NoValues{})
	case 1:
		one := []string{a.who(all[0])}
		facts = append(facts, notice.NotCompared{Contenders: one, Lack: notice.OneContender})
	}
	facts = append(facts, a.apart()...)
	for _, who := range a.times.Contenders {
		if n := a.launches(who); n < stats.MinForInterval {
			facts = append(facts, notice.FewLaunches{Who: a.who(who), Launches: n, Needed: stats.MinForInterval})
		}
		if crowded := a.crowded(who); crowded != nil {
			facts = append(facts, notice.CrowdedWorlds{Who: a.who(who), Worlds: crowded})
		}
	}
	return append(facts, a.unmeasured()...)
}

// apart are pairs of contenders without a condition in common.
func (a *analyst) apart() (facts []notice.Fact) {
	for i, first := range a.times.Contenders {
		for _, other := range a.times.Contenders[i+1:] {
			if !a.times.Common(first, other) {
				both := []string{a.who(first), a.who(other)}
				facts = append(facts, notice.NotCompared{Contenders: both, Lack: notice.NoSharedPoint})
			}
		}
	}
	return facts
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

// crowded are the worlds in which ranks shared cores or GPUs.
func (a *analyst) crowded(who analysis.Contender) (all []notice.CrowdedWorld) {
	for _, s := range a.worlds(who) {
		if why := a.times.Crowded(s, who); why != nil {
			all = append(all, notice.CrowdedWorld{World: s.Named(), Cause: notice.Kept{Fact: why}})
		}
	}
	return all
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

// mostUnmeasured is how many points without a value are listed.
const mostUnmeasured = 12

// unmeasured are points without a value, the worlds together that have one reason.
func (a *analyst) unmeasured() (facts []notice.Fact) {
	type point struct{ who, point, status, reason string }
	var order []point
	worlds := map[point][]string{}
	for _, row := range a.rows {
		r := row.Record
		if r.Timed() {
			continue
		}
		p := point{a.who(analysis.ContenderOf(row.Run)), r.Case.Point(), string(r.Status), r.Reason}
		if worlds[p] == nil {
			order = append(order, p)
		}
		worlds[p] = addWord(worlds[p], analysis.ShapeOf(analysis.ConditionOf(row.Run, r)).String())
	}
	for _, p := range order[:min(len(order), mostUnmeasured)] {
		facts = append(facts, notice.PointWithoutValue{
			Who: p.who, Worlds: worlds[p], Point: p.point, Status: p.status, Reason: p.reason,
		})
	}
	if n := len(order) - mostUnmeasured; n > 0 {
		facts = append(facts, notice.MorePoints{Points: n})
	}
	return facts
}
