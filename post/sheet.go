package main

import (
	"io"
	"strings"
)

// sheet is a document of titles, sentences, lists and tables, which is written for a terminal.
type sheet struct{ parts []sheetPart }

// sheetPart is one of them: exactly one field is set.
type sheetPart struct {
	title, sentence, item string
	table                 *sheetTable
}

// sheetTable is a table of texts.
type sheetTable struct {
	head  []string
	align string // a letter for each column: l is text to the left, r figures to the right
	rows  [][]string
	names []int // columns whose texts may be shortened to make the table fit a terminal
}

// The widths of a terminal: of sentences, and of tables at most.
const (
	sheetWidth = 80
	tableWidth = 100
)

func (s *sheet) title(text string) { s.parts = append(s.parts, sheetPart{title: text}) }

func (s *sheet) say(text string) { s.parts = append(s.parts, sheetPart{sentence: text}) }

func (s *sheet) item(text string) { s.parts = append(s.parts, sheetPart{item: text}) }

func (s *sheet) table(t *sheetTable) { s.parts = append(s.parts, sheetPart{table: t}) }

// list writes a part that is a list, if there is something in it.
func (s *sheet) list(title string, items []string) {
	if len(items) > 0 {
		s.title(title)
	}
	for _, text := range items {
		s.item(text)
	}
}

// writeText writes the sheet for a terminal.
func (s *sheet) writeText(w io.Writer) error {
	var b strings.Builder
	for i, p := range s.parts {
		switch {
		case p.title != "":
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(printable(p.title) + "\n")
		case p.sentence != "":
			for _, line := range wrap(p.sentence, sheetWidth) {
				b.WriteString(line + "\n")
			}
		case p.item != "":
			hanging(&b, "- ", p.item)
		case p.table != nil:
			p.table.writeText(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeText writes a table in columns two spaces apart, or one where it is wide.
func (t *sheetTable) writeText(b *strings.Builder) {
	rows, widths := [][]string{t.head}, make([]int, len(t.head))
	for _, row := range t.rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, printable(c))
		}
		rows = append(rows, cells)
	}
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	gap := squeeze(widths, t.names)
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			cell = shorten(cell, widths[i])
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if t.align[i] == 'r' {
				line += pad + cell + gap
			} else {
				line += cell + pad + gap
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// squeeze makes columns narrower until the table fits, the widest of those that may be first, and gives what stands between columns.
func squeeze(widths, names []int) (gap string) {
	gap = "  "
	for {
		whole := len(gap) * (len(widths) - 1)
		for _, w := range widths {
			whole += w
		}
		widest := -1
		for _, i := range names {
			if widths[i] > shortest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		switch {
		case whole <= tableWidth:
			return gap
		case widest >= 0:
			widths[widest]--
		case gap == "  ":
			gap = " "
		default:
			return gap
		}
	}
}

// shortest is what is left of a text at least that is shortened.
const shortest = 12

// shorten takes the middle out of a text that is too long: names of kernels differ at both ends.
func shorten(text string, width int) string {
	r := []rune(text)
	if len(r) <= width {
		return text
	}
	end := (width - 1) / 3
	return string(r[:width-1-end]) + "…" + string(r[len(r)-end:])
}
