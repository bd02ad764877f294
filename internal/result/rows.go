package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"busbar/internal/notice"
)

// part is what one batch of lines came to.
type part[T any] struct {
	made     T
	points   int
	end      *End
	ranks    []Rank
	problems []notice.Notice
	bad      int // lines that cannot be used, also those that are too many for problems
}

// read makes a T of the records of each batch and hands them on in order. Problems and endings become notes. whole,
// unless it is nil, gets what else is in a file, as EachWhole says.
func read[T any](
	d *Dataset, decode func([]byte, *Record) error, take func(made T, run *Run, r *Record) T, use func(T) error,
	whole func(*File) error,
) error {
	d.late = nil
	points, bad, end, ranks := 0, 0, (*End)(nil), []Rank(nil)
	work := func(b *batch) part[T] {
		var p part[T]
		f := File{Path: b.source.path, Run: *b.source.run, decode: decode}
		keep := func(r *Record) error {
			p.made = take(p.made, b.source.run, r)
			return nil
		}
		b.each(func(line []byte, n int, untorn bool) {
			switch {
			case b.source.drop.has(n):
				p.points++
			case whole != nil || kindOf(line) != KindRank:
				_, _ = f.take(line, untorn, n, keep) // the only error is keep's
			}
		})
		p.points, p.end, p.ranks, p.problems, p.bad = p.points+f.Points, f.End, f.Ranks, f.Problems, f.bad
		return p
	}
	return inOrder(d.files, work, func(b *batch, p part[T]) error {
		d.late = append(d.late, p.problems[:min(len(p.problems), max(0, maxProblems-bad))]...)
		bad += p.bad
		if points += p.points; p.end != nil {
			end = p.end
		}
		ranks = append(ranks, p.ranks...)
		if b.second {
			d.late = append(d.late, notice.InFile(b.source.path, 0, notice.SecondRun{}))
		}
		if b.last {
			if bad > maxProblems {
				d.late = append(d.late, manyProblems(b.source.path, bad))
			}
			if b.err != nil {
				d.late = append(d.late, notice.InFile(b.source.path, 0,
					notice.ReadingStopped{Problem: plain(b.err).Error(), Records: points}))
			} else {
				d.closing(b.source, points, end)
			}
		}
		if err := use(p.made); err != nil || !b.last {
			return err
		}
		f := &File{Path: b.source.path, Run: *b.source.run, Ranks: ranks, Points: points, End: end}
		if points, bad, end, ranks = 0, 0, nil, nil; whole == nil {
			return nil
		}
		return whole(f)
	})
}

// closing notes how a run ended, where that is worth a word.
func (d *Dataset) closing(s *source, points int, end *End) {
	f := File{Path: s.path, End: end}
	switch {
	case s.run.Step != nil: // it has no rows, and who reads its steps says how it ended
	case points == 0:
		f.problem(0, notice.NoPoints{Ending: f.ending()})
	case end == nil || end.Outcome != Complete:
		f.problem(0, notice.PartOfRun{Ending: f.ending(), Records: points})
	}
	d.late = append(d.late, f.Problems...)
}

// Each calls f for every row, in the order of runs and records. The error is f's.
func (d *Dataset) Each(f func(Row) error) error { return d.each(decodeFast, f, nil) }

// EachInTable is Each for who needs no more than the columns of the merged table: the records lack the times of single
// ranks and the network's counters, and are read several times faster.
func (d *Dataset) EachInTable(f func(Row) error) error { return d.each(decodeTable, f, nil) }

// EachWhole is Each with the rest of each file: behind its rows, whole gets its run, its ranks, its end, and how many
// records it has, also those that another record stands for. The error is that of either function.
func (d *Dataset) EachWhole(f func(Row) error, whole func(*File) error) error {
	return d.each(decodeFast, f, whole)
}

