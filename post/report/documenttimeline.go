package report

import (
	"busbar/internal/document"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// timelineSection is what timelines show, and on the page their plot.
func (r form) timelineSection() *document.Section {
	s := &document.Section{ID: "timeline", Title: "Timeline"}
	t := r.Timeline
	if t == nil {
		return s
	}
	s.Add(document.Paragraph(t.Intro()))
	if r.page {
		s.Add(chart("timeline-picture", "plot of each "+t.Found.Unit()+" over time"))
		s.Add(paragraphs(append(nonEmpty(t.Picture.Aligned), leftOut(t.Picture.LeftOut)...))...)
	}
	part := func(id, title string, blocks ...document.Block) {
		s.Add(&document.Section{ID: "timeline-" + id, Title: title, Blocks: blocks})
	}
	if len(t.Picture.Sights) > 0 {
		items := document.Items{Numbered: true}
		for _, one := range t.Picture.Sights {
			items.All = append(items.All, document.Item{Text: one.Label + ": " + one.Says})
		}
		part("look", "Where to look first", document.Paragraph(units.Capital(t.Picture.By)+"."), items)
	}
	if len(t.Found.Answers) > 0 {
		var items document.Items
		for _, a := range t.Found.Answers {
			items.All = append(items.All, document.Item{Label: a.Question(), Text: a.Text()})
		}
		part("answers", "Answers", items)
	}
	if len(t.Found.Advice) > 0 {
		items := document.Items{Numbered: true}
		for _, a := range t.Found.Advice {
			items.All = append(
				items.All,
				document.Item{Label: a.Topic, Text: a.Says(), Below: paragraphs(adviceWords(a, t.Found.Per()))},
			)
		}
		part("advice", "What to do", items)
	}
	if says := t.StragglerSays(); len(says) > 0 {
		part("straggler", "Straggler", document.List(says))
	}
	for _, l := range t.listings() {
		s.Add(r.listing(l))
	}
	if notes := t.notes(); len(notes) > 0 {
		var list document.List
		for _, n := range notes {
			list = append(list, n.words())
		}
		part("notes", "Notes on the timelines", list)
	}
	return s
}

// adviceWords are the details of advice.
func adviceWords(a timeline.Advice, per string) (words []string) {
	words = nonEmpty(a.Why())
	if a.Gain > 0 {
		words = append(words, "Gain: at most "+ms(a.Gain)+" ms per "+per)
	}
	if source := a.Source(); source != "" {
		words = append(words, "Source: "+source)
	}
	return words
}

// words are a note in one line.
func (n noted) words() string {
	words := n.Says
	if n.Of != "" {
		words = n.Of + ": " + words
	}
	if n.Do != "" {
		words += " What to do: " + n.Do
	}
	return words
}
