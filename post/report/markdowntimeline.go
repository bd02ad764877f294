package report

import (
	"busbar/internal/units"
	"busbar/post/timeline"
)

// maxMarkdownRows is how many rows a table about timelines has in the Markdown form.
const maxMarkdownRows = 40

// timeline is what the page says of timelines, but for the picture.
func (m *markdown) timeline() {
	t := m.r.Timeline
	if t == nil {
		return
	}
	m.section("Timeline")
	m.line("%s", text(t.Intro()))
	if len(t.Picture.Sights) > 0 {
		m.line("\nWhere to look first, %s:\n", text(t.Picture.By))
		for _, s := range t.Picture.Sights {
			m.line("- %s: %s", text(s.Label), text(s.Says))
		}
	}
	if len(t.Found.Answers) > 0 {
		m.line("\n### Answers\n")
		for _, a := range t.Found.Answers {
			m.line("- **%s**%s %s", text(a.Question()), met(a.Met), text(a.Text()))
		}
	}
	if len(t.Found.Advice) > 0 {
		m.line("\n### What to do\n")
		for i, a := range t.Found.Advice {
			m.line("%d. **%s**: %s", i+1, text(a.Topic), text(a.Says()))
			for _, words := range adviceWords(a, t.Found.Per()) {
				m.line("   - %s", text(words))
			}
		}
	}
	if says := t.StragglerSays(); len(says) > 0 {
		m.line("\n### Straggler\n")
		m.items(says)
	}
	for _, l := range t.listings() {
		m.listing(l.upTo(maxMarkdownRows))
	}
	if notes := t.notes(); len(notes) > 0 {
		m.line("\n### Notes on the timelines\n")
		for _, n := range notes {
			m.line("- %s", text(n.words()))
		}
	}
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

func (m *markdown) listing(l listing) {
	m.line("\n### %s\n", text(l.Name))
	for _, says := range l.Says {
		m.line("%s\n", text(says))
	}
	m.rows(l)
	if l.More > 0 {
		m.line("\nAnd %s, on the page or in post timeline --format json.", units.Count(l.More, "more row"))
	}
}

// rows are a listing's table alone.
func (m *markdown) rows(l listing) {
	var names []string
	for _, h := range l.Heads {
		if h.Figure {
			names = append(names, h.Name+">")
		} else {
			names = append(names, h.Name)
		}
	}
	m.table(names...)
	for _, row := range l.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = c.Text
		}
		m.row(cells...)
	}
}
