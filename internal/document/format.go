package document

import (
	"io"
	"slices"

	"busbar/internal/coll"
)

// Format is how a document is written.
type Format string

// The formats.
const (
	Text     Format = "text"
	Markdown Format = "markdown"
	JSON     Format = "json"
)

// WriteHTML writes the document as a page. It is no value of --format: report.html and its like have names of their
// own.
func (d *Document) WriteHTML(w io.Writer) error { return writeHTML(d, w) }

// formats are all of them.
var formats = []struct {
	name  Format
	write func(*Document, io.Writer) error
}{{Text, writeText}, {Markdown, writeMarkdown}, {JSON, writeJSON}}

// FullFormat is the name of a format; md is short for markdown.
func FullFormat(name string) string {
	if name == "md" {
		return string(Markdown)
	}
	return name
}

// FormatNames are the words of --format.
func FormatNames() (names []string) {
	for _, f := range formats {
		names = append(names, string(f.name))
	}
	return names
}

func (f *Format) String() string { return string(*f) }

// Set is the format of a name; its error lists the names.
func (f *Format) Set(name string) error {
	name = FullFormat(name)
	if !slices.Contains(FormatNames(), name) {
		return coll.Unknown("format", name, FormatNames())
	}
	*f = Format(name)
	return nil
}

// Type is what help calls the value.
func (f *Format) Type() string { return "FORMAT" }

// Write writes the document; the error is the writer's, or that Data is no JSON object.
func (d *Document) Write(w io.Writer, as Format) error {
	i := slices.IndexFunc(formats, func(f struct {
		name  Format
		write func(*Document, io.Writer) error
	}) bool {
		return f.name == as
	})
	return formats[max(0, i)].write(d, w)
}
