package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Bounds of the Markdown form, which is read in a terminal and in merge requests.
const (
	maxMarkdownPoints = 1500 // more of them, and each curve has one row
	maxMarkdownCurves = 400
)

// WriteMarkdown writes the report as Markdown. Every text of the results is escaped.
func (r *Report) WriteMarkdown(w io.Writer) error {
	m := &markdown{r: r, tried: map[Hint]int{}}
	m.line("# %s", text(r.Title))
	m.line("\n%s, %s.", text(cmp.Or(r.Tool, "post")), r.Made)
	m.banners()
	m.headlines()
	m.timeline()
	if r.Measured() {
		m.results()
	}
	m.files()
	_, err := io.WriteString(w, m.String())
	return err
}

// results are all that is about what rank measured.
func (m *markdown) results() {
	r := m.r
	m.plan()
	m.steps()
	if r.Collectives() {
		m.findings()
		m.models()
		m.figures()
		m.ranks()
	}
	m.quality()
	m.facts("How every figure was taken", r.Method)
	if r.Collectives() {
		m.line("\nSizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians. algbw is the size over the time; busbw is algbw times a factor of the collective and the number of ranks.")
	}
	m.facts("Environment", r.Environment)
	m.runs()
}

// markdown collects the text.
type markdown struct {
	strings.Builder
	r     *Report
	tried map[Hint]int // the finding under which a hint stands whole
}

// text escapes what results say, so that it makes no link either.
func text(s string) string { return strings.ReplaceAll(result.MarkdownText(s), "](", `]\(`) }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *markdown) section(title string) { m.line("\n## %s\n", text(title)) }

// table writes a head and its rule: names that end in > have figures, which stand to the right.
func (m *markdown) table(names ...string) {
	rule := ""
	for _, name := range names {
		figure := strings.HasSuffix(name, ">")
		m.WriteString("| " + text(strings.TrimSuffix(name, ">")) + " ")
		if rule += "|---"; figure {
			rule += ":"
		}
	}
	m.line("|\n%s|", rule)
}

func (m *markdown) row(cells ...string) {
	for _, c := range cells {
		m.WriteString("| " + text(c) + " ")
	}
	m.line("|")
}

func (m *markdown) items(texts []string) {
	for _, t := range texts {
		m.line("- %s", text(t))
	}
}

func (m *markdown) banners() {
	for _, b := range m.r.Banners {
		m.line("\n> **%s**", text(b.Message))
	}
}

func (m *markdown) headlines() {
	m.section("In short")
	if len(m.r.Headlines) == 0 {
		m.line("%s", NoHeadline)
	}
	for _, h := range m.r.Headlines {
		message := text(h.Message)
		if h.Severity > notice.Info {
			message = "**" + h.Severity.String() + "**: " + message
		}
		if h.Finding > 0 {
			message += fmt.Sprintf(" (finding %d)", h.Finding)
		}
		m.line("- %s", message)
	}
	for _, t := range m.r.LeftOut {
		m.line("- Left out here: %s", text(t))
	}
}

func (m *markdown) plan() {
	p := &m.r.Plan
	m.section("Plan and done")
	planned := "The plan is not recorded."
	if p.Planned > 0 {
		planned = units.Count(p.Planned, "point") + " planned"
		if p.Left > 0 {
			planned += fmt.Sprintf(", %d without a record", p.Left)
		}
		planned += "."
	}
	m.line("%s %s.", planned, units.Capital(countsWords(p.Counts)))
	for _, n := range p.Notices {
		m.line("\n%s", text(n.Message))
	}
}

func countsWords(counts []Count) string {
	var words []string
	for _, c := range counts {
		words = append(words, fmt.Sprintf("%d %s", c.N, c.Text))
	}
	return strings.Join(words, ", ")
}

func (m *markdown) findings() {
	m.section("Findings")
	if len(m.r.Findings) == 0 {
		m.line("%s", m.r.NoFinding())
	}
	for _, f := range m.r.Findings {
		m.line("%d. **%s, %s**: %s", f.Number, f.Severity, text(string(f.Code)), text(f.Message))
		for _, e := range f.Evidence {
			m.line("   - %s", text(e))
		}
		for _, h := range f.Hints {
			m.hint(h, f.Number)
		}
	}
}

// hint writes a hint whole the first time.
func (m *markdown) hint(h Hint, finding int) {
	try := ""
	if h.Variable != "" {
		try = " `" + code(h.Variable)
		if h.Value != "" {
			try += "=" + code(h.Value)
		}
		try += "`"
	}
	if first := m.tried[h]; first > 0 {
		m.line("   - Try:%s, as under finding %d", try, first)
		return
	}
	m.tried[h] = finding
	m.line("   - Try:%s %s (%s)", try, text(h.Says), text(h.Source))
	if h.Sweep != "" {
		m.line("\n     ```yaml")
		for line := range strings.SplitSeq(strings.TrimRight(h.Sweep, "\n"), "\n") {
			m.line("     %s", strings.ReplaceAll(units.Printable(line), "```", "'''"))
		}
		m.line("     ```\n")
	}
}

// code is text between backquotes.
func code(s string) string { return strings.ReplaceAll(units.Printable(s), "`", "'") }

