package step

import (
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// interferes is from which slowdown on interference is reported: less is within the variation of a loaded host.
const interferes = 1.05

// littleHidden is the share of communication below which computing and communication hardly run at the same time.
const littleHidden = 0.05

// beyond is by how much noise may push the overlap above its maximum.
const beyond = 0.05

// HasInterval reports whether a figure has a confidence interval of a width above 0.
func (f Figure) HasInterval() bool { return f.Hi > f.Lo }

// Share is how much of a step is exposed communication, round by round as all ratios: what weak scaling loses. It is 0
// where nothing took time.
func (f *Figures) Share() float64 {
	if f.Efficiency == nil {
		return 0
	}
	return 1 - f.Efficiency.Value
}

// time is a figure in seconds.
func (f Figure) time() notice.TimeEstimate {
	return notice.TimeEstimate{Value: f.Value, Lo: f.Lo, Hi: f.Hi}
}

// share is a figure without a unit.
func (f Figure) share() notice.ShareEstimate {
	return notice.ShareEstimate{Value: f.Value, Lo: f.Lo, Hi: f.Hi}
}

// few is set where the rounds are too few for confidence intervals.
func (f *Figures) few() notice.FewRounds {
	if f.HasIntervals() {
		return notice.FewRounds{}
	}
	return notice.FewRounds{Rounds: f.Rounds, Needed: stats.MinForInterval}
}

// size is the cap in notices.
func (c Cap) size() notice.BucketSize { return notice.BucketSize(c.String()) }

// FindBucket reports which bucket of a group is the best, and how the others compare with it. points have rounds, best
// is the one with the smallest median and f its figures.
func FindBucket(points []Point, standings []Standing, best int, f *Figures) notice.Notice {
	fact := notice.BestBucket{Bucket: points[best].Bucket.size(), Step: f.Overlapped.Figure.time()}
	for i, s := range standings {
		name := points[i].Bucket.size()
		switch {
		case i == best:
		case s.Verdict == NoDifference:
			fact.Same = append(fact.Same, name)
		case s.Verdict == Slower:
			fact.Slower = append(fact.Slower, notice.SlowerBucket{Bucket: name, By: s.Slower.share()})
		case s.Verdict == TooFewRounds:
			fact.TooFew = append(fact.TooFew, name)
			fact.Rounds, fact.Needed = f.Rounds, max(fact.Needed, s.Needed)
		default:
			fact.NotCompared = append(fact.NotCompared, name)
		}
	}
	switch {
	case len(points) == 1:
		fact.Standing = notice.OnlyBucket
	case len(fact.Same) == len(points)-1:
		fact.Standing = notice.SameBuckets
	case len(fact.Slower) == 0:
		fact.Standing = notice.SmallestMedian
	default:
		fact.Standing = notice.FastestBucket
	}
	return notice.New(fact)
}

// FindExposed reports what the steps of a point leave exposed, and what could overlap.
func FindExposed(p Point, f *Figures) notice.Notice {
	switch {
	case f.Overlap == nil && f.Comm.Value < negligible*f.Overlapped.Value:
		return notice.New(notice.CommunicationNegligible{})
	case f.Overlap == nil:
		return notice.New(notice.CommunicationLocal{Comm: units.Seconds(f.Comm.Value)})
	}
	bucket, exposed := p.Bucket.size(), f.Exposed.time()
	if !f.exposes() {
		return notice.New(notice.NoExposedCommunication{Bucket: bucket, Exposed: exposed, StepOverlap: overlapOf(p, f)})
	}
	return notice.New(notice.ExposedCommunication{
		Bucket: bucket, Exposed: exposed, Share: units.Share(f.Share()), StepOverlap: overlapOf(p, f),
	})
}

// exposes reports whether exposed communication is significant, or found without an interval.
func (f *Figures) exposes() bool {
	return f.Exposed.Value > 0 && (!f.Exposed.HasInterval() || f.Exposed.Lo > 0)
}

// overlapOf is how much of communication overlaps by both definitions, and how much could.
func overlapOf(p Point, f *Figures) notice.StepOverlap {
	o := notice.StepOverlap{Comm: units.Seconds(f.Comm.Value), Overlap: f.Overlap.share(), FewRounds: f.few()}
	switch {
	case f.Overlap.Value > 0 && (!f.HasIntervals() || f.Overlap.Lo > 0):
	case f.HasIntervals() && f.Overlap.Hi < 0:
		o.OverlapNote = notice.OverlapNegative
	default:
		o.OverlapNote = notice.OverlapNotSignificant
	}
	if f.ByInterval != nil {
		share := units.Share(f.ByInterval.Value)
		o.ByIntervals = &share
		if p.Progress == NoCalls {
			o.IntervalNote = notice.UntilSeen
		}
	}
	if f.Bound == nil {
		return o
	}
	bound := units.Share(f.Bound.Value)
	if f.Bound.Value < 0.995 {
		o.Bound = &bound
	}
	if f.Overlap.Value > f.Bound.Value+beyond {
		o.Bound, o.Disturbed = &bound, notice.BeyondBound
	}
	return o
}

// FindInterference reports computing and communication that slow each other down by more than 5 %. It reports nothing
// where they hardly overlap, or communication is negligible.
func FindInterference(p Point, f *Figures) (all []notice.Notice) {
	if f.Overlap == nil || f.ByInterval != nil && f.ByInterval.Value < littleHidden {
		return nil
	}
	slower := map[notice.StepPart]*Figure{notice.Computation: f.SlowerComp, notice.Communication: f.SlowerComm}
	if p.Progress == NoCalls {
		delete(slower, notice.Communication) // it waits for the end of computing, which is no interference
	}
	for _, part := range []notice.StepPart{notice.Computation, notice.Communication} {
		s := slower[part]
		if s == nil || s.Value <= interferes || s.HasInterval() && s.Lo <= 1 {
			continue
		}
		longer := notice.ShareEstimate{Value: s.Value - 1}
		if s.HasInterval() {
			longer.Lo, longer.Hi = s.Lo-1, s.Hi-1
		}
		n := notice.New(notice.StepInterference{Part: part, Longer: longer, FewRounds: f.few()})
		if !f.HasIntervals() {
			n.Severity = notice.Info
		}
		all = append(all, n)
	}
	return all
}

// FindPoint reports what the best point of a group shows.
func FindPoint(p Point, f *Figures) []notice.Notice {
	return append([]notice.Notice{FindExposed(p, f)}, FindInterference(p, f)...)
}
