package result

import (
	"maps"

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
// one that is made of its rounds. Errors are those of Scan, and a *FileError for a run of collectives; lines
// that cannot be read are Problems.
func ReadSteps(path string) (*StepFile, error) {
	f, err := readSteps(path)
	if err != nil {
		return nil, err
	}
	return f.stepFile(), nil
}

func readSteps(path string) (*File, error) {
	f, err := Scan(path, func(*Record) error { return nil })
	switch {
	case err != nil:
		return nil, err
	case f.Run.Step == nil:
		return nil, &FileError{path, notice.NotResults{Problem: "its run measured collectives, not training steps"}}
	}
	return f, nil
}

// ReadStepRuns reads files of training steps. Several files of one run, such as copies, or what a full disk made of it,
// are read as one. A file that cannot be read is a Problem.
func ReadStepRuns(paths []string) (runs []*StepFile, problems []notice.Notice) {
	var all []*File
	first := map[string]*File{} // by run
	for _, path := range paths {
		f, err := readSteps(path)
		switch {
		case err != nil:
			problems = append(problems, notice.OfError(path, err))
		case first[f.Run.ID] == nil:
			first[f.Run.ID] = f
			all = append(all, f)
		default:
			first[f.Run.ID].join(f)
		}
	}
	for _, f := range all {
		runs = append(runs, f.stepFile())
	}
	return runs, problems
}

// join adds what another file of the same run has.
func (f *File) join(other *File) {
	f.Problems = append(f.Problems, other.Problems...)
	if other.End != nil {
		f.End = other.End
	}
	for i := range min(len(f.steps), len(other.steps)) {
		if f.steps[i] == nil {
			f.steps[i] = other.steps[i]
		}
		if f.rounds[i] == nil {
			f.rounds[i] = other.rounds[i]
		} else {
			maps.Copy(f.rounds[i], other.rounds[i])
		}
	}
}

func (f *File) stepFile() *StepFile {
	s := &StepFile{Path: f.Path, Run: f.Run, Ranks: f.Ranks, End: f.End, Rounds: make([][]step.Round, len(f.rounds))}
	for i, r := range f.steps {
		// Rounds behind one that was lost are not used: what is at one place of the lists of a group was measured in
		// one round.
		for k, there := 1, true; there; k++ {
			var round step.Round
			if round, there = f.rounds[i][k]; there {
				s.Rounds[i] = append(s.Rounds[i], round)
			}
		}
		if r == nil && len(s.Rounds[i]) > 0 {
			r = unfinished(&f.Run, i+1, s.Rounds[i])
		}
		if r != nil {
			s.Records = append(s.Records, *r)
		}
	}
	if len(s.Records) == 0 {
		f.problem(0, notice.NoPoints{Ending: f.ending()})
	}
	s.Problems = f.Problems
	return s
}

// Closing is how the run ended; nil where it completed.
func (f *StepFile) Closing() notice.Fact {
	if len(f.Records) == 0 || f.End != nil && f.End.Outcome == Complete {
		return nil
	}
	run := File{End: f.End}
	return notice.PartOfRun{Ending: run.ending(), Records: len(f.Records), Points: len(f.Run.Step.Points)}
}

// Standings are how the points in the run's list compare to each other; those without valid times do not count.
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
