package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// File is what was read of one run's file.
type File struct {
	Path     string
	Run      Run
	Ranks    []Rank
	Records  []Record // empty after Scan
	Points   int      // records read
	Steps    int      // lines of training steps passed over: ReadSteps reads them
	End      *End     // nil: the run was cut off, or is still running
	Problems []Problem
	decode   func(line []byte, r *Record) error
	bad      int // problems, also those that are too many for Problems
}

// Problem is something wrong with a file that does not keep the rest from being read.
type Problem struct {
	Path string
	Line int // from 1; 0: the whole file
	Text string
}

func (p Problem) String() string {
	if p.Line == 0 {
		return p.Path + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
}

// ReadFile reads a run's file whole. The error is a *ForeignError, *SchemaError, *HeaderError or of the system; lines
// that cannot be read are Problems.
func ReadFile(path string) (*File, error) {
	var records []Record
	f, err := Scan(path, func(r *Record) error {
		records = append(records, *r)
		return nil
	})
	if f != nil {
		f.Records = records
	}
	return f, err
}

// Scan reads a run's file and hands each record to each as it comes; the record is the callee's to keep. The File has
// no Records. Errors are those of ReadFile and of each.
func Scan(path string, each func(*Record) error) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return scan(path, file, each)
}

func scan(path string, r io.Reader, each func(*Record) error) (*File, error) {
	lines := newLineReader(r)
	defer lines.release()
	run, err := readHeader(path, lines)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Run: *run, decode: decodeRecord}
	for {
		line, whole, err := lines.next(0)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		more, err := f.take(line, whole, lines.n, each)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if f.bad > maxProblems {
		f.Problems = append(f.Problems, manyProblems(path, f.bad))
	}
	if f.Points == 0 && f.Steps == 0 {
		f.problem(0, "holds no points: "+f.ending())
	}
	return f, nil
}

// take reads one line after the header; more is false when nothing behind it belongs to this run.
func (f *File) take(line []byte, whole bool, n int, each func(*Record) error) (more bool, err error) {
	switch kind := kindOf(line); kind {
	case KindCase:
		r := &Record{}
		if err = f.decode(line, r); err == nil {
			f.Points++
			r.Run = f.Run.ID
			return true, each(r)
		}
	case KindRank:
		var r Rank
		if err = json.Unmarshal(line, &r); err == nil {
			f.Ranks = append(f.Ranks, r)
		}
	case KindEnd:
		end := &End{}
		if err = json.Unmarshal(line, end); err == nil {
			f.End = end
		}
	case KindStep, KindRound:
		if f.Run.Step == nil {
			f.problem(n, fmt.Sprintf("a line of kind %q in a run of collectives; passed over", kind))
		}
		f.Steps++
	case KindRun:
		f.problem(n, secondRun)
		return false, nil
	case "":
		if len(bytes.TrimSpace(line)) == 0 {
			return true, nil
		}
		if err = json.Unmarshal(line, &struct{}{}); err == nil {
			err = errNoKind
		}
	default:
		f.problem(n, fmt.Sprintf("a line of kind %q, which this version does not know; passed over", kind))
	}
	if err != nil {
		f.problem(n, lineProblem(line, whole, err))
	}
	return true, nil
}

const secondRun = "a second run begins here, but a file holds one; what follows is passed over"

var errNoKind = errors.New("no kind of line is named")

// lineProblem is the word on a line that cannot be read; one without a newline is the torn end of a file.
func lineProblem(line []byte, whole bool, err error) string {
	if !whole {
		return "the last line is torn (the run is still writing, or was killed while it wrote); passed over"
	}
	return brokenLine(line, err)
}

// maxProblems is how many lines of one file are complained of one by one.
const maxProblems = 20

// manyProblems stands for those that are not told one by one, of n in all.
func manyProblems(path string, n int) Problem {
	return Problem{Path: path, Text: fmt.Sprintf("and %d more lines that cannot be used, %d in all: the file is damaged", n-maxProblems, n)}
}

func (f *File) problem(line int, text string) {
	if f.bad++; line > 0 && f.bad > maxProblems {
		return
	}
	f.Problems = append(f.Problems, Problem{Path: f.Path, Line: line, Text: text})
}

// ending says how the run ended, for people.
func (f *File) ending() string {
	switch {
	case f.End == nil:
		return "the run was cut off or is still running"
	case f.End.Outcome == Complete:
		return "the run is complete"
	case f.End.Reason != "":
		return fmt.Sprintf("the run was %s (%s)", f.End.Outcome, f.End.Reason)
	}
	return "the run was " + string(f.End.Outcome)
}

// readHeader reads the first line of a file.
func readHeader(path string, lines *lineReader) (*Run, error) {
	if first, err := lines.r.Peek(1); err == nil && first[0] != '{' {
		return nil, &ForeignError{Path: path, Reason: "its first line is no JSON object"}
	}
	line, whole, err := lines.next(maxHeader)
	switch {
	case errors.Is(err, io.EOF):
		return nil, &HeaderError{Path: path, Empty: true}
	case errors.Is(err, errTooLong):
		return nil, &ForeignError{Path: path, Reason: fmt.Sprintf("its first line is longer than %d MiB", maxHeader>>20)}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var head struct {
		Kind   string
		Schema int
	}
	if err := json.Unmarshal(line, &head); err != nil {
		if kindOf(line) == KindRun || !whole && bytes.HasPrefix([]byte(`{"kind":"run"`), line) {
			return nil, &HeaderError{Path: path}
		}
		return nil, &ForeignError{Path: path, Reason: "its first line is no JSON object"}
	}
	switch {
	case head.Kind != KindRun || head.Schema < 1:
		return nil, &ForeignError{Path: path, Reason: `its first line has no "kind":"run" and "schema"`}
	case head.Schema > Schema:
		return nil, &SchemaError{Path: path, Schema: head.Schema}
	}
	run := &Run{}
	if err := json.Unmarshal(line, run); err != nil {
		return nil, &ForeignError{Path: path, Reason: "its first line does not describe a run: " + err.Error()}
	}
	adopt(&run.Older, &run.Warnings)
	if run.ID == "" {
		return nil, &ForeignError{Path: path, Reason: "its run has no id"}
	}
	return run, nil
}
