package result

import (
	"bufio"
	"fmt"
	"io"
)

// Bulk writes a whole run at once, where nothing is measured meanwhile and the caller sees to it that the file is kept
// or discarded as a whole: no line is synced, and no text view is drawn.
type Bulk struct {
	w      *bufio.Writer
	run    string
	n      int
	points map[Status]int
}

// NewBulk writes the header of a run, whose ID must be set. Kind and Schema are filled in.
func NewBulk(w io.Writer, run Run, ranks []Rank) (*Bulk, error) {
	b := &Bulk{w: bufio.NewWriterSize(w, 64<<10), run: run.ID, points: map[Status]int{}}
	run.Kind, run.Schema = KindRun, Schema
	err := b.line(&run)
	for _, r := range ranks {
		if r.Kind = KindRank; err == nil {
			err = b.line(&r)
		}
	}
	return b, err
}

// Append numbers the record and writes it. At stays as it is: empty if unknown.
func (b *Bulk) Append(r *Record) error {
	r.Kind, r.N, r.Run = KindCase, b.n+1, b.run
	if err := b.line(r); err != nil {
		return err
	}
	b.n++
	b.points[r.Status]++
	return nil
}

// Points is the number of records written.
func (b *Bulk) Points() int { return b.n }

// End writes the last line and what is still held back.
func (b *Bulk) End(e End) error {
	e.Kind, e.Points = KindEnd, b.points
	if err := b.line(&e); err != nil {
		return err
	}
	return b.w.Flush()
}

func (b *Bulk) line(v any) error {
	line, err := encodeLine(v)
	if err != nil {
		return fmt.Errorf("record %d: %w", b.n+1, err)
	}
	_, err = b.w.Write(line)
	return err
}
