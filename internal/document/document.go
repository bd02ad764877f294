// Package document is the model of everything that commands show: sections of paragraphs, lists, tables and notices. A
// command builds one Document; the package writes it as terminal text, Markdown, HTML or JSON.
//
// To add an output format, add a file with a function that writes a Document, and its name to formats in format.go.
package document

import (
	"html/template"
	"slices"

	"busbar/internal/notice"
)

// Document is what a command shows.
type Document struct {
	Kind    string          // of the JSON: "show", "log", …
	Tool    string          // of the JSON: what wrote it; "" leaves it out
	Title   string          // "" where the first section has it
	Blocks  []Block         // in their order; in JSON, Data is in their place
	Notices []notice.Notice // all that the document reports, those of points included
	Data    any             // a struct: the values of the JSON, beside schema, kind and notices
}

// Block is a part of a document.
type Block interface{ block() }

// Section is blocks under a title.
type Section struct {
	Title  string
	Blocks []Block
}

// Paragraph is one or more sentences.
type Paragraph string

// Lines are texts that each begin a line.
type Lines []string

// List is items without order.
type List []string

// Callout is a sentence that nobody may overlook.
type Callout string

// Items are entries with more below them.
type Items struct {
	Numbered bool
	All      []Item
}

// Item is an entry of Items.
type Item struct {
	Label string // before the text; "" for none
	Text  string
	Below []Block // paragraphs and code
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
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

// Findings are notices with their details, advice and sources, numbered from 1.
type Findings []notice.Notice

// Chart is a picture, which HTML alone shows; the other formats have its caption.
type Chart struct {
	Title   string
	Caption string        // says in words what the picture shows
	SVG     template.HTML // an svg element, in which texts are escaped
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

// Add appends blocks.
func (d *Document) Add(blocks ...Block) { d.Blocks = append(d.Blocks, blocks...) }

// Add appends blocks.
func (s *Section) Add(blocks ...Block) { s.Blocks = append(s.Blocks, blocks...) }

// Report adds a notice, or counts it with an equal one.
func (d *Document) Report(n notice.Notice) { d.count(n, n.Equal) }

// CountKind adds a notice, or counts it with one of the same kind at the same location, of which the first is the example.
func (d *Document) CountKind(n notice.Notice) {
	d.count(n, func(m notice.Notice) bool {
		return m.At == n.At && notice.Kept{Fact: m.Fact}.Group() == notice.Kept{Fact: n.Fact}.Group()
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
