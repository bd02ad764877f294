package report

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
		m.headlinesOf(run.Notices)
		for _, g := range run.Groups {
			m.line("\n#### %s\n", text(g.Title))
			m.headlinesOf(g.Notices)
			for _, l := range g.listings("") {
				m.WriteString("\n")
				m.rows(l.upTo(maxMarkdownRows))
			}
		}
	}
}

func (m *markdown) headlinesOf(all []Headline) {
	for _, s := range all {
		m.line("- %s", text(s.Message))
	}
}
