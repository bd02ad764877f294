package timelinedoc

import "busbar/internal/document"

// sheet builds a document of titles, sentences, lists and tables, one after the other.
type sheet struct{ document.Document }

// sheetTable is a table of texts.
type sheetTable struct {
	head  []string
	align string // a letter for each column: l is text at the left, r numbers at the right
	rows  [][]string
	names []int // columns whose texts a terminal may shorten
}

// title begins a section.
func (s *sheet) title(text string) { s.Add(&document.Section{Title: text}) }

// put adds a block to the section.
func (s *sheet) put(b document.Block) {
	if n := len(s.Blocks); n > 0 {
		if section, is := s.Blocks[n-1].(*document.Section); is {
			section.Add(b)
			return
		}
	}
	s.Add(b)
}

func (s *sheet) say(text string) { s.put(document.Paragraph(text)) }

func (s *sheet) item(text string) { s.put(document.List{text}) }

func (s *sheet) table(t *sheetTable) {
	out := &document.Table{Rows: t.rows}
	for i, name := range t.head {
		out.Columns = append(out.Columns, document.Column{Name: name, Right: t.align[i] == 'r'})
	}
	for _, i := range t.names {
		out.Columns[i].Narrow = true
	}
	s.put(out)
}

// list is a section that is a list, if there is something in it.
func (s *sheet) list(title string, items []string) {
	if len(items) > 0 {
		s.title(title)
		s.put(document.List(items))
	}
}
