package result

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// maxHeader bounds the first line, so that a large foreign file of one line is not read whole.
const maxHeader = 64 << 20

// lineReader splits a stream into lines of any length.
type lineReader struct {
	r    *bufio.Reader
	long []byte // lines longer than the reader's buffer
	n    int    // number of the line that next returned last
}

// lineBuffers are reused: a buffer for each of ten thousand small files takes more time than reading them.
var lineBuffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 256<<10) }}

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
}

// next returns one line without its newline; whole is false when the stream ends before the newline. The line is valid
// until the next call. At the end of the stream the error is io.EOF. A limit above 0 bounds the line's length.
func (l *lineReader) next(limit int) (line []byte, whole bool, err error) {
	line, err = l.r.ReadSlice('\n')
	l.long = l.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = append(l.long, line...)
		if limit > 0 && len(l.long) > limit {
			return nil, false, errTooLong
		}
		line, err = l.r.ReadSlice('\n')
	}
	if len(l.long) > 0 {
		l.long = append(l.long, line...)
		line = l.long
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
		return nil, false, err
	}
	l.n++
	line, whole = bytes.CutSuffix(line, []byte{'\n'})
	return line, whole, nil
}

var errTooLong = fmt.Errorf("its first line is longer than %d MiB", maxHeader>>20)

// lenient accepts duplicate names and invalid UTF-8: a damaged text costs no record.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// tabular passes over the times of single ranks and the network's counters, for which the merged table has no column.
var tabular = json.JoinOptions(lenient, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ *[]float64) error { return d.SkipValue() }),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ *[]NetUse) error { return d.SkipValue() }))))

func decode(line []byte, to any) error { return json.Unmarshal(line, to, lenient) }

// kindOf is the kind of a line; "" when it is no object with a kind.
func kindOf(line []byte) string {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"kind":"`)); ok {
		if kind, _, ok := bytes.Cut(rest, []byte{'"'}); ok {
			return string(kind)
		}
	}
	var k struct {
		Kind string `json:"kind"`
	}
	if decode(line, &k) != nil {
		return ""
	}
	return k.Kind
}

// adopt turns the warnings of older files, which are sentences, into notices.
func adopt(older *[]string, warnings *notice.List) {
	for _, text := range *older {
		warnings.Add(notice.FromText(text))
	}
	*older = nil
}

// decodeRecord reads a line of kind case and makes sure that it has what the rest of the program relies on.
func decodeRecord(line []byte, r *Record, how json.Options) error {
	if err := json.Unmarshal(line, r, how); err != nil {
		return err
	}
	adopt(&r.Older, &r.Warnings)
	r.Why.adopt()
	return r.sound()
}

// sound is the error of a record that lacks what every record has. The file of another tool may lack more.
func (r *Record) sound() error {
	least := 0
	if r.Imported != nil {
		least = -1
	}
	switch {
	case r.Collective == 0:
		return errors.New("no collective")
	case r.Imported == nil && (r.Collective == coll.Other || r.Type == 0 || r.Placement == 0 || r.Mode == 0):
		return errors.New("collective, type, placement or mode is missing")
	case r.World < least+1:
		return fmt.Errorf("a world of %d ranks", r.World)
	case r.Status == "":
		return errors.New("no status")
	case r.SizeBytes < int64(least) || r.Count < int64(least):
		return fmt.Errorf("a size of %d bytes, %d elements", r.SizeBytes, r.Count)
	case r.Imported == nil && r.Status == OK && r.Time == nil:
		return errors.New("ok, but without a time")
	case r.Time != nil && (r.Time.Seconds < 0 || math.IsInf(2*r.AlgBW(r.Time.Seconds), 0)):
		return fmt.Errorf("a time of %g s", r.Time.Seconds)
	}
	return nil
}

// readHeader reads the first line of a file.
func readHeader(path string, lines *lineReader) (*Run, error) {
	unusable := func(f notice.Fact) error { return &FileError{Path: path, What: f} }
	foreign := func(problem string) error { return unusable(notice.NotResults{Problem: problem}) }
	if first, err := lines.r.Peek(1); err == nil && first[0] != '{' {
		return nil, foreign("its first line is no JSON object")
	}
	line, whole, err := lines.next(maxHeader)
	switch {
	case errors.Is(err, io.EOF):
		return nil, unusable(notice.FileEmpty{})
	case errors.Is(err, errTooLong):
		return nil, foreign(err.Error())
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	run := &Run{}
	err = decode(line, run)
	var syntax *jsontext.SyntacticError
	begun := kindOf(line) == KindRun || !whole && bytes.HasPrefix([]byte(`{"kind":"run"`), line)
	switch {
	case run.Kind == KindRun && run.Schema > Schema:
		return nil, unusable(notice.NewerFormat{Format: run.Schema, Reads: Schema})
	case errors.As(err, &syntax) && begun:
		return nil, unusable(notice.HeaderTorn{})
	case err != nil:
		return nil, foreign("its first line does not describe a run: " + err.Error())
	case run.Kind != KindRun || run.Schema < 1:
		return nil, foreign(`its first line has no "kind":"run" and "schema"`)
	case run.ID == "":
		return nil, foreign("its run has no id")
	}
	adopt(&run.Older, &run.Warnings)
	if s := run.Imported; s != nil {
		adopt(&s.Older, &s.Deduced)
	}
	return run, nil
}
