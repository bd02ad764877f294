package result

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// part is what one batch of lines came to.
type part[T any] struct {
	made     T
	points   int
	end      *End
	problems []Problem
}

// read makes a T of the records of each batch and hands them on in order. Problems and endings become notes.
func read[T any](d *Dataset, take func(made T, run *Run, r *Record) T, use func(T) error) error {
	d.late = nil
	points, end := 0, (*End)(nil)
	work := func(b *batch) part[T] {
		var p part[T]
		f := File{Path: b.source.path, Run: *b.source.run}
		keep := func(r *Record) error {
			p.made = take(p.made, b.source.run, r)
			return nil
		}
		b.each(func(line []byte, n int, whole bool) {
			switch {
			case b.source.drop.has(n):
				p.points++
			case kindOf(line) != KindRank:
				_, _ = f.take(line, whole, n, keep) // the only error is keep's
			}
		})
		p.points, p.end, p.problems = p.points+f.Points, f.End, f.Problems
		return p
	}
	return inOrder(d.files, work, func(b *batch, p part[T]) error {
		d.late = append(d.late, p.problems...)
		if points += p.points; p.end != nil {
			end = p.end
		}
		if b.err != nil {
			d.late = append(d.late, asProblem(b.source.path, fmt.Errorf("reading stopped: %w", b.err)))
		}
		if b.second {
			d.late = append(d.late, Problem{Path: b.source.path, Text: secondRun})
		}
		if b.last {
			d.closing(b.source, points, end)
			points, end = 0, nil
		}
		return use(p.made)
	})
}

// closing notes how a run ended, where that is worth a word.
func (d *Dataset) closing(s *source, points int, end *End) {
	f := File{Path: s.path, End: end}
	switch {
	case points == 0:
		f.problem(0, "holds no points: "+f.ending())
	case end == nil || end.Outcome != Complete:
		f.problem(0, fmt.Sprintf("%s; %s read", f.ending(), records(points)))
	}
	d.late = append(d.late, f.Problems...)
}

// Each calls f for every row, in the order of runs and records. The error is f's.
func (d *Dataset) Each(f func(Row) error) error {
	take := func(rows []Row, run *Run, r *Record) []Row { return append(rows, Row{run, r}) }
	return read(d, take, func(rows []Row) error {
		for _, r := range rows {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// written is text of some rows.
type written struct {
	text []byte
	rows int
}

// write writes what row makes of each record, under head; it returns the number of rows.
func (d *Dataset) write(w io.Writer, head string, row func(b []byte, run *Run, r *Record) []byte) (int, error) {
	out, rows := bufio.NewWriterSize(w, 1<<20), 0
	if _, err := out.WriteString(head); err != nil {
		return 0, err
	}
	take := func(t written, run *Run, r *Record) written {
		if t.text == nil {
			t.text = (*buffers.Get().(*[]byte))[:0]
		}
		return written{row(t.text, run, r), t.rows + 1}
	}
	err := read(d, take, func(t written) error {
		rows += t.rows
		_, err := out.Write(t.text)
		if t.text != nil {
			buffers.Put(&t.text)
		}
		return err
	})
	if err != nil {
		return rows, err
	}
	return rows, out.Flush()
}

// WriteCSV writes a line per row under a line of column names; it returns the number of rows.
func (d *Dataset) WriteCSV(w io.Writer) (int, error) {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return d.write(w, strings.Join(names, ",")+"\n", csvRow)
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

// WriteJSONL writes an object per row, with the columns of the CSV as its fields and no field where the CSV is empty; it
// returns the number of rows.
func (d *Dataset) WriteJSONL(w io.Writer) (int, error) { return d.write(w, "", jsonRow) }

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
			quoted, _ := json.Marshal(string(b[value:])) // a string always has a JSON form
			b = append(b[:value], quoted...)
		}
		b = append(b, ',')
	}
	b[len(b)-1] = '}' // there is a run's ID at least
	return append(b, '\n')
}
