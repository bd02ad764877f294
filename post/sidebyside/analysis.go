package sidebyside

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// analyst derives the facts of a comparison.
type analyst struct{ *Results }

// analysis is the headlines, what the results lack, and then all facts.
func (f *Results) analysis() *document.Document {
	a := &analyst{f}
	d := f.document("Comparison of backends")
	short := &document.Section{Title: "In short"}
	if headlines := sentences(d, a.headlines()); headlines != nil {
		items := document.Items{Numbered: true}
		for _, text := range headlines {
			items.All = append(items.All, document.Item{Text: text})
		}
		short.Add(items)
	} else {
		short.Add(document.Paragraph("No significant result."))
	}
	d.Add(short)
	d.Add(factSection(d, "Missing", a.gaps())...)
	families := a.analysed()
	for _, family := range families {
		parts := slices.Concat(
			factSection(d, "Which backend is faster", a.faster(family)),
			factSection(d, "Where bandwidth saturates", a.saturation(family)),
			factSection(d, "How time grows with size", a.growth(family)),
			factSection(d, "How time grows with the world", a.scaling(family)),
		)
		if len(families) > 1 {
			parts = []document.Block{&document.Section{Title: family.FamilyTitle(), Blocks: parts}}
		}
		d.Add(parts...)
	}
	d.Add(&document.Section{Title: "How to read this", Blocks: []document.Block{reading}})
	return d
}

var reading = document.List{
	"Times are medians of one operation; ratios are of times. " + unitWords,
	"A difference is significant where the 95 % CI of the ratio excludes 1. Each comparison has a false-positive rate " +
		"of 5 %: of 20, one may be wrong.",
	"A CI within one launch does not cover other launches, which may differ by more. From 6 launches on, CIs are over " +
		"launches; of 2 to 5 launches, the minimum and the maximum are given.",
	"Bandwidth is saturated from the size on from which bus bandwidth stays within 10 % of its maximum.",
}

// factSection is a section of facts, if there are any.
func factSection(d *document.Document, title string, facts []notice.Fact) []document.Block {
	if facts == nil {
		return nil
	}
	return []document.Block{&document.Section{Title: title, Blocks: []document.Block{document.List(sentences(d, facts))}}}
}

// sentences are facts as sentences, which the document reports.
func sentences(d *document.Document, facts []notice.Fact) (texts []string) {
	for _, fact := range facts {
		d.Report(notice.New(fact))
		texts = append(texts, notice.Text(fact))
	}
	return texts
}

// analysed are the families that sentences are about: those of throughput mode, or all where there is none.
func (a *analyst) analysed() []analysis.Condition {
	all := a.times.Families()
	throughput := slices.DeleteFunc(slices.Clone(all), func(c analysis.Condition) bool {
		return c.Mode != coll.Throughput
	})
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
			launches = units.AddOnce(launches, run.PairedBy())
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
		worlds[p] = units.AddOnce(worlds[p], analysis.ShapeOf(analysis.ConditionOf(row.Run, r)).String())
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
