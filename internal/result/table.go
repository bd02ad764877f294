package result

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"busbar/internal/notice"
)

// cell is one column of a row. Its text is empty where nothing is known.
type cell struct {
	name, text string
	number     bool
}

// cells are a row.
type cells []cell

func (c *cells) text(name, text string) { *c = append(*c, cell{name, text, false}) }

// int adds an integer, empty below minimum.
func (c *cells) int(name string, n, minimum int64) {
	text := ""
	if n >= minimum {
		text = strconv.FormatInt(n, 10)
	}
	*c = append(*c, cell{name, text, true})
}

// float adds a measured number, empty where it is not known.
func (c *cells) float(name string, x float64, known bool) {
	text := ""
	if known {
		text = strconv.FormatFloat(x, 'g', -1, 64)
	}
	*c = append(*c, cell{name, text, true})
}

// heading is the line of column names of a CSV.
func (c cells) heading() string {
	names := make([]string, len(c))
	for i := range c {
		names[i] = c[i].name
	}
	return strings.Join(names, ",") + "\n"
}

func (c cells) csv(b []byte) []byte {
	for i := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if text := c[i].text; strings.ContainsAny(text, ",\"\r\n") {
			b = append(append(append(b, '"'), strings.ReplaceAll(text, `"`, `""`)...), '"')
		} else {
			b = append(b, text...)
		}
	}
	return append(b, '\n')
}

func (c cells) json(b []byte) []byte {
	separator := byte('{')
	for i := range c {
		switch {
		case c[i].text == "":
			continue
		case c[i].number:
			b = append(append(append(append(b, separator, '"'), c[i].name...), '"', ':'), c[i].text...)
		default:
			b = append(append(append(b, separator, '"'), c[i].name...), '"', ':')
			b, _ = jsontext.AppendQuote(b, c[i].text) // the error is of invalid UTF-8, which is replaced
		}
		separator = ','
	}
	return append(b, '}', '\n')
}

// Format is a form of the merged table.
type Format struct {
	head string
	row  func(c cells, b []byte) []byte
}

// The forms of the merged table: CSV has a line of column names first; JSONL has an object per row, with the columns of
// the CSV as its fields and no field where the CSV is empty; Markdown is for people and has fewer columns.
var (
	CSV      = Format{Row{&Run{}, &Record{}}.cells(nil).heading(), cells.csv}
	JSONL    = Format{"", cells.json}
	Markdown = Format{markdownHead(), cells.markdown}
)

// Output is one form of the table and where it goes.
type Output struct {
	Format
	io.Writer
}

// tableText are buffers for rows.
var tableText = sync.Pool{New: func() any { return new([]byte) }}

// Write reads the files once and writes all rows to every output; it returns the number of rows.
func (d *Dataset) Write(outputs ...Output) (rows int, err error) {
	writers := make([]*bufio.Writer, len(outputs)) // small files are a few rows each
	for i, o := range outputs {
		writers[i] = bufio.NewWriterSize(o, 256<<10)
		_, _ = writers[i].WriteString(o.head) // a bufio.Writer keeps its error
	}
	type written struct {
		text  [][]byte // by output
		cells cells
		rows  int
	}
	take := func(t written, run *Run, r *Record) written {
		if t.text == nil {
			t.text = make([][]byte, len(outputs))
			for i := range outputs {
				t.text[i] = (*tableText.Get().(*[]byte))[:0]
			}
		}
		t.cells = Row{run, r}.cells(t.cells[:0])
		for i, o := range outputs {
			t.text[i] = o.row(t.cells, t.text[i])
		}
		t.rows++
		return t
	}
	err = read(d, tabular, take, func(_ *source, t written) error {
		rows += t.rows
		for i, text := range t.text {
			if _, err := writers[i].Write(text); err != nil {
				return err
			}
			tableText.Put(&text)
		}
		return nil
	}, nil)
	for _, w := range writers {
		if err == nil {
			err = w.Flush()
		}
	}
	return rows, err
}

// JSON is the row as an object with the columns of the merged table, and with the facts behind its sentences: notices
// are those of the run and of the point, cause is that of reason.
func (r Row) JSON() json.RawMessage {
	facts, err := json.Marshal(struct {
		Cause   *notice.Brief  `json:"cause,omitempty"`
		Notices []notice.Brief `json:"notices"`
	}{notice.BriefOf(r.Record.Why.Fact()), slices.Concat(r.Run.Warnings, r.Record.Warnings).Briefs()})
	row := r.cells(nil).json(nil)
	row = row[:len(row)-1]
	if err != nil { // all facts are plain structs
		return row
	}
	return append(append(row[:len(row)-1], ','), facts[1:]...)
}

// WriteStepsCSV writes the table of training steps, with a line of column names first.
func WriteStepsCSV(w io.Writer, rows []StepRow) error {
	b := []byte(stepHeading())
	var c cells
	for i := range rows {
		c = rows[i].cells(c[:0])
		b = c.csv(b)
	}
	_, err := w.Write(b)
	return err
}

func stepHeading() string {
	empty := StepRow{File: &StepFile{Run: Run{Step: &Step{}}}, Record: &StepRecord{}}
	return empty.cells(nil).heading()
}
