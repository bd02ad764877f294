package sidebyside

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
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
	d.Add(factSection(d, "Missing", gaps{f}.facts())...)
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
