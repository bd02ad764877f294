package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/step"
)

// StepFile is what was read of the file of a run of training steps.
type StepFile struct {
	Path     string
	Run      Run // its Step is there
	Ranks    []Rank
	Rounds   [][]step.Round // of the points in the run's list, in that order
	Records  []StepRecord   // one for each point with a round or a record, in the order of the list
	End      *End           // nil: the run was cut off, or is still running
	Problems []notice.Notice
}

// ReadSteps reads a file of training steps whole. A point with rounds and no record, because the run was cut off, gets
// one that is made of its rounds. Errors are those of ReadFile, and a *ForeignError for a run of collectives; lines
// that cannot be read are Problems.
func ReadSteps(path string) (*StepFile, error) {
	s, err := readInto(nil, path)
	if err != nil {
		return nil, err
	}
	return s.finish(), nil
}

// ReadStepRuns reads files of training steps. Several files of one run, such as copies, or what a full disk made of it,
// are read as one. A file that cannot be read is a Problem.
func ReadStepRuns(paths []string) (runs []*StepFile, problems []notice.Notice) {
	var all []*stepLines
	for _, path := range paths {
		s, err := readInto(all, path)
		if err != nil {
			problems = append(problems, notice.OfError(path, err))
			continue
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for _, s := range all {
		runs = append(runs, s.finish())
	}
	return runs, problems
}

// readInto reads a file into the lines of its run, which are new if the run is not there yet.
func readInto(all []*stepLines, path string) (*stepLines, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := newLineReader(file)
	defer lines.release()
	run, err := readHeader(path, lines)
	if err != nil {
		return nil, err
	}
	if run.Step == nil {
		return nil, &ForeignError{Path: path, Reason: "its run measured collectives, not training steps"}
	}
	s := newStepLines(path, run)
	if i := slices.IndexFunc(all, func(s *stepLines) bool { return s.file.Run.ID == run.ID }); i >= 0 {
		s = all[i]
		defer func(ranks []Rank, path string) { s.file.Ranks, s.file.Path = ranks, path }(s.file.Ranks, s.file.Path)
		s.file.Path = path
	}
	return s, s.read(lines)
}

// stepLines gathers the lines of a file. What all kinds of runs have is read by a File.
type stepLines struct {
	file    File
	rounds  []map[int]step.Round // by point, by number
	records []*StepRecord        // by point; nil: none
}

func newStepLines(path string, run *Run) *stepLines {
	n := len(run.Step.Points)
	return &stepLines{file: File{Path: path, Run: *run, decode: decodeRecord}, rounds: make([]map[int]step.Round, n),
		records: make([]*StepRecord, n)}
}

// read takes all lines behind the header.
func (s *stepLines) read(lines *lineReader) error {
	for {
		line, whole, err := lines.next(0)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.file.Path, err)
		}
		if !s.take(line, whole, lines.n) {
			return nil
		}
	}
}

func (s *stepLines) take(line []byte, whole bool, n int) (more bool) {
	var err error
	switch kindOf(line) {
	case KindRound:
		err = s.round(line)
	case KindStep:
		err = s.record(line)
	case KindCase:
		err = errors.New("a case in a run of training steps")
	default:
		more, _ = s.file.take(line, whole, n, nil) // the only error is that of records
		return more
	}
	if err != nil {
		s.file.problem(n, lineProblem(line, whole, err))
	}
	return true
}

func (s *stepLines) round(line []byte) error {
	var r StepRound
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if err := s.planned(r.N); err != nil {
		return err
	}
	for _, t := range []float64{r.Compute, r.Comm, r.Sequential, r.Overlapped, r.ComputeAlone, r.ComputeBusy, r.CommAlone,
		r.CommBusy, r.Hidden} {
		if t < 0 {
			return fmt.Errorf("a time of %g s", t)
		}
	}
	if r.Number < 1 || r.Number > maxNumber {
		return fmt.Errorf("round %d", r.Number)
	}
	if s.rounds[r.N-1] == nil {
		s.rounds[r.N-1] = map[int]step.Round{}
	}
	s.rounds[r.N-1][r.Number] = r.Round
	return nil
}

