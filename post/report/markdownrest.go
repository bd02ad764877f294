package report

import (
	"fmt"
	"strings"

	"busbar/internal/units"
)

// Bounds of the lists behind the figures.
const (
	maxMarkdownHeats = 6
	maxMarkdownRuns  = 100
)

// ranks says of the curves whose ranks are furthest apart which are the slowest; the page has the whole map.
func (m *markdown) ranks() {
	if len(m.r.Heats) == 0 {
		return
	}
	m.section("Ranks")
	m.line("Each rank's median time against the median of all ranks, over the sizes of the curve; less than 1 %% is not named. In a collective that makes ranks wait for each other, all take as long as the slowest: how late a rank issued tells more.\n")
	m.table("curve", "ranks that take longest", "ranks that issue last")
	for _, h := range m.r.Heats[:min(len(m.r.Heats), maxMarkdownHeats)] {
		c := m.r.Curves[h.Curve]
		m.row(m.r.Families[c.Family].Title+", "+c.Label, h.Slowest, h.Latest)
	}
	if n := len(m.r.Heats) - maxMarkdownHeats; n > 0 {
		m.line("\nAnd %s, on the page.", units.Count(n, "more curve"))
	}
}

func (m *markdown) quality() {
	q := &m.r.Quality
	m.section("Data quality")
	for _, n := range q.Notices {
		m.line("- %s", text(n.Message))
	}
	for _, c := range q.Checks {
		m.line("- %s: %s", text(c.Text), units.Count(c.N, "point"))
	}
	if len(q.Misses) > 0 {
		m.line("\nPoints without a value, each reason with one of its texts:\n")
		m.table("status", "points>", "reason", "where")
		for _, one := range q.Misses {
			m.row(one.Status, fmt.Sprint(one.N), one.Reason, one.Where)
		}
	}
	if len(q.Warnings) > 0 {
		m.line("\nWarnings, each with one of its texts:\n")
		m.table("code", "warning", "count", "where")
		for _, one := range q.Warnings {
			m.row(string(one.Code), one.Message, units.Count(one.N, one.Of), one.Where)
		}
	} else {
		m.line("- No warnings.")
	}
	if len(q.Files) > 0 {
		m.line("\nFiles:\n")
		m.items(q.Files)
	}
}

func (m *markdown) facts(title string, facts []Fact) {
	if len(facts) == 0 {
		return
	}
	m.section(title)
	topic := ""
	for _, f := range facts {
		if f.Topic != topic {
			if topic != "" {
				m.line("")
			}
			topic = f.Topic
			m.line("%s\n", text(f.Topic))
			m.table("what", "value", "runs")
		}
		for i, v := range f.Values {
			name := f.Name
			if i > 0 {
				name = ""
			}
			m.row(name, strings.ReplaceAll(v.Text, "\n", "; "), v.Runs)
		}
	}
}

func (m *markdown) runs() {
	m.section("Runs")
	m.table("run>", "contender", "ranks>", "hosts", "start", "sweep", "planned>", "points", "ended", "files")
	for _, one := range m.r.Runs[:min(len(m.r.Runs), maxMarkdownRuns)] {
		var files []string
		for _, f := range one.Files {
			files = append(files, m.r.Files[f].Name)
		}
		ended := one.Outcome
		if one.Reason != "" {
			ended += ": " + one.Reason
		}
		if one.Left > 0 {
			ended += fmt.Sprintf(", %d not reached", one.Left)
		}
		for _, mark := range one.Marks {
			ended += ", " + mark
		}
		world, planned := "", ""
		if one.World > 0 {
			world = fmt.Sprint(one.World)
		}
		if one.Planned > 0 {
			planned = fmt.Sprint(one.Planned)
		}
		m.row(fmt.Sprint(one.Number), one.Who, world, one.Hosts, one.Start, one.Sweep, planned, countsWords(one.Counts), ended, strings.Join(files, ", "))
	}
	if n := len(m.r.Runs) - maxMarkdownRuns; n > 0 {
		m.line("\nAnd %s, on the page.", units.Count(n, "more run"))
	}
}

func (m *markdown) files() {
	m.section("Files")
	for i, f := range m.r.Files {
		if i == maxMarkdownRuns {
			m.line("- and %s", units.Count(len(m.r.Files)-i, "more file"))
			break
		}
		words := ""
		if f.Points > 0 {
			words = ", " + units.Count(f.Points, "record")
		}
		m.line("- [%s](<%s>)%s", linkText(f.Name), f.Href, words)
	}
}

// linkText is text between brackets.
func linkText(s string) string {
	return strings.NewReplacer("[", `\[`, "]", `\]`).Replace(text(s))
}
