package report

import (
	"fmt"

	"busbar/internal/document"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// timelineSection is the timelines but for their chart.
func (r *Report) timelineSection() *document.Section {
	s := &document.Section{Title: "Timeline"}
	t := r.Timeline
	if t == nil {
		return s
	}
	s.Add(document.Paragraph(t.Intro()))
	if len(t.Picture.Sights) > 0 {
		var list document.List
		for _, one := range t.Picture.Sights {
			list = append(list, one.Label+": "+one.Says)
		}
		s.Add(document.Paragraph("Where to look first, "+t.Picture.By+":"), list)
	}
	if len(t.Found.Answers) > 0 {
		var items document.Items
		for _, a := range t.Found.Answers {
			items.All = append(items.All, document.Item{Label: a.Question() + met(a.Met), Text: a.Text()})
		}
		s.Add(&document.Section{Title: "Answers", Blocks: []document.Block{items}})
	}
	if len(t.Found.Advice) > 0 {
		items := document.Items{Numbered: true}
		for _, a := range t.Found.Advice {
			items.All = append(
				items.All,
				document.Item{Label: a.Topic, Text: a.Says(), Below: paragraphs(adviceWords(a, t.Found.Per()))},
			)
		}
		s.Add(&document.Section{Title: "What to do", Blocks: []document.Block{items}})
	}
	if says := t.StragglerSays(); len(says) > 0 {
		s.Add(&document.Section{Title: "Straggler", Blocks: []document.Block{document.List(says)}})
	}
	for _, l := range t.listings() {
		s.Add(l.upTo(maxMarkdownRows).section())
	}
	if notes := t.notes(); len(notes) > 0 {
		var list document.List
		for _, n := range notes {
			list = append(list, n.words())
		}
		s.Add(&document.Section{Title: "Notes on the timelines", Blocks: []document.Block{list}})
	}
	return s
}

// met is the word for a criterion, with the spaces around it.
func met(is *bool) string {
	switch {
	case is == nil:
		return ""
	case *is:
		return " (met)"
	}
	return " (not met)"
}

// adviceWords are what stands under advice.
func adviceWords(a timeline.Advice, per string) (words []string) {
	words = nonEmpty(a.Why())
	if a.Gain > 0 {
		words = append(words, "Gain: at most "+ms(a.Gain)+" ms a "+per)
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

func (l listing) section() *document.Section {
	s := &document.Section{Title: l.Name, Blocks: paragraphs(l.Says)}
	s.Add(l.table())
	if l.More > 0 {
		s.Add(
			document.Paragraph(
				fmt.Sprintf("And %s, on the page or in post timeline --format json.", units.Count(l.More, "more row")),
			),
		)
	}
	return s
}
