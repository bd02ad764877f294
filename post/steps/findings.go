package steps

import (
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
	return append(r.computing(), r.missing()...)
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

// computing reports the target and the measured time of computation: the range over points without modelled
// compression.
func (r *Run) computing() []notice.Notice {
	fact := notice.StepComputation{
		Asked: units.Seconds(r.Step().Forward + r.Step().Backward + r.Step().Optimizer), By: r.Step().Computing,
	}
	for _, g := range r.Groups {
		for _, p := range g.Points {
			if !p.Timed() || p.Compression != "" {
				continue
			}
			v := units.Seconds(p.Figures.Compute.Value)
			if fact.Min == 0 || v < fact.Min {
				fact.Min = v
			}
			fact.Max = max(fact.Max, v)
		}
	}
	if fact.Asked <= 0 || fact.Max == 0 {
		return nil
	}
	if fact.Min == fact.Max {
		fact.Max = 0
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
			status := string(p.Status)
			units.Entry(&fact.Counts, func(c notice.PointCount) bool { return c.Status == status },
				notice.PointCount{Status: status}).Points++
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
