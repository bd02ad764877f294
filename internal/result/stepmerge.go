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
// stands in the place of one that was not, by the rules for cases. Older runs come first. Problems are those of the
// files, how runs ended, and what was replaced.
func MergeSteps(runs []*StepFile) (rows []StepRow, problems []notice.Notice) {
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *StepFile) int { return a.Run.Start.Compare(b.Run.Start) })
	sources := make([]*source, len(runs))
	for i, f := range runs {
		sources[i] = &source{path: f.Path, run: &f.Run}
	}
	file := func(s *source) *StepFile { return runs[slices.Index(sources, s)] }
	replaced := map[*source]int{}
	for _, group := range related(sources) {
		settling := newSettler()
		for _, s := range group {
			for i, r := range file(s).Records {
				point := PointKey{Backend: s.run.Backend.Name, Group: r.Point.String()}
				settling.add(s, keyed{key: point, n: r.N, line: i, weight: weigh(r.Status)})
			}
		}
		for s, n := range settling.supersede(ancestors(group)) {
			replaced[s] = n
		}
	}
	for i, f := range runs {
		problems = append(problems, f.Problems...)
		if how := f.Closing(); how != nil {
			problems = append(problems, notice.InFile(f.Path, 0, how))
		}
		if n := replaced[sources[i]]; n > 0 {
			problems = append(problems, notice.InFile(f.Path, 0, notice.RecordsReplaced{Records: n}))
		}
		standings := f.Standings()
		for k := range f.Records {
			if r := &f.Records[k]; !sources[i].drop.has(k) {
				rows = append(rows, StepRow{f, r, standings[r.N-1]})
			}
		}
	}
	return rows, problems
}
