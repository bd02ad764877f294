package steps

import (
	"fmt"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
)

// Findings are what a group shows, the most important first.
func (g *Group) Findings() []notice.Notice {
	if g.Best == nil {
		return []notice.Notice{notice.New(notice.NoBucketValues{})}
	}
	return append([]notice.Notice{g.best()}, step.FindPoint(g.Best.Point, g.Best.Figures)...)
}

// best reports which bucket is the best, and how the others compare with it.
func (g *Group) best() notice.Notice {
	var points []step.Point
	var standings []step.Standing
	best := 0
	for _, p := range g.Points {
		if !p.Timed() {
			continue
		}
		if p == g.Best {
			best = len(points)
		}
		points, standings = append(points, p.Point), append(standings, g.Compared(p))
	}
	return step.FindBucket(points, standings, best, g.Best.Figures)
}

// Findings are what the groups of a run show together.
func (r *Run) Findings() []notice.Notice {
	return slices.Concat(r.progress(), r.variants(), r.computing(), r.missing())
}

// measured are the points of a run with figures, and their rounds, as internal/step compares them.
func (r *Run) measured() (all []*Point, points []step.Point, rounds [][]step.Round) {
	for _, g := range r.Groups {
		for _, p := range g.Points {
			if p.Timed() {
				all, points, rounds = append(all, p), append(points, p.Point), append(rounds, p.Rounds)
			}
		}
	}
	return all, points, rounds
}

// progress reports whether communication progresses without a call of the library.
func (r *Run) progress() (all []notice.Notice) {
	_, points, rounds := r.measured()
	for _, p := range step.Progresses(points, rounds) {
		if p.Poll == nil && r.continues() {
			continue // it may have been, in the run that this one continues
		}
		all = append(all, p.Notice())
	}
	return all
}

// continues reports whether the run continues one that was not read.
func (r *Run) continues() bool {
	for _, f := range r.Files {
		for _, id := range f.Run.Resumes {
			if !slices.ContainsFunc(r.Files, func(other *result.StepFile) bool { return other.Run.ID == id }) {
				return true
			}
		}
	}
	return false
}

// variants compares the best points of groups that differ by one choice.
func (r *Run) variants() (all []notice.Notice) {
	of, points, rounds := r.measured()
	for _, c := range step.Contrasts(points, rounds) {
		a, b := of[c.A], of[c.B]
		if c.What == "progress" && a.Progress == step.NoCalls && b.Progress == step.Poll {
			continue // progress reports it
		}
		fact := notice.StepVariant{
			Shared: shared(a.Point, b.Point),
			Step:   units.Seconds(b.Figures.Overlapped.Value), Bucket: notice.BucketSize(b.Bucket.String()),
			BaseStep: units.Seconds(a.Figures.Overlapped.Value), BaseBucket: notice.BucketSize(a.Bucket.String()),
			Change: notice.ShareEstimate{Value: c.Ratio.Value - 1},
		}
		fact.Choice, fact.Than = choice(c.What, a.Point, b.Point)
		switch {
		case !c.Told:
			fact.Note = notice.VariantTooFewRounds
		default:
			fact.Change.Lo, fact.Change.Hi = c.Ratio.Lo-1, c.Ratio.Hi-1
			if !c.Differ() {
				fact.Note = notice.VariantNotSignificant
			}
		}
		all = append(all, notice.New(fact))
	}
	if all != nil {
		all = append(all, notice.New(notice.GroupsInSequence{}))
	}
	return all
}

// choice names what b has, and what a has instead.
func choice(what string, a, b step.Point) (of, than string) {
	switch what {
	case "strategy":
		return b.Strategy.String(), a.Strategy.String()
	case "type":
		return b.Type.String(), a.Type.String()
	case "progress":
		return "progress " + b.Progress.String(), a.Progress.String()
	}
	return fmt.Sprintf("compression %s (modelled)", b.Compression), a.Compression.String()
}

// shared are the words that two groups have in common.
func shared(a, b step.Point) (both []string) {
	others := (&Group{Point: b}).words()
	for _, w := range (&Group{Point: a}).words() {
		if slices.Contains(others, w) {
			both = append(both, w)
		}
	}
	return both
}

// computing reports what computation was to take, and took: the range over points without modelled compression.
func (r *Run) computing() []notice.Notice {
	fact := notice.StepComputation{
		Asked: units.Seconds(r.Step().Forward + r.Step().Backward + r.Step().Optimizer), By: r.Step().Computing,
	}
	for _, g := range r.Groups {
		for _, p := range g.Points {
			if !p.Timed() || p.Modelled > 0 {
				continue
			}
			v := units.Seconds(p.Figures.Compute.Value)
			if fact.Least == 0 || v < fact.Least {
				fact.Least = v
			}
			fact.Most = max(fact.Most, v)
		}
	}
	if fact.Asked <= 0 || fact.Most == 0 {
		return nil
	}
	if fact.Least == fact.Most {
		fact.Most = 0
	}
	return []notice.Notice{notice.New(fact)}
}

// planned is how many points were to be measured.
func (r *Run) planned() (n int) {
	for _, g := range r.Groups {
		n += len(g.Points)
	}
	return n + r.Left
}

// missing reports points that were planned and have no values, or not all rounds.
func (r *Run) missing() []notice.Notice {
	fact := notice.StepPointsMissing{Planned: r.planned()}
	for _, g := range r.Groups {
		for _, p := range g.Points {
			if p.Status == result.OK {
				continue
			}
			is := func(c notice.PointCount) bool { return c.Status == string(p.Status) }
			i := slices.IndexFunc(fact.Counts, is)
			if i < 0 {
				i, fact.Counts = len(fact.Counts), append(fact.Counts, notice.PointCount{Status: string(p.Status)})
			}
			fact.Counts[i].Points++
			fact.Wrong += ones(p.Status == result.Wrong)
			fact.Unfinished += ones(p.Status == result.Unfinished)
		}
	}
	if r.Left > 0 {
		fact.Counts = append(fact.Counts, notice.PointCount{Status: "not reached", Points: r.Left})
		if r.continues() {
			fact.Elsewhere = notice.InContinuedRun
		}
	}
	if fact.Counts == nil {
		return nil
	}
	n := notice.New(fact)
	if fact.Wrong > 0 {
		n.Severity = notice.Error
	}
	return []notice.Notice{n}
}

func ones(b bool) int {
	if b {
		return 1
	}
	return 0
}
