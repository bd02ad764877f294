package report

import "busbar/post/steps"

// steps is what the page says of training steps, but for the pictures.
func (m *markdown) steps() {
	s := m.r.Steps
	if s == nil {
		return
	}
	m.section("Training step")
	m.line("%s", stepTableSays)
	for _, run := range s.Runs {
		m.line("\n### %s\n", text(run.Title))
		m.items(run.About)
		m.sentences(run.Says)
		for _, g := range run.Groups {
			m.line("\n#### %s\n", text(g.Title))
			m.sentences(g.Says)
			for _, l := range g.listings("") {
				m.WriteString("\n")
				m.rows(l.upTo(maxMarkdownRows))
			}
		}
	}
}

func (m *markdown) sentences(all []steps.Sentence) {
	for _, s := range all {
		m.line("- %s", text(s.Says))
	}
}
