// Package foreign reads what other benchmarks of collective communication left behind: the text and JSON of nccl-tests
// and rccl-tests, the CSV of rccl-tests, the text of the OSU and Intel benchmarks, and of some scripts around PyTorch.
//
// The layout is found by what a file holds. A row becomes a record, or one for each placement; nothing is made up: what
// a file does not state stays empty, and what follows from its rows is marked as deduced. Lines that are no part of a
// known layout are counted.
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
)

// Sink takes what is read, in the order of the file.
type Sink interface {
	// Begin takes a run that has a table, and returns where its records go. Several may be open at once.
	Begin(run *result.Run, ranks []result.Rank) (Table, error)
}

// Table takes the records of one run.
type Table interface {
	Append(*result.Record) error
	End(result.End) error
}

// Counts state what was found in a file.
type Counts struct {
	Rows     int           // of tables, torn ones too
	Points   int           // that whole rows hold: one for each placement
	Torn     int           // rows that were cut off or garbled
	Unknown  int           // lines of no known layout
	Doubtful int           // points whose bandwidths contradict the number of ranks
	Log      int           // lines of a log of NCCL or RCCL
	First    notice.Notice // the first incomplete row, unknown line or doubtful point; its Fact is nil without one
}

// Add adds the counts of another file.
func (c *Counts) Add(d Counts) {
	c.Rows, c.Points, c.Torn = c.Rows+d.Rows, c.Points+d.Points, c.Torn+d.Torn
	c.Unknown, c.Doubtful, c.Log = c.Unknown+d.Unknown, c.Doubtful+d.Doubtful, c.Log+d.Log
	if c.First.Fact == nil {
		c.First = d.First
	}
}

// Error is a file of no known layout, or one that breaks off where nothing of it can be used.
type Error struct {
	Path string
	Line int
	Text string
}

func (e *Error) Error() string {
	return notice.Location{File: e.Path, Line: e.Line}.String() + ": " + e.Text
}

// Hash is the SHA-256 of a file, in hexadecimal digits.
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

// File identifies what is read.
type File struct {
	Path   string // as it was named
	SHA256 string
	Given  Given // what the file does not state
}

// Read reads one file. The error is an *Error, or of the reader or the sink; what was counted until then is returned
// too.
func Read(r io.Reader, file File, sink Sink) (Counts, error) {
	in := &input{file: file, sink: sink}
	b := bufio.NewReaderSize(r, 256<<10)
	if head, _ := b.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = b.Discard(len(byteOrderMark)) // it was peeked at
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
		err = &Error{Path: file.Path, Text: "rows of a table without the heading that names their columns; " + unchanged}
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

// own is the error of a table that busbar made of its records.
func (in *input) own(line int) error {
	return &Error{Path: in.file.Path, Line: line,
		Text: "busbar made this from its records: use the .jsonl files that it was made from"}
}

// byteOrderMark is what some systems put before a text in UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// isJSON reports whether a file begins as JSON does. A prefix of a launcher begins with a bracket too, so that a
// bracket counts only where JSON goes on behind it.
func isJSON(b *bufio.Reader) bool {
	head, _ := b.Peek(4096)
	head = bytes.TrimSpace(head)
	if list, is := bytes.CutPrefix(head, []byte("[")); is {
		head = bytes.TrimSpace(list)
		return len(head) == 0 || head[0] == '{' || head[0] == ']'
	}
	return bytes.HasPrefix(head, []byte("{"))
}

// input is the reading of one file.
type input struct {
	file   File
	sink   Sink
	counts Counts
	tests  int // runs that were found
}

// unknown counts a line of no known layout.
func (in *input) unknown(n int, text string) error {
	in.counts.Unknown++
	in.first(n, notice.LineNotImported{Text: short(text)})
	return nil
}

// torn counts a row that cannot be used.
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

// short is the beginning of a text, for a message.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// maxLine bounds a line.
const maxLine = 16 << 20

// lines calls f for every line, without its end.
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
