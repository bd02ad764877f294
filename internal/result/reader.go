package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"busbar/internal/notice"
)

// File is what was read of one run's file.
type File struct {
	Path     string
	Run      Run
	Ranks    []Rank
	Records  []Record        // empty after Scan
	Points   int             // records read
	Steps    int             // lines of training steps passed over: ReadSteps reads them
	End      *End            // nil: the run was cut off, or is still running
	Problems []notice.Notice // what is wrong and does not keep the rest from being read
	decode   func(line []byte, r *Record) error
	bad      int // problems, also those that are too many for Problems
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
		f.problem(0, notice.NoPoints{Ending: f.ending()})
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
			end.Why.adopt()
			f.End = end
		}
	case KindStep, KindRound:
		if f.Run.Step == nil {
			f.problem(n, notice.StepLine{Kind: kind})
		}
		f.Steps++
	case KindRun:
		f.problem(n, notice.SecondRun{})
		return false, nil
	case "":
		if len(bytes.TrimSpace(line)) == 0 {
			return true, nil
		}
		if err = json.Unmarshal(line, &struct{}{}); err == nil {
			err = errNoKind
		}
	default:
		f.problem(n, notice.UnknownLine{Kind: kind})
	}
	if err != nil {
		f.problem(n, lineProblem(line, whole, err))
	}
	return true, nil
}

var errNoKind = errors.New("no kind of line is named")

// lineProblem is why a line cannot be read; one without a newline is the torn end of a file.
func lineProblem(line []byte, whole bool, err error) notice.Fact {
	var syntax *json.SyntaxError
	switch {
	case !whole:
		return notice.TornLine{}
	case len(line) > 0 && len(bytes.Trim(line, "\x00")) == 0:
		return notice.ZeroBytes{}
	case errors.As(err, &syntax):
		return notice.BrokenLine{Problem: err.Error(), Byte: syntax.Offset}
	}
	return notice.BrokenLine{Problem: err.Error()}
}

// maxProblems is how many broken lines of a file are reported one by one.
const maxProblems = 20

// manyProblems counts the problems that are not reported one by one, of n in all.
func manyProblems(path string, n int) notice.Notice {
	return notice.InFile(path, 0, notice.BrokenLines{More: n - maxProblems, All: n})
}

func (f *File) problem(line int, fact notice.Fact) {
	if f.bad++; line > 0 && f.bad > maxProblems {
		return
	}
	f.Problems = append(f.Problems, notice.InFile(f.Path, line, fact))
}

// ending is how the run ended.
func (f *File) ending() notice.Ending {
	if f.End == nil {
		return notice.Ending{}
	}
	return notice.Ending{Outcome: string(f.End.Outcome), Cause: f.End.Cause}
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
	if s := run.Imported; s != nil {
		adopt(&s.Older, &s.Deduced)
	}
	if run.ID == "" {
		return nil, &ForeignError{Path: path, Reason: "its run has no id"}
	}
	return run, nil
}
