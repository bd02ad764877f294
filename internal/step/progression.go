package step

import (
	"fmt"
	"strings"

	"busbar/internal/stats"
)

// Progression is how much of the communication of one point is hidden with calls of the library while computing, and without any. It is
// the overlap by the wall clock: an operation that was begun and lies still until it is waited for is on its way by its span, and hides nothing.
type Progression struct {
	Point   Point   // with Progress 0: the bucket is that which takes least when polling, or hides most where polling was not measured
	NoCalls Figure  // overlap with Progress NoCalls
	Poll    *Figure // with Progress Poll; nil: not measured
	Told    bool    // both have an interval
}

// littleHidden is the share of communication below which none of it is said to be hidden.
const littleHidden = 0.05

// Progresses are the progressions of groups that were measured with NoCalls, each against the same with Poll where that was measured.
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
		p := Progression{Point: points[best], NoCalls: *none.Overlap, Poll: poll.Overlap, Told: poll.HasIntervals() && none.HasIntervals()}
		p.Point.Progress = 0
		all = append(all, p)
	}
	return all
}

// withoutPolling is the progression of a group that was measured without calls alone: of the point that hides most; none without figures.
func withoutPolling(group []int, points []Point, rounds [][]Round) []Progression {
	var most *Progression
	for _, i := range group {
		f := FiguresOf(rounds[i])
		if f.Overlap != nil && (most == nil || f.Overlap.Value > most.NoCalls.Value) {
			most = &Progression{Point: points[i], NoCalls: *f.Overlap, Told: f.HasIntervals()}
		}
	}
	if most == nil {
		return nil
	}
	most.Point.Progress = 0
	return []Progression{*most}
}

// String is a sentence.
func (p *Progression) String() string {
	says := fmt.Sprintf("%v: of the communication, %s is hidden without calls of the library while computing", p.Point, p.shown(p.NoCalls))
	if p.Poll == nil {
		says += ", the most of all buckets; with polling it was not measured"
		if !p.Told {
			says += ", and " + p.verdict()
		}
		return says
	}
	return says + fmt.Sprintf(", and %s with polling: %s", p.shown(*p.Poll), p.verdict())
}

func (p *Progression) shown(f Figure) string {
	text := Percent(f.Value)
	if p.Told {
		text += fmt.Sprintf(" [%s, %s]", bare(f.Lo), bare(f.Hi))
	}
	if f.Value <= 0 {
		return "nothing (" + text + ")"
	}
	return text
}

// bare is a share in percent, without the sign.
func bare(v float64) string { return strings.TrimSuffix(Percent(v), " %") }

func (p *Progression) verdict() string {
	if !p.Told {
		return fmt.Sprintf("rounds are too few to say more, which takes %d", stats.MinForInterval)
	}
	none, poll := p.NoCalls, *p.Poll
	switch {
	case max(none.Hi, poll.Hi) < littleHidden:
		return "nothing goes on beside computing either way"
	case poll.Lo > none.Hi && none.Hi < littleHidden:
		return "it goes on only inside calls of the library"
	case poll.Lo > none.Hi && none.Lo > littleHidden:
		return "part of it goes on by itself, and more with calls of the library"
	case poll.Lo > none.Hi:
		return "more of it goes on with calls of the library, and the intervals do not tell whether any does by itself"
	case poll.Hi < none.Lo && none.Lo <= littleHidden:
		return "polling costs more than it brings, and the intervals do not tell whether any goes on by itself"
	case poll.Hi < none.Lo:
		return "it goes on by itself, and polling costs more than it brings"
	case none.Lo > littleHidden:
		return "it goes on by itself"
	}
	return "the intervals do not tell whether it goes on by itself"
}
