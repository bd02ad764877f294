package document

import (
	"fmt"
	"html"
	"io"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Width is the columns of a terminal that texts are wrapped to.
const Width = 80

// writeText writes for a terminal. No text of a file steers it.
func writeText(d *Document, w io.Writer) error { return d.writeLines(w, false) }

// writeMarkdown writes for a page, on which no text of a file makes markup.
func writeMarkdown(d *Document, w io.Writer) error { return d.writeLines(w, true) }

func (d *Document) writeLines(w io.Writer, markdown bool) error {
	t, level := &lines{markdown: markdown}, 1
	if d.Title != "" {
		t.title(level, d.Title)
		level++
	}
	t.blocks(level, d.Blocks)
	_, err := io.WriteString(w, t.String())
	return err
}

// lines collects the lines of a terminal, or of Markdown.
type lines struct {
	strings.Builder
	markdown bool
}

func (t *lines) line(s string) {
	if !t.markdown {
		s = strings.TrimRight(s, " ")
	}
	t.WriteString(s + "\n")
}

// entry writes a text, escaped, behind a sign. On a terminal it wraps, indented by the sign's width.
func (t *lines) entry(sign, s string) {
	if t.markdown {
		t.line(sign + s)
		return
	}
	width := len([]rune(sign))
	for _, line := range Wrap(s, Width-width) {
		t.line(sign + line)
		sign = strings.Repeat(" ", width)
	}
}

// escaped is a text without markup.
func (t *lines) escaped(s string) string {
	if t.markdown {
		return units.Markdown(s)
	}
	return s
}

// strong is an escaped text, bold in Markdown.
func (t *lines) strong(s string) string {
	if t.markdown {
		return "**" + units.Markdown(s) + "**"
	}
	return s
}

// apart ends what precedes with an empty line.
func (t *lines) apart() {
	if s := t.String(); s != "" && !strings.HasSuffix(s, "\n\n") {
		t.line("")
	}
}

func (t *lines) title(level int, s string) {
	switch {
	case t.markdown:
		t.apart()
		t.line(strings.Repeat("#", min(level, 6)) + " " + units.Markdown(s) + "\n")
	case s != "":
		if t.Len() > 0 {
			t.line("")
		}
		t.entry("", s)
	}
}

func (t *lines) blocks(level int, all []Block) {
	for _, b := range all {
		switch b := b.(type) {
		case *Chart:
			if b.Caption == "" {
				continue
			}
		case Tiles:
			continue
		}
		if t.markdown {
			t.apart()
		}
		t.block(level, b)
	}
}

func (t *lines) block(level int, b Block) {
	switch b := b.(type) {
	case *Section:
		if t.markdown && b.Fold == Folded { // as GitHub and GitLab fold it
			t.line("<details><summary>" + html.EscapeString(Printable(b.Title)) + "</summary>\n")
			t.blocks(level+1, b.Blocks)
			t.apart()
			t.line("</details>\n")
			return
		}
		t.title(level, b.Title)
		t.blocks(level+1, b.Blocks)
	case Paragraph:
		t.entry("", t.escaped(string(b)))
	case Lines:
		for i, s := range b {
			if t.markdown && i < len(b)-1 {
				s += "  " // a line break
			}
			t.entry("", t.escaped(s))
		}
	case List:
		for _, s := range b {
			t.entry("- ", t.escaped(s))
		}
	case Callout:
		t.entry(t.either("! ", "> "), t.strong(b.Text))
	case Items:
		t.items(b)
	case Findings:
		t.items(b.items())
	case Code:
		t.code(t.either("  ", ""), b)
	case Links:
		for _, l := range b {
			t.entry("- ", t.link(l))
		}
	case Fields:
		t.fields(b)
	case *Table:
		if t.markdown {
			t.markdownTable(b)
		} else {
			t.table(b)
		}
	case *Chart:
		t.entry("", t.strong(b.Title)+": "+t.escaped(b.Caption))
	case Footnotes:
		t.WriteString(t.either("\n", ""))
		for i, s := range b {
			t.entry(fmt.Sprintf(t.either("[%d] ", "- [%d] "), i+1), t.escaped(s))
		}
	}
}

func (t *lines) either(terminal, markdown string) string {
	if t.markdown {
		return markdown
	}
	return terminal
}

// brackets are those of a link's text.
var brackets = strings.NewReplacer("[", `\[`, "]", `\]`)

func (t *lines) link(l Link) string {
	if t.markdown {
		return fmt.Sprintf("[%s](<%s>)%s", brackets.Replace(units.Markdown(l.Name)), l.Href, units.Markdown(l.About))
	}
	return l.Name + l.About
}

func (t *lines) fields(all Fields) {
	width := 0
	for _, f := range all {
		width = max(width, len([]rune(f.Name)))
	}
	for _, f := range all {
		if t.markdown {
			t.entry("- ", t.strong(f.Name)+": "+t.escaped(f.Value))
		} else {
			t.entry(pad(units.Printable(f.Name), width, false)+"  ", f.Value)
		}
	}
}

func (t *lines) items(b Items) {
	for i, item := range b.All {
		sign, s := "- ", t.escaped(item.words())
		if b.First > 0 {
			sign = fmt.Sprintf("%d. ", b.First+i)
		}
		if item.Label != "" {
			s = t.strong(item.Label) + ": " + s
		}
		t.entry(sign, s)
		margin := t.either(strings.Repeat(" ", len(sign)), "   ")
		for _, below := range flat(item.Below) {
			switch below := below.(type) {
			case Code:
				t.WriteString(t.either("", "\n"))
				t.code(margin+"  ", below)
				t.WriteString(t.either("", "\n"))
			case Paragraph:
				t.entry(margin+"- ", t.escaped(string(below)))
			case Fields:
				for _, f := range below {
					t.entry(margin+t.either("", "- ")+f.Name+": ", t.escaped(f.Value))
				}
			}
		}
	}
}

// words are the text with what it refers to.
func (i Item) words() string {
	if i.Ref.Name == "" {
		return i.Text
	}
	return i.Text + " (" + i.Ref.Name + ")"
}

// flat are blocks with those of sections in their place.
func flat(blocks []Block) (all []Block) {
	for _, b := range blocks {
		if s, ok := b.(*Section); ok {
			all = append(all, flat(s.Blocks)...)
			continue
		}
		all = append(all, b)
	}
	return all
}

func (t *lines) code(margin string, b Code) {
	fence := t.either("", margin+"```\n")
	t.WriteString(fence)
	for line := range strings.SplitSeq(strings.TrimRight(string(b), "\n"), "\n") {
		line = units.Printable(line)
		if t.markdown {
			line = strings.ReplaceAll(line, "```", "'''")
		}
		t.line(margin + line)
	}
	t.WriteString(fence)
}

// items are notices as lines that their details, advice and source follow.
func (f Findings) items() Items {
	items := Items{First: 1}
	for _, n := range f {
		one := Item{Severity: n.Severity}
		one.Text = fmt.Sprintf("%s: %s [%s]", units.Capital(n.Severity.String()), n.Text(), n.Code())
		if n.Count > 1 {
			one.Text += fmt.Sprintf(" (%d times)", n.Count)
		}
		for _, s := range n.Details() {
			one.Below = append(one.Below, Paragraph(s))
		}
		for _, f := range []Field{{"Advice", notice.ToDo(n.Fact)}, {"Source", notice.Source(n.Fact)}} {
			if f.Value != "" {
				one.Below = append(one.Below, Fields{f})
			}
		}
		items.All = append(items.All, one)
	}
	return items
}

// table writes columns two spaces apart, or one where they are wide.
func (t *lines) table(b *Table) {
	rows, widths := [][]string{nil}, make([]int, len(b.Columns))
	for _, c := range b.Columns {
		rows[0] = append(rows[0], c.Name)
	}
	rows = append(rows, b.Rows...)
	wraps := func(row []string, i int) bool {
		return i == len(row)-1 && (len(row) < len(b.Columns) || b.Columns[i].Wrap)
	}
	for _, row := range rows {
		for i, cell := range row {
			if !wraps(row, i) {
				widths[i] = max(widths[i], len([]rune(cell)))
			}
		}
	}
	gap := squeeze(widths, b.Columns)
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if wraps(row, i) {
				t.entry(line, cell)
				line = ""
				break
			}
			line += pad(shorten(units.Printable(cell), widths[i]), widths[i], b.Columns[i].Right) + gap
		}
		if line != "" {
			t.line(line)
		}
	}
}

