// Package document is the model of everything that commands show: sections of paragraphs, lists, tables and notices. A
// command builds one Document; the package writes it as terminal text, Markdown, HTML or JSON.
//
// To add an output format, add a file with a function that writes a Document, and its name to formats in format.go.
package document

import (
	"html/template"
	"slices"
	"strings"

	"busbar/internal/notice"
)

// Document is a command's output.
type Document struct {
	Kind    string          // of the JSON: "show", "log", …
	Tool    string          // of the JSON: what wrote it; "" leaves it out
	Title   string          // "" where the first section has it
	Blocks  []Block         // in their order; in JSON, Data is in their place
	Notices []notice.Notice // all that the document reports, those of points included
	Data    any             // a struct: the values of the JSON, beside schema, kind and notices
	Page    Page
}

// Page holds the HTML form's additions to the blocks.
type Page struct {
	Style  string // follows the package's own
	Script string // follows the package's own, whose functions it may call; it fills the charts that are scripted
	Data   any    // the script reads it as JSON; texts in it are not markup
}

// Block is a part of a document.
type Block interface{ block() }

// Section is blocks under a title.
type Section struct {
	ID     string // of its place on a page; "" for none
	Title  string
	Fold   Fold
	Blocks []Block
}

// Fold is whether HTML, and Markdown where Folded, can hide the blocks of a section; the other formats show them.
type Fold int

// The ways.
const (
	Flat Fold = iota
	Open
	Folded
)

// Paragraph is one or more sentences.
type Paragraph string

// Lines are texts that each begin a line.
type Lines []string

// List is items without order.
type List []string

// Callout is a sentence that the reader must notice.
type Callout struct {
	Severity notice.Severity
	Text     string
}

// Items are entries with more below them.
type Items struct {
	First int // the number of the first; 0: they are not numbered
	All   []Item
}

// Item is an entry of Items.
type Item struct {
	ID       string // of its place on a page; "" for none
	Severity notice.Severity
	Label    string // before the text; "" for none
	Text     string
	Ref      Link    // behind the text; without a name for none
	Below    []Block // paragraphs, code, and sections of these
}

// Code is lines to be copied as they are.
type Code string

// Links are files that a document refers to.
type Links []Link

// Link is a file, with what to know about it.
type Link struct{ Name, Href, About string }

// Field is a value with its name.
type Field struct{ Name, Value string }

// Fields are values with their names, one below the other.
type Fields []Field

// Column is the head of a column.
type Column struct {
	Name   string
	Right  bool // numbers, aligned at the right
	Narrow bool // a terminal may shorten its texts
	Wrap   bool // the last column: long texts continue in the next line
}

// Table is rows of texts. The last cell of a row with fewer cells than columns spans the others.
type Table struct {
	Columns []Column
	Rows    [][]string
	Values  [][]float64 // sort key in a page; NaN: the text. nil: rows have a fixed order
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

// DropEmpty removes the columns that no row has a value of.
func (t *Table) DropEmpty() {
	for i := len(t.Columns) - 1; i >= 0; i-- {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return i < len(row) && row[i] != "" }) {
			t.Columns = slices.Delete(t.Columns, i, i+1)
			for n, row := range t.Rows {
				t.Rows[n] = slices.Delete(row, i, min(i+1, len(row)))
			}
		}
	}
}

// Findings are notices with their details, advice and sources, numbered from 1.
type Findings []notice.Notice

// Chart is a plot, which HTML alone shows; the other formats have its caption.
type Chart struct {
	ID       string // of its place on a page; "" for none
	Title    string
	Caption  string        // a description of the plot; "" if a table has its values
	HTML     template.HTML // elements, in which texts are escaped
	Scripted bool          // drawn by the script of the page, which shows a note if scripts are off
}

// Tiles are the main results, which a page shows side by side. The other formats omit them: a list has the same facts.
type Tiles []Tile

// Tile is one result.
type Tile struct {
	Name, Value, Note string
	Severity          notice.Severity
	Href              string // of the value; "" for none
}

// Footnotes are the texts that marks such as [1] refer to.
type Footnotes []string

func (*Section) block()  {}
func (Paragraph) block() {}
func (Lines) block()     {}
func (List) block()      {}
func (Callout) block()   {}
func (Items) block()     {}
func (Code) block()      {}
func (Links) block()     {}
func (Fields) block()    {}
func (*Table) block()    {}
func (Findings) block()  {}
func (Footnotes) block() {}
func (*Chart) block()    {}
func (Tiles) block()     {}

// Add appends blocks.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Add appends blocks.
func (s *Section) Add(blocks ...Block) { s.Blocks = append(s.Blocks, blocks...) }

// Report adds a notice, or counts it with an equal one.
func (d *Document) Report(n notice.Notice) { d.count(n, n.Equal) }

// CountKind adds a notice, or counts it with one of the same kind at the same location, of which the first is the
// example.
func (d *Document) CountKind(n notice.Notice) {
	d.count(n, func(m notice.Notice) bool {
		return m.At == n.At && notice.Kept{Fact: m.Fact}.Kind() == notice.Kept{Fact: n.Fact}.Kind()
	})
}

func (d *Document) count(n notice.Notice, same func(notice.Notice) bool) {
	i := slices.IndexFunc(d.Notices, same)
	if i < 0 {
		d.Notices = append(d.Notices, n)
		return
	}
	d.Notices[i].Count = max(1, d.Notices[i].Count) + max(1, n.Count)
}

// NewSection returns a section of blocks.
func NewSection(title string, blocks ...Block) *Section {
	return &Section{Title: title, Blocks: blocks}
}

// NewTable returns a table without rows. Heads that end in > are of numbers, those in ~ of texts that a terminal may
// shorten, and one in … of texts that continue in the next line.
func NewTable(heads ...string) *Table {
	t := &Table{}
	for _, name := range heads {
		name, right := strings.CutSuffix(name, ">")
		name, narrow := strings.CutSuffix(name, "~")
		name, wrap := strings.CutSuffix(name, "…")
		t.Columns = append(t.Columns, Column{name, right, narrow, wrap})
	}
	return t
}