// figures are the points by collective, or where they are many, a row for each curve.
func (m *markdown) figures() {
	points := 0
	for _, c := range m.r.Curves {
		points += len(c.Time)
	}
	if points == 0 {
		return
	}
	if points > maxMarkdownPoints {
		m.curveRows()
		return
	}
	for i, family := range m.r.Families {
		m.section(family.Title)
		latency := family.Mode == coll.Latency.String()
		names := []string{"contender", "ranks>", "size>", "launches>", "time>", "bounds>", "algbw GB/s>", "busbw GB/s>", "% of peak>", "notes"}
		if latency {
			names = []string{"contender", "ranks>", "size>", "launches>", "time>", "bounds>", "notes"}
		}
		m.table(names...)
		for n, c := range m.r.Curves {
			if c.Family == i {
				m.points(n, latency)
			}
		}
		m.ceilings(i)
	}
	m.line("\nBounds of one launch are the 95 %% interval of its median; another launch may differ by more. Of two to five launches they are the least and the greatest seen, of six or more the 95 %% interval of the median over launches.")
}

// ceilings says of a family where its ceilings come from.
func (m *markdown) ceilings(family int) {
	var said []string
	for _, c := range m.r.Curves {
		words := ""
		switch {
		case c.Family != family:
		case c.Ceiling >= 0:
			one := m.r.Ceilings[c.Ceiling]
			words = "Peak: " + one.Text
			if one.Source != "" {
				words += " (" + one.Source + ")"
			}
		case c.Unknown >= 0:
			words = m.r.Notes[c.Unknown]
		}
		if words != "" && !slices.Contains(said, words) {
			said = append(said, words)
		}
	}
	for _, words := range said {
		m.line("\n%s.", text(units.Capital(words)))
	}
}

func (m *markdown) points(number int, latency bool) {
	c := m.r.Curves[number]
	for i := range c.Time {
		size, t := m.r.Axes[c.Axis][i], c.Time[i]/1e6
		bounds := ""
		if c.basis(i) > 0 {
			bounds = units.Duration(c.Lo[i]/1e6) + " to " + units.Duration(c.Hi[i]/1e6)
		}
		cells := []string{c.name(), ranksOf(c), coll.FormatSize(size, true), fmt.Sprint(at(c.Launches, i)), units.Duration(t), bounds}
		if !latency {
			cells = append(cells, units.Gigabytes(float64(size)/t), units.Gigabytes(c.busBW(size, t)), m.share(c, size, t))
		}
		m.row(append(cells, m.notesOn(number, i))...)
	}
}

func (c Curve) busBW(size int64, seconds float64) float64 { return c.Factor * float64(size) / seconds }

func (c Curve) basis(i int) int {
	if len(c.Lo) == 0 {
		return 0
	}
	return at(c.Bases, i)
}

// at is the number of a point, where one may stand for all.
func at(numbers []int, i int) int {
	if len(numbers) == 1 {
		return numbers[0]
	}
	return numbers[i]
}

// name is the contender with what its figures are to be read with.
func (c Curve) name() string {
	name := c.Who
	if c.Rehearsed {
		name += " (rehearsed)"
	}
	if c.Imported != "" {
		name += " (imported)"
	}
	if c.Crowded != "" {
		name += " (oversubscribed)"
	}
	return name
}

func ranksOf(c Curve) string {
	if c.Nodes > 1 {
		return fmt.Sprintf("%d on %d nodes", c.World, c.Nodes)
	}
	return fmt.Sprint(c.World)
}

func (m *markdown) share(c Curve, size int64, seconds float64) string {
	if c.Ceiling < 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*c.busBW(size, seconds)/1e9/m.r.Ceilings[c.Ceiling].GBps)
}

func (m *markdown) notesOn(number, i int) string {
	c := &m.r.Curves[number]
	var notes []string
	for _, mark := range c.Marks {
		if mark.Point == i {
			notes = append(notes, m.r.Notes[mark.Note])
		}
	}
	if len(c.Paths) > 0 && c.Paths[i] >= 0 {
		notes = append(notes, m.r.Notes[c.Paths[i]])
	}
	for _, f := range m.r.Findings {
		if f.covers(number, m.r.Axes[c.Axis][i]) {
			notes = append(notes, fmt.Sprintf("finding %d", f.Number))
		}
	}
	return strings.Join(notes, "; ")
}

// covers says whether a finding was made at a size of a curve.
func (f Finding) covers(curve int, size int64) bool {
	return slices.ContainsFunc(f.places(), func(p Place) bool {
		return p.Curve == curve && p.From <= size && size <= p.To
	})
}

// curveRows are a row for each curve, the fastest place of each.
func (m *markdown) curveRows() {
	m.section("Curves")
	m.line("There are too many points for this form: each curve has the time of its smallest size and its largest bandwidth. The page has the points.\n")
	m.table("operation", "contender", "ranks>", "sizes", "time of the smallest>", "largest busbw GB/s>", "at>", "% of peak>")
	for _, c := range m.r.Curves[:min(len(m.r.Curves), maxMarkdownCurves)] {
		axis := m.r.Axes[c.Axis]
		best := 0
		for i := range c.Time {
			if c.busBW(axis[i], c.Time[i]) > c.busBW(axis[best], c.Time[best]) {
				best = i
			}
		}
		t := c.Time[best] / 1e6
		cells := []string{m.r.Families[c.Family].Title, c.name(), ranksOf(c), coll.FormatSize(axis[0], true) + " to " + coll.FormatSize(axis[len(axis)-1], true), units.Duration(c.Time[0] / 1e6), "", "", ""}
		if m.r.Families[c.Family].Mode == coll.Throughput.String() {
			cells[5], cells[6], cells[7] = units.Gigabytes(c.busBW(axis[best], t)), coll.FormatSize(axis[best], true), m.share(c, axis[best], t)
		}
		m.row(cells...)
	}
	if n := len(m.r.Curves) - maxMarkdownCurves; n > 0 {
		m.line("\nAnd %s, on the page.", units.Count(n, "more curve"))
	}
}