func pad(s string, width int, right bool) string {
	blank := strings.Repeat(" ", max(0, width-len([]rune(s))))
	if right {
		return blank + s
	}
	return s + blank
}

// shortest is the width to which texts are shortened at most.
const shortest = 12

// squeeze makes the table narrower until it fits: first what separates columns, which it returns, then the widest of
// the columns that may be shortened.
func squeeze(widths []int, columns []Column) (gap string) {
	gap = "  "
	for {
		whole, widest := len(gap)*(len(widths)-1), -1
		for i, w := range widths {
			whole += w
			if columns[i].Narrow && w > shortest && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		switch {
		case whole <= Width:
			return gap
		case gap == "  ":
			gap = " "
		case widest >= 0:
			widths[widest]--
		default:
			return gap
		}
	}
}

// shorten removes the middle of a text that is too long: names of kernels differ at both ends.
func shorten(s string, width int) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	end := (width - 1) / 3
	return string(r[:width-1-end]) + "…" + string(r[len(r)-end:])
}

// Wrap breaks a text into lines of at most width characters, at spaces. A longer word has a line of its own, and no
// line begins with the % of a number.
func Wrap(s string, width int) []string {
	var lines []string
	line := ""
	words := strings.Fields(Printable(s))
	for i := 0; i < len(words); i++ {
		word := words[i]
		if i+1 < len(words) && strings.HasPrefix(words[i+1], "%") {
			i++
			word += " " + words[i]
		}
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Printable is text without control characters but line ends.
func Printable(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = units.Printable(line)
	}
	return strings.Join(lines, "\n")
}

func (t *lines) markdownTable(b *Table) {
	rule := "|"
	for _, c := range b.Columns {
		t.WriteString("| " + units.Markdown(c.Name) + " ")
		if rule += "---"; c.Right {
			rule += ":"
		}
		rule += "|"
	}
	t.line("|\n" + rule)
	for _, row := range b.Rows {
		for i := range b.Columns {
			cell := ""
			if i < len(row) {
				cell = units.Markdown(oneLine.Replace(row[i]))
			}
			t.WriteString("| " + cell + " ")
		}
		t.line("|")
	}
}

// oneLine is a text for a table cell.
var oneLine = strings.NewReplacer("\r\n", "; ", "\n", "; ")
