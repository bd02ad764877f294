package step

import (
	"busbar/internal/notice"
)

// Progression is how much of the communication of one point is hidden with calls of the library while computing, and
// without any. It is the overlap by the wall clock: an operation that was begun and lies still until it is waited for
// is on its way by its span, and hides nothing.
type Progression struct {
	// with Progress 0: the bucket is that which takes least when polling, or hides most where polling was not measured
	Point   Point
	NoCalls Figure  // overlap with Progress NoCalls
	Poll    *Figure // with Progress Poll; nil: not measured
	Told    bool    // both have an interval
	Rounds  int     // the smaller number of both
}

// littleHidden is the share of communication below which none of it is said to be hidden.
const littleHidden = 0.05

// Progresses are the progressions of groups that were measured with NoCalls, each against the same with Poll where that
// was measured.
func Progresses(points []Point, rounds [][]Round) (all []Progression) {
	place := map[Point]int{}
	polled := map[Point]bool{} // groups
	for i, p := range points {
		place[p] = i
		if p.Progress == Poll && len(rounds[i]) > 0 {
			p.Progress = NoCalls
			polled[p.Group()] = true
		}
	}
	for _, group := range Groups(points) {
		if g := points[group[0]].Group(); g.Progress == NoCalls && !polled[g] {
			all = append(all, withoutPolling(group, points, rounds)...)
			continue
		}
		without := map[int]int{} // the point with NoCalls, of one that polls
		var both []int
		for _, i := range group {
			p := points[i]
			p.Progress = NoCalls
			if j, there := place[p]; there && points[i].Progress == Poll && len(rounds[j]) > 0 {
				without[i], both = j, append(both, i)
			}
		}
		best := bestOf(both, rounds)
		if best < 0 {
			continue
		}
		poll, none := FiguresOf(rounds[best]), FiguresOf(rounds[without[best]])
		if poll.Overlap == nil || none.Overlap == nil {
			continue
		}
		p := Progression{Point: points[best], NoCalls: *none.Overlap, Poll: poll.Overlap, Told: poll.HasIntervals() &&
			none.HasIntervals(),
			Rounds: min(poll.Rounds, none.Rounds)}
		p.Point.Progress = 0
		all = append(all, p)
	}
	return all
}

// withoutPolling is the progression of a group that was measured without calls alone: of the point that hides most;
// none without figures.
func withoutPolling(group []int, points []Point, rounds [][]Round) []Progression {
	var most *Progression
	for _, i := range group {
		f := FiguresOf(rounds[i])
		if f.Overlap != nil && (most == nil || f.Overlap.Value > most.NoCalls.Value) {
			most = &Progression{Point: points[i], NoCalls: *f.Overlap, Told: f.HasIntervals(), Rounds: f.Rounds}
		}
	}
	if most == nil {
		return nil
	}
	most.Point.Progress = 0
	return []Progression{*most}
}

// Notice reports it. Without calls and polling are compared by their confidence intervals.
func (p *Progression) Notice() notice.Notice {
	few := fewRounds(p.Rounds, p.Told)
	if p.Poll == nil {
		return notice.New(notice.HostProgressUnpolled{Point: p.Point.String(), NoCalls: p.shown(p.NoCalls), FewRounds: few})
	}
	n := notice.New(notice.HostProgress{
		Point: p.Point.String(), NoCalls: p.shown(p.NoCalls), Polling: p.shown(*p.Poll), Conclusion: p.conclusion(),
		FewRounds: few,
	})
	if p.Told && p.NoCalls.Hi < p.Poll.Lo {
		n.Severity = notice.Warning
	}
	return n
}

// shown leaves out an interval that the rounds are too few for.
func (p *Progression) shown(f Figure) notice.ShareEstimate {
	if !p.Told {
		f.Lo, f.Hi = 0, 0
	}
	return f.share()
}

func (p *Progression) conclusion() notice.ProgressConclusion {
	if !p.Told {
		return ""
	}
	none, poll := p.NoCalls, *p.Poll
	switch {
	case max(none.Hi, poll.Hi) < littleHidden:
		return notice.ProgressNever
	case poll.Lo > none.Hi && none.Hi < littleHidden:
		return notice.ProgressInCalls
	case poll.Lo > none.Hi && none.Lo > littleHidden:
		return notice.ProgressPartly
	case poll.Lo > none.Hi:
		return notice.ProgressMoreInCalls
	case poll.Hi < none.Lo && none.Lo <= littleHidden:
		return notice.PollingCostsUnclear
	case poll.Hi < none.Lo:
		return notice.PollingCosts
	case none.Lo > littleHidden:
		return notice.ProgressAlways
	}
	return notice.ProgressUnclear
}
