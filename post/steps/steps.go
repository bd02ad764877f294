// Package steps groups runs of training steps and describes their results for tables, plots and the report. It reads no
// files. Package internal/step judges which bucket is best.
package steps

import (
	"cmp"
	"slices"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
)

// Run is what is known of one run of training steps, with those that it continues.
type Run struct {
	Files  []*result.StepFile // the newest last
	Groups []*Group           // in the order of the plan
	Left   int                // planned points without a round
}

// Newest is the run that the words about all of it are taken from.
func (r *Run) Newest() *result.Run { return &r.Files[len(r.Files)-1].Run }

// Step is what the run measured.
func (r *Run) Step() *result.Step { return r.Newest().Step }

// Group is points that differ by their bucket alone.
type Group struct {
	Point  step.Point // without its bucket
	Points []*Point   // smaller buckets first
	Best   *Point     // the minimum median of overlapped steps; nil if no point has a time
}

// Point is one point that was measured, or was to be.
type Point struct {
	*result.StepRecord
	File     *result.StepFile
	Rounds   []step.Round
	Standing step.Standing // among the points of the group that were measured in turn with it
}

// Gather makes runs of files. A run that continues another is one with it: of each point the newest that has values
// counts.
func Gather(files []*result.StepFile) (runs []*Run) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b *result.StepFile) int { return a.Run.Start.Compare(b.Run.Start) })
	for _, f := range files {
		i := slices.IndexFunc(runs, func(r *Run) bool {
			return slices.ContainsFunc(r.Files, func(before *result.StepFile) bool {
				return before.Run.ID == f.Run.ID || slices.Contains(f.Run.Resumes, before.Run.ID)
			})
		})
		switch {
		case i < 0:
			runs = append(runs, &Run{Files: []*result.StepFile{f}})
		// else it is a copy
		case !slices.ContainsFunc(runs[i].Files, func(other *result.StepFile) bool { return other.Run.ID == f.Run.ID }):
			runs[i].Files = append(runs[i].Files, f)
		}
	}
	for _, r := range runs {
		r.fill()
	}
	return runs
}

// fill makes the groups of a run from its files.
func (r *Run) fill() {
	groups, points := map[step.Point]*Group{}, map[step.Point]*Point{}
	for _, f := range r.Files {
		for _, p := range f.Run.Step.Points {
			g := groups[p.Group()]
			if g == nil {
				g = &Group{Point: p.Group()}
				groups[p.Group()] = g
				r.Groups = append(r.Groups, g)
			}
			if points[p] == nil {
				points[p] = &Point{}
				g.Points = append(g.Points, points[p])
			}
		}
		for _, p := range inTurn(f) {
			if have := points[p.Point]; have.StepRecord == nil || worth(p.StepRecord) >= worth(have.StepRecord) {
				*have = *p
			}
		}
	}
	for _, g := range r.Groups {
		all := len(g.Points)
		g.Points = slices.DeleteFunc(g.Points, func(p *Point) bool { return p.StepRecord == nil })
		r.Left += all - len(g.Points)
		units.SortBy(g.Points, func(p *Point) step.Cap { return p.Bucket })
		g.choose()
	}
	r.Groups = slices.DeleteFunc(r.Groups, func(g *Group) bool { return len(g.Points) == 0 })
}

// inTurn are the points of one file with their comparisons.
func inTurn(f *result.StepFile) (points []*Point) {
	rounds := make([][]step.Round, len(f.Rounds))
	for r := range units.Each(f.Records) {
		if r.Timed() {
			rounds[r.N-1] = f.Rounds[r.N-1]
		}
	}
	standings := step.Standings(f.Run.Step.Points, rounds)
	for r := range units.Each(f.Records) {
		r.Point = f.Run.Step.Points[r.N-1]
		points = append(points, &Point{r, f, f.Rounds[r.N-1], standings[r.N-1]})
	}
	return points
}

// worth orders records of one point in different files.
func worth(r *result.StepRecord) int {
	switch {
	case r.Status == result.OK:
		return 2
	case r.Timed():
		return 1
	}
	return 0
}

// choose finds the minimum median: of rounds, or of the record if rounds are missing.
func (g *Group) choose() {
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		if g.Best == nil || p.Figures.Overlapped.Value < g.Best.Figures.Overlapped.Value {
			g.Best = p
		}
	}
}

// Compared compares a point with the best of its group; points of different launches are not compared.
func (g *Group) Compared(p *Point) step.Standing {
	if g.Best == nil || p.File != g.Best.File || !g.Best.Standing.Verdict.Leads() {
		return step.Standing{}
	}
	return p.Standing
}

// BestGroup is the group with the fastest step, among those whose compression is not modelled where there are such; nil
// where no point has values.
func (r *Run) BestGroup() *Group {
	timed := units.Where(r.Groups, func(g *Group) bool { return g.Best != nil })
	if len(timed) == 0 {
		return nil
	}
	return slices.MinFunc(timed, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(ones(a.Point.Compression != ""), ones(b.Point.Compression != "")),
			cmp.Compare(a.Best.Figures.Overlapped.Value, b.Best.Figures.Overlapped.Value))
	})
}
