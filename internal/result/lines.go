package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"busbar/internal/coll"
)

// maxHeader bounds the first line, so that a large foreign file of one line is not read whole.
const maxHeader = 64 << 20

// lineReader splits a stream into lines of any length.
type lineReader struct {
	r    *bufio.Reader
	long []byte // lines longer than the reader's buffer
	n    int    // number of the line that next returned last
}

// lineBuffer is how much is read at once. It is more than most files hold, so that buffers are used again: making one
// for each of ten thousand small files took more time than all else.
const lineBuffer = 256 << 10

var lineBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, lineBuffer) }}

// newLineReader makes a reader that must be released.
func newLineReader(r io.Reader) *lineReader {
	b := lineBuffers.Get().(*bufio.Reader)
	b.Reset(r)
	return &lineReader{r: b}
}

// release gives the buffer back; neither the reader nor a line of it may be used any more.
func (l *lineReader) release() {
	l.r.Reset(nil)
	lineBuffers.Put(l.r)
	l.r = nil
}

// next returns one line without its newline; whole is false when the stream ends before the newline. The line is valid
// until the next call. At the end of the stream the error is io.EOF. A limit above 0 bounds the line's length.
func (l *lineReader) next(limit int) (line []byte, whole bool, err error) {
	line, err = l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.long = l.long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			l.long = append(l.long, line...)
			if limit > 0 && len(l.long) > limit {
				return nil, false, errTooLong
			}
			line, err = l.r.ReadSlice('\n')
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, false, err
	}
	l.n++
	if err != nil {
		return line, false, nil
	}
	return line[:len(line)-1], true, nil
}

var errTooLong = errors.New("line too long")

// kindOf tells what kind of line this is; "" when it is no object with a kind.
func kindOf(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"kind":"`)); ok {
		if i := bytes.IndexByte(rest, '"'); i >= 0 {
			return string(rest[:i])
		}
	}
	var k struct{ Kind string }
	if json.Unmarshal(line, &k) != nil {
		return ""
	}
	return k.Kind
}

// decodeRecord reads a line of kind case and makes sure that the rest of the program can rely on its words.
func decodeRecord(line []byte, r *Record) error {
	if err := json.Unmarshal(line, r); err != nil {
		return err
	}
	return r.sound()
}

// decodeTable is decodeRecord without what the merged table has no column for.
func decodeTable(line []byte, r *Record) error {
	if fastRecord(line, r) {
		return r.sound()
	}
	return decodeTableSlowly(line, r)
}

// decodeFast is decodeRecord that takes a fraction of its time for most records.
func decodeFast(line []byte, r *Record) error {
	if fastWhole(line, r) {
		return r.sound()
	}
	*r = Record{}
	return decodeRecord(line, r)
}

func decodeTableSlowly(line []byte, r *Record) error {
	var t struct {
		Record
		Network ignored `json:"network"`
		Ranks   *struct {
			Ranks
			Median ignored `json:"median_s"`
			Late   ignored `json:"late_s"`
		} `json:"ranks"`
	}
	if err := json.Unmarshal(line, &t); err != nil {
		return err
	}
	if *r = t.Record; t.Ranks != nil {
		r.Ranks = &t.Ranks.Ranks
	}
	return r.sound()
}

type ignored struct{}

// UnmarshalJSON passes over any value.
func (ignored) UnmarshalJSON([]byte) error { return nil }

// sound is the error of a record that lacks what every record has.
func (r *Record) sound() error {
	adopt(&r.Older, &r.Warnings)
	r.Why.adopt()
	if r.Imported != nil {
		return r.soundImport()
	}
	switch {
	case r.Collective == 0 || r.Collective == coll.Other || r.Type == 0 || r.Placement == 0 || r.Mode == 0:
		return errors.New("collective, type, placement or mode is missing")
	case r.World < 1:
		return fmt.Errorf("a world of %d ranks", r.World)
	case r.Status == "":
		return errors.New("no status")
	case r.SizeBytes < 0 || r.Count < 0:
		return fmt.Errorf("a size of %d bytes, %d elements", r.SizeBytes, r.Count)
	case r.Status == OK && r.Time == nil:
		return errors.New("ok, but without a time")
	case r.Time != nil && (r.Time.Seconds < 0 || math.IsInf(2*r.AlgBW(r.Time.Seconds), 0)):
		return fmt.Errorf("a time of %g s", r.Time.Seconds)
	}
	return nil
}

// soundImport is sound for what another tool measured, whose file may not tell everything.
func (r *Record) soundImport() error {
	switch {
	case r.Collective == 0:
		return errors.New("no collective")
	case r.World < 0:
		return fmt.Errorf("a world of %d ranks", r.World)
	case r.Status == "":
		return errors.New("no status")
	case r.SizeBytes < -1 || r.Count < -1:
		return fmt.Errorf("a size of %d bytes, %d elements", r.SizeBytes, r.Count)
	case r.Time != nil && (r.Time.Seconds < 0 || math.IsInf(2*r.AlgBW(r.Time.Seconds), 0)):
		return fmt.Errorf("a time of %g s", r.Time.Seconds)
	}
	return nil
}
