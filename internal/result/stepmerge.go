package result

import (
	"slices"

	"busbar/internal/notice"
	"busbar/internal/step"
)

// StepRow is one point of one run of training steps.
type StepRow struct {
	File     *StepFile
	Record   *StepRecord
	Standing step.Standing // among the points of its group that the same run measured
}

// MergeSteps puts runs, each of which is there once, together: along a chain of resumed runs a point that was measured
// replaces one that was not, by the rules for cases. Older runs come first. Problems are those of the files, how runs
// ended, and what was replaced.
func MergeSteps(runs []*StepFile) (rows []StepRow, problems []notice.Notice) {
	files := map[*source]*StepFile{}
	var sources []*source
	for _, f := range runs {
		s := &source{path: f.Path, run: &f.Run, drop: map[int]bool{}}
		files[s], sources = f, append(sources, s)
	}
	slices.SortStableFunc(sources, byStart)
	for _, chain := range chains(sources) {
		settling := newSettler()
		for _, s := range chain {
			for _, r := range files[s].Records {
				settling.add(s, r.N, StepPoint(s.run.Backend.Name, r.Point), r.Status)
			}
		}
		settling.finish()
	}
	for _, s := range sources {
		f := files[s]
		problems = append(problems, f.Problems...)
		if how := f.Closing(); how != nil {
			problems = append(problems, notice.InFile(f.Path, 0, how))
		}
		if s.replaced > 0 {
			problems = append(problems, notice.InFile(f.Path, 0, notice.RecordsReplaced{Records: s.replaced}))
		}
		standings := f.Standings()
		for k := range f.Records {
			if r := &f.Records[k]; !s.drop[k] {
				rows = append(rows, StepRow{f, r, standings[r.N-1]})
			}
		}
	}
	return rows, problems
}
