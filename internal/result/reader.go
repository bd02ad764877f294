package result

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"busbar/internal/notice"
	"busbar/internal/step"
)

// File is what was read of one run's file.
type File struct {
	Path     string
	Run      Run
	Ranks    []Rank
	Records  []Record        // empty after Scan
	Points   int             // records of collectives
	End      *End            // nil: the run was cut off, or is still running
	Problems []notice.Notice // what is wrong and does not keep the rest from being read

	rounds []map[int]step.Round // of training steps, by point in the run's list and number
	steps  []*StepRecord        // by point; nil: none
	how    json.Options         // of reading records
	bad    int                  // broken lines, also those that are too many for Problems
}

// ReadFile reads a run's file whole, or until the context ends. The error is a *FileError, the context's or of the
// system; lines that cannot be read are Problems.
func ReadFile(ctx context.Context, path string) (*File, error) {
	var records []Record
	f, err := Scan(path, func(r *Record) error {
		records = append(records, *r)
		return ctx.Err()
	})
	if err == nil {
		f.Records = records
	}
	return f, err
}

// Scan reads a run's file and hands each record to each as it comes; the record is the callee's to keep. The File has
// no Records. The error is a *FileError, of the system, or of each; with one that comes behind the header, the File is
// what was read before. Lines that cannot be read are Problems.
func Scan(path string, each func(*Record) error) (*File, error) {
	return scan(path, math.MaxInt64, lenient, each)
}

// scan is Scan of no more than the first bytes of a file.
func scan(path string, size int64, how json.Options, each func(*Record) error) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := newLineReader(io.LimitReader(file, size))
	defer lines.release()
	run, err := readHeader(path, lines)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Run: *run, how: how}
	if run.Step != nil {
		n := len(run.Step.Points)
		f.rounds, f.steps = make([]map[int]step.Round, n), make([]*StepRecord, n)
	}
	for more := true; more; {
		line, whole, err := lines.next(0)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			more, err = f.take(line, whole, lines.n, each)
		}
		if err != nil {
			return f, err
		}
	}
	if f.bad > maxProblems {
		f.problem(0, notice.BrokenLines{More: f.bad - maxProblems, All: f.bad})
	}
	if f.Points == 0 && run.Step == nil {
		f.problem(0, notice.NoPoints{Ending: f.ending()})
	}
	return f, nil
}

// take reads one line after the header; more is false when nothing behind it belongs to this run. The error is that of
// each.
func (f *File) take(line []byte, whole bool, n int, each func(*Record) error) (more bool, err error) {
	switch kind := kindOf(line); {
	case kind == KindCase && f.Run.Step == nil:
		r := &Record{Run: f.Run.ID}
		if err = decodeRecord(line, r, f.how); err == nil {
			f.Points++
			return true, each(r)
		}
	case kind == KindRank:
		var r Rank
		if err = decode(line, &r); err == nil {
			f.Ranks = append(f.Ranks, r)
		}
	case kind == KindEnd:
		end := &End{}
		if err = decode(line, end); err == nil {
			end.Why.adopt()
			f.End = end
		}
	case kind == KindRound && f.Run.Step != nil:
		err = f.takeRound(line)
	case kind == KindStep && f.Run.Step != nil:
		err = f.takeStep(line)
	case kind == KindRun:
		f.problem(n, notice.SecondRun{})
		return false, nil
	case kind != "":
		f.problem(n, notice.UnknownLine{Kind: kind})
	case len(bytes.TrimSpace(line)) > 0:
		if err = decode(line, &struct{}{}); err == nil {
			err = errors.New("no kind of line is named")
		}
	}
	if err == nil {
		return true, nil
	}
	if f.bad++; f.bad <= maxProblems {
		f.problem(n, lineProblem(line, whole, err))
	}
	return true, nil
}

func (f *File) takeRound(line []byte) error {
	var r StepRound
	if err := decode(line, &r); err != nil {
		return err
	}
	for _, t := range []float64{r.Compute, r.Comm, r.Sequential, r.Overlapped,
		r.ComputeAlone, r.ComputeBusy, r.CommAlone,
		r.CommBusy, r.Hidden} {
		if t < 0 {
			return fmt.Errorf("a time of %g s", t)
		}
	}
	if err := f.planned(r.N); err != nil {
		return err
	}
	if f.rounds[r.N-1] == nil {
		f.rounds[r.N-1] = map[int]step.Round{}
	}
	f.rounds[r.N-1][r.Number] = r.Round
	return nil
}

func (f *File) takeStep(line []byte) error {
	r := &StepRecord{Run: f.Run.ID}
	if err := decode(line, r); err != nil {
		return err
	}
	adopt(&r.Older, &r.Warnings)
	r.Why.adopt()
	switch err := f.planned(r.N); {
	case err != nil:
		return err
	case r.Status == "":
		return errors.New("no status")
	case r.Status == OK && r.Figures == nil:
		return errors.New("ok, but without figures")
	}
	if f.steps[r.N-1] == nil {
		f.steps[r.N-1] = r
	}
	return nil
}

// planned is the error of a number that the list of points does not have.
func (f *File) planned(n int) error {
	if n < 1 || n > len(f.steps) {
		return fmt.Errorf("point %d, of %d in the run's list", n, len(f.steps))
	}
	return nil
}

// lineProblem is why a line cannot be read; one without a newline is the torn end of a file.
func lineProblem(line []byte, whole bool, err error) notice.Fact {
	var syntax *jsontext.SyntacticError
	switch {
	case !whole:
		return notice.TornLine{}
	case len(bytes.Trim(line, "\x00")) == 0:
		return notice.ZeroBytes{}
	case errors.As(err, &syntax):
		return notice.BrokenLine{Problem: err.Error(), Byte: syntax.ByteOffset}
	}
	return notice.BrokenLine{Problem: err.Error()}
}

// maxProblems is how many broken lines of a file are reported one by one.
const maxProblems = 20

func (f *File) problem(line int, fact notice.Fact) {
	f.Problems = append(f.Problems, notice.InFile(f.Path, line, fact))
}

// ending is how the run ended.
func (f *File) ending() notice.Ending {
	if f.End == nil {
		return notice.Ending{}
	}
	return notice.Ending{Outcome: string(f.End.Outcome), Cause: f.End.Cause}
}
