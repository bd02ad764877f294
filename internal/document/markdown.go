package document

import (
	"fmt"
	"io"
	"strings"

	"busbar/internal/units"
)

// writeMarkdown writes for a page, on which no text of a file makes markup.
func writeMarkdown(d *Document, w io.Writer) error {
	m := &markdown{}
	level := 1
	if d.Title != "" {
		m.title(1, d.Title)
		level = 2
	}
	m.blocks(level, d.Blocks)
	_, err := io.WriteString(w, m.String())
	return err
}

// markdown collects the lines.
type markdown struct{ strings.Builder }

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

// apart ends what precedes with an empty line.
func (m *markdown) apart() {
	if s := m.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		m.line("")
	}
}

func (m *markdown) title(level int, s string) {
	m.apart()
	m.line("%s %s\n", strings.Repeat("#", min(level, 6)), units.Markdown(s))
}

func (m *markdown) blocks(level int, all []Block) {
	for _, b := range all {
		if c, ok := b.(*Chart); ok && c.Caption == "" {
			continue
		}
		m.apart()
		switch b := b.(type) {
		case *Section:
			m.title(level, b.Title)
			m.blocks(level+1, b.Blocks)
		case Paragraph:
			m.line("%s", units.Markdown(string(b)))
		case Lines:
			for i, s := range b {
				if i < len(b)-1 {
					s += "  " // a line break
				}
				m.line("%s", units.Markdown(s))
			}
		case List:
			for _, s := range b {
				m.line("- %s", units.Markdown(s))
			}
		case Callout:
			m.line("> **%s**", units.Markdown(b.Text))
		case Items:
			m.items(b)
		case Code:
			m.code("", b)
		case Links:
			for _, l := range b {
				m.line("- [%s](<%s>)%s", brackets.Replace(units.Markdown(l.Name)), l.Href, units.Markdown(l.About))
			}
		case Fields:
			for _, f := range b {
				m.line("- **%s**: %s", units.Markdown(f.Name), units.Markdown(f.Value))
			}
		case *Table:
			m.table(b)
		case Findings:
			m.findings(b)
		case *Chart:
			m.line("**%s**: %s", units.Markdown(b.Title), units.Markdown(b.Caption))
		case Footnotes:
			for i, s := range b {
				m.line("- [%d] %s", i+1, units.Markdown(s))
			}
		}
	}
}

func (m *markdown) items(b Items) {
	for i, item := range b.All {
		sign, text := "-", units.Markdown(item.words())
		if b.Numbered {
			sign = fmt.Sprintf("%d.", i+1)
		}
		if item.Label != "" {
			text = "**" + units.Markdown(item.Label) + "**: " + text
		}
		m.line("%s %s", sign, text)
		for _, below := range flat(item.Below) {
			switch below := below.(type) {
			case Code:
				m.line("")
				m.code("     ", below)
				m.line("")
			case Paragraph:
				m.line("   - %s", units.Markdown(string(below)))
			}
		}
	}
}

func (m *markdown) code(indent string, b Code) {
	m.line("%s```", indent)
	for line := range strings.SplitSeq(strings.TrimRight(string(b), "\n"), "\n") {
		m.line("%s%s", indent, strings.ReplaceAll(units.Printable(line), "```", "'''"))
	}
	m.line("%s```", indent)
}

// brackets are those of a link's text.
var brackets = strings.NewReplacer("[", `\[`, "]", `\]`)

func (m *markdown) findings(all Findings) {
	for i, n := range all {
		m.line("%d. %s", i+1, units.Markdown(headOf(n)))
		for _, r := range restOf(n) {
			if r.Name == "" {
				m.line("   - %s", units.Markdown(r.Value))
				continue
			}
			m.line("   - %s: %s", r.Name, units.Markdown(r.Value))
		}
	}
}

func (m *markdown) table(b *Table) {
	rule := "|"
	for _, c := range b.Columns {
		m.WriteString("| " + units.Markdown(c.Name) + " ")
		if rule += "---"; c.Right {
			rule += ":"
		}
		rule += "|"
	}
	m.line("|\n%s", rule)
	for _, row := range b.Rows {
		for i := range b.Columns {
			cell := ""
			if i < len(row) {
				cell = units.Markdown(oneLine.Replace(row[i]))
			}
			m.WriteString("| " + cell + " ")
		}
		m.line("|")
	}
}

// oneLine is a text that stands in a cell.
var oneLine = strings.NewReplacer("\r\n", "; ", "\n", "; ")