func (s *stepLines) record(line []byte) error {
	r := &StepRecord{}
	if err := json.Unmarshal(line, r); err != nil {
		return err
	}
	adopt(&r.Older, &r.Warnings)
	r.Why.adopt()
	if err := s.planned(r.N); err != nil {
		return err
	}
	switch {
	case r.Status == "":
		return errors.New("no status")
	case r.Status == OK && r.Figures == nil:
		return errors.New("ok, but without figures")
	}
	r.Run = s.file.Run.ID
	if s.records[r.N-1] == nil {
		s.records[r.N-1] = r
	}
	return nil
}

// planned is the error of a number that the list of points does not have.
func (s *stepLines) planned(n int) error {
	if n < 1 || n > len(s.records) {
		return fmt.Errorf("point %d, of %d in the run's list", n, len(s.records))
	}
	return nil
}

func (s *stepLines) finish() *StepFile {
	f := &StepFile{Path: s.file.Path, Run: s.file.Run, Ranks: s.file.Ranks, End: s.file.End, Rounds: s.paired()}
	for i, r := range s.records {
		if r == nil && len(f.Rounds[i]) > 0 {
			r = unfinished(&s.file.Run, i+1, f.Rounds[i])
		}
		if r != nil {
			f.Records = append(f.Records, *r)
		}
	}
	if s.file.bad > maxProblems {
		s.file.Problems = append(s.file.Problems, manyProblems(f.Path, s.file.bad))
	}
	if len(f.Records) == 0 {
		s.file.problem(0, notice.NoPoints{Ending: s.file.ending()})
	}
	f.Problems = s.file.Problems
	return f
}

// Closing is how the run ended; nil where it completed.
func (f *StepFile) Closing() notice.Fact {
	if len(f.Records) == 0 || f.End != nil && f.End.Outcome == Complete {
		return nil
	}
	run := File{End: f.End}
	return notice.PartOfRun{Ending: run.ending(), Records: len(f.Records), Points: len(f.Run.Step.Points)}
}

// Standings are how the points in the run's list stand to each other; those without figures that hold do not count.
func (f *StepFile) Standings() []step.Standing {
	rounds := make([][]step.Round, len(f.Rounds))
	for i := range f.Records {
		if r := &f.Records[i]; r.Timed() {
			rounds[r.N-1] = f.Rounds[r.N-1]
		}
	}
	return step.Standings(f.Run.Step.Points, rounds)
}

// unfinished is the record of a point whose run was cut off before it wrote one.
func unfinished(run *Run, n int, rounds []step.Round) *StepRecord {
	figures := step.FiguresOf(rounds)
	return &StepRecord{
		Kind: KindStep, N: n, Run: run.ID, Point: run.Step.Points[n-1], Status: Unfinished,
		Why:     Because(notice.CutOff{Rounds: len(rounds)}),
		Figures: &figures, Check: Check{Result: "unknown"},
	}
}

// paired are the rounds of each point in their order. A round that one point of a group lacks, though it has a later
// one, is left out of all points of the group: what is at one place of their lists was measured in one round.
func (s *stepLines) paired() [][]step.Round {
	damaged := map[step.Point]map[int]bool{}
	for i, rounds := range s.rounds {
		group := s.file.Run.Step.Points[i].Group()
		for k := 1; k < last(rounds); k++ {
			if _, there := rounds[k]; !there {
				if damaged[group] == nil {
					damaged[group] = map[int]bool{}
				}
				damaged[group][k] = true
			}
		}
	}
	all := make([][]step.Round, len(s.rounds))
	for i, rounds := range s.rounds {
		out := damaged[s.file.Run.Step.Points[i].Group()]
		for _, k := range slices.Sorted(maps.Keys(rounds)) {
			if !out[k] {
				all[i] = append(all[i], rounds[k])
			}
		}
	}
	return all
}

// last is the largest number of a round; 0 if there is none.
func last(rounds map[int]step.Round) (most int) {
	for k := range rounds {
		most = max(most, k)
	}
	return most
}
