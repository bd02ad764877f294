package document

import (
	"fmt"
	"io"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Width is the columns of a terminal that texts are wrapped to.
const Width = 80

// writeText writes for a terminal. No text of a file steers it.
func writeText(d *Document, w io.Writer) error {
	t := &text{}
	t.title(d.Title)
	t.blocks(d.Blocks)
	_, err := io.WriteString(w, t.String())
	return err
}

// text collects the lines.
type text struct{ strings.Builder }

func (t *text) line(s string) { t.WriteString(strings.TrimRight(s, " ") + "\n") }

// title begins behind an empty line.
func (t *text) title(s string) {
	if s == "" {
		return
	}
	if t.Len() > 0 {
		t.line("")
	}
	t.hanging("", s)
}

func (t *text) blocks(all []Block) {
	for _, b := range all {
		switch b := b.(type) {
		case *Section:
			t.title(b.Title)
			t.blocks(b.Blocks)
		case Paragraph:
			t.hanging("", string(b))
		case Lines:
			for _, s := range b {
				t.hanging("", s)
			}
		case List:
			for _, s := range b {
				t.hanging("- ", s)
			}
		case Callout:
			t.hanging("! ", b.Text)
		case Items:
			t.items(b)
		case Code:
			t.code("  ", b)
		case Links:
			for _, l := range b {
				t.hanging("- ", l.Name+l.About)
			}
		case Fields:
			t.fields(b)
		case *Table:
			t.table(b)
		case Findings:
			t.findings(b)
		case *Chart:
			if b.Caption != "" {
				t.hanging("", b.Title+": "+b.Caption)
			}
		case Footnotes:
			t.line("")
			for i, s := range b {
				t.hanging(fmt.Sprintf("[%d] ", i+1), s)
			}
		}
	}
}

// hanging writes a text behind a sign; its further lines are indented by the sign's width.
func (t *text) hanging(sign, s string) {
	width := len([]rune(sign))
	for _, line := range Wrap(s, Width-width) {
		t.line(sign + line)
		sign = strings.Repeat(" ", width)
	}
}

func (t *text) fields(all Fields) {
	width := 0
	for _, f := range all {
		width = max(width, len([]rune(f.Name)))
	}
	for _, f := range all {
		t.hanging(pad(units.Printable(f.Name), width, false)+"  ", f.Value)
	}
}

func (t *text) items(b Items) {
	for i, item := range b.All {
		sign, s := "- ", item.words()
		if b.Numbered {
			sign = fmt.Sprintf("%d. ", i+1)
		}
		if item.Label != "" {
			s = item.Label + ": " + s
		}
		t.hanging(sign, s)
		margin := strings.Repeat(" ", len(sign))
		for _, below := range flat(item.Below) {
			switch below := below.(type) {
			case Code:
				t.code(margin+"  ", below)
			case Paragraph:
				t.hanging(margin+"- ", string(below))
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

func (t *text) code(margin string, b Code) {
	for line := range strings.SplitSeq(strings.TrimRight(string(b), "\n"), "\n") {
		t.line(margin + units.Printable(line))
	}
}

func (t *text) findings(all Findings) {
	for i, n := range all {
		sign := fmt.Sprintf("%d. ", i+1)
		t.hanging(sign, headOf(n))
		for _, r := range restOf(n) {
			margin := strings.Repeat(" ", len(sign))
			if r.Name == "" {
				t.hanging(margin+"- ", r.Value)
				continue
			}
			t.hanging(margin+r.Name+": ", r.Value)
		}
	}
}

// headOf is a notice as the line that its details follow.
func headOf(n notice.Notice) string {
	s := fmt.Sprintf("%s: %s [%s]", units.Capital(n.Severity.String()), n.Text(), n.Code())
	if n.Count > 1 {
		s += fmt.Sprintf(" (%d times)", n.Count)
	}
	return s
}

// restOf are the details of a notice, which have no name, its advice and its source.
func restOf(n notice.Notice) (all Fields) {
	for _, s := range n.Details() {
		all = append(all, Field{Value: s})
	}
	if s := notice.ToDo(n.Fact); s != "" {
		all = append(all, Field{"Advice", s})
	}
	if s := notice.Source(n.Fact); s != "" {
		all = append(all, Field{"Source", s})
	}
	return all
}

// table writes columns two spaces apart, or one where they are wide.
func (t *text) table(b *Table) {
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
				t.hanging(line, cell)
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