func (d *Dataset) each(decode func([]byte, *Record) error, f func(Row) error, whole func(*File) error) error {
	take := func(rows []Row, run *Run, r *Record) []Row { return append(rows, Row{run, r}) }
	return read(d, decode, take, func(rows []Row) error {
		for _, r := range rows {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	}, whole)
}

// Format is a form of the merged table.
type Format struct {
	head string
	row  func(b []byte, run *Run, r *Record) []byte
}

// The forms of the merged table: CSV has a line of column names first; JSONL has an object per row, with the columns of
// the CSV as its fields and no field where the CSV is empty; Markdown is for people and has fewer columns.
var (
	CSV      = Format{strings.Join(columnNames(), ",") + "\n", csvRow}
	JSONL    = Format{"", jsonRow}
	Markdown = Format{markdownHead, markdownRow}
)

func columnNames() []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// Output is one form of the table and where it goes.
type Output struct {
	Format
	io.Writer
}

// Write reads the files once and writes all rows to every output; it returns the number of rows.
func (d *Dataset) Write(outputs ...Output) (rows int, err error) {
	writers := make([]*bufio.Writer, len(outputs)) // small files are a few rows each
	for i, o := range outputs {
		writers[i] = bufio.NewWriterSize(o, batchBytes)
		if _, err := writers[i].WriteString(o.head); err != nil {
			return 0, err
		}
	}
	type written struct {
		text [][]byte // by output
		rows int
	}
	take := func(t written, run *Run, r *Record) written {
		if t.text == nil {
			t.text = make([][]byte, len(outputs))
			for i := range outputs {
				t.text[i] = borrow()
			}
		}
		for i, o := range outputs {
			t.text[i] = o.row(t.text[i], run, r)
		}
		t.rows++
		return t
	}
	err = read(d, decodeTable, take, func(t written) error {
		rows += t.rows
		for i, text := range t.text {
			if _, err := writers[i].Write(text); err != nil {
				return err
			}
			giveBack(text)
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

// WriteCSV writes the CSV alone; it returns the number of rows.
func (d *Dataset) WriteCSV(w io.Writer) (int, error) { return d.Write(Output{CSV, w}) }

// WriteJSONL writes the JSONL alone; it returns the number of rows.
func (d *Dataset) WriteJSONL(w io.Writer) (int, error) { return d.Write(Output{JSONL, w}) }

// WriteMarkdown writes the Markdown alone; it returns the number of rows.
func (d *Dataset) WriteMarkdown(w io.Writer) (int, error) { return d.Write(Output{Markdown, w}) }

// JSON is the row as an object with the columns of the merged table, and with the facts behind its sentences: notices
// are those of the run and of the point, cause is that of reason.
func (r Row) JSON() json.RawMessage {
	facts, err := json.Marshal(struct {
		Cause   *notice.Brief  `json:"cause,omitempty"`
		Notices []notice.Brief `json:"notices"`
	}{notice.BriefOf(r.Record.Why.Fact()), slices.Concat(r.Run.Warnings, r.Record.Warnings).Briefs()})
	row := bytes.TrimSpace(jsonRow(nil, r.Run, r.Record))
	if err != nil { // all facts are plain structs
		return row
	}
	return append(append(row[:len(row)-1], ','), facts[1:]...)
}

func csvRow(b []byte, run *Run, r *Record) []byte {
	for i, c := range columns {
		if i > 0 {
			b = append(b, ',')
		}
		begin := len(b)
		b = c.text(b, run, r)
		if !c.number && strings.ContainsAny(string(b[begin:]), ",\"\r\n") {
			field := strings.ReplaceAll(string(b[begin:]), `"`, `""`)
			b = append(append(append(b[:begin], '"'), field...), '"')
		}
	}
	return append(b, '\n')
}

func jsonRow(b []byte, run *Run, r *Record) []byte {
	b = append(b, '{')
	for _, c := range columns {
		begin := len(b)
		b = append(append(append(b, '"'), c.name...), '"', ':')
		value := len(b)
		if b = c.text(b, run, r); len(b) == value {
			b = b[:begin]
			continue
		}
		if !c.number {
			b = quoteFrom(b, value)
		}
		b = append(b, ',')
	}
	b[len(b)-1] = '}' // there is a run's ID at least
	return append(b, '\n')
}

// quoteFrom makes a JSON string of what b holds from begin on.
func quoteFrom(b []byte, begin int) []byte {
	plain := true
	for _, ch := range b[begin:] {
		plain = plain && ch >= ' ' && ch < 0x7f && ch != '"' && ch != '\\'
	}
	if plain {
		b = append(b, '"', '"')
		copy(b[begin+1:], b[begin:len(b)-2])
		b[begin] = '"'
		return b
	}
	quoted, _ := json.Marshal(string(b[begin:])) // a string always has a JSON form
	return append(b[:begin], quoted...)
}
