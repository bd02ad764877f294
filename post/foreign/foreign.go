// Package foreign reads results of other benchmarks of collective communication: the text and JSON of nccl-tests and
// rccl-tests, the CSV of rccl-tests, the text of the OSU and Intel benchmarks, and of some scripts around PyTorch.
//
// It detects the layout by content. A row becomes a record per placement. Values that a file does not state stay
// empty, and values that follow from its rows are marked as deduced. Lines of unknown layout are counted.
package foreign

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Sink receives runs and records, in file order.
type Sink interface {
	// Begin receives a run that has a table, and returns the Table for its records. Several may be open at once.
	Begin(run *result.Run, ranks []result.Rank) (Table, error)
}

// Table receives the records of one run.
type Table interface {
	Append(*result.Record) error
	End(result.End) error
}

// Counts are the numbers of items found in a file.
type Counts struct {
	Rows     int           // of tables, truncated ones too
	Points   int           // of complete rows, one per placement
	Torn     int           // truncated or garbled rows
	Unknown  int           // lines of unknown layout
	Doubtful int           // points whose bandwidths contradict the number of ranks
	Log      int           // lines of a log of NCCL or RCCL
	First    notice.Notice // the first torn row, unknown line or doubtful point; without one its Fact is nil
}

// Add adds the counts of another file.
func (c *Counts) Add(d Counts) {
	c.Rows, c.Points, c.Torn = c.Rows+d.Rows, c.Points+d.Points, c.Torn+d.Torn
	c.Unknown, c.Doubtful, c.Log = c.Unknown+d.Unknown, c.Doubtful+d.Doubtful, c.Log+d.Log
	if c.First.Fact == nil {
		c.First = d.First
	}
}

// Error is the error for a file of unknown layout, or one that is truncated before any usable value.
type Error struct {
	Path string
	Line int
	Text string
}

func (e *Error) Error() string {
	return notice.Location{File: e.Path, Line: e.Line}.String() + ": " + e.Text
}

// Hash is the SHA-256 of a file in hexadecimal.
func Hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// File identifies a file.
type File struct {
	Path   string // as given
	SHA256 string
	Given  Given // values that the file does not state
}

// Read reads one file. The error is an *Error, or comes from the reader or the sink; the counts up to there are
// returned too.
func Read(r io.Reader, file File, sink Sink) (Counts, error) {
	in := &input{file: file, sink: sink}
	b := bufio.NewReaderSize(r, 256<<10)
	if head, _ := b.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = b.Discard(len(byteOrderMark)) // already peeked
	}
	var err error
	if isJSON(b) {
		err = in.document(b)
	} else {
		err = in.text(b)
	}
	switch {
	case err != nil || in.tests > 0:
	case in.counts.Torn > 0:
		err = &Error{Path: file.Path, Text: "table rows without the heading that names their columns; " + unchanged}
	default:
		err = &Error{Path: file.Path, Text: noTable}
	}
	return in.counts, err
}

const (
	unchanged = "import the unchanged output of the benchmark"
	noTable   = "no results of a supported benchmark (nccl-tests, rccl-tests, OSU, Intel, collective profiler, " +
		"DeepSpeed, all_reduce_bench, CSV of all-reduce scripts; docs/import.md); " + unchanged +
		", or read NCCL logs with post log and traces with post timeline"
)

// own is the error for a table that busbar wrote from its records.
func (in *input) own(line int) error {
	return &Error{Path: in.file.Path, Line: line,
		Text: "busbar made this from its records: use the .jsonl files that it was made from"}
}

// byteOrderMark precedes UTF-8 text on some systems.
const byteOrderMark = "\xef\xbb\xbf"

// isJSON reports whether a file begins as JSON. A launcher's prefix begins with a bracket too, so the text after a
// bracket must also be JSON.
func isJSON(b *bufio.Reader) bool {
	head, _ := b.Peek(4096)
	head = bytes.TrimSpace(head)
	if list, is := bytes.CutPrefix(head, []byte("[")); is {
		head = bytes.TrimSpace(list)
		return len(head) == 0 || head[0] == '{' || head[0] == ']'
	}
	return bytes.HasPrefix(head, []byte("{"))
}

// input is the state of reading one file.
type input struct {
	file   File
	sink   Sink
	counts Counts
	tests  int // number of runs found
}

// unknown counts a line of unknown layout.
func (in *input) unknown(n int, text string) error {
	in.counts.Unknown++
	in.first(n, notice.LineNotImported{Text: short(text)})
	return nil
}

// torn counts an unusable row.
func (in *input) torn(n int, text string) error {
	in.counts.Rows++
	in.counts.Torn++
	in.first(n, notice.RowTorn{Text: short(text)})
	return nil
}

func (in *input) first(n int, f notice.Fact) {
	if in.counts.First.Fact == nil {
		in.counts.First = notice.InFile(in.file.Path, n, f)
	}
}

// short returns the beginning of a text, for a message.
func short(text string) string { return fmt.Sprintf("%q", units.Truncate(text, 60)) }

// maxLine bounds a line.
const maxLine = 16 << 20

// lines calls f for every line, without its line ending.
func lines(r io.Reader, f func(n int, text string) error) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	for n := 1; sc.Scan(); n++ {
		if err := f(n, sc.Text()); err != nil {
			return err
		}
	}
	return sc.Err()
}
