package step

import (
	"fmt"

	"busbar/internal/stats"
)

// Progression is how much of the communication of one point is hidden with calls of the library while computing, and without any. It is
// the overlap by the wall clock: an operation that was begun and lies still until it is waited for is on its way by its span, and hides nothing.
type Progression struct {
	Point   Point  // with Progress 0: the bucket is that which takes least when polling
	NoCalls Figure // overlap with Progress NoCalls
	Poll    Figure // with Progress Poll
	Told    bool   // both have an interval
}

// littleHidden is the share of communication below which none of it is said to be hidden.
const littleHidden = 0.05

// Progresses are the progressions of groups that were measured with NoCalls and with Poll, one for each two such groups.
func Progresses(points []Point, rounds [][]Round) (all []Progression) {
	place := map[Point]int{}
	for i, p := range points {
		place[p] = i
	}
	for _, group := range Groups(points) {
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
		p := Progression{Point: points[best], NoCalls: *none.Overlap, Poll: *poll.Overlap, Told: poll.HasIntervals() && none.HasIntervals()}
		p.Point.Progress = 0
		all = append(all, p)
	}
	return all
}

// String is a sentence.
func (p *Progression) String() string {
	return fmt.Sprintf("%v: %s of the communication is hidden without calls of the library while computing, %s with polling: %s",
		p.Point, p.shown(p.NoCalls), p.shown(p.Poll), p.verdict())
}

func (p *Progression) shown(f Figure) string {
	if !p.Told {
		return fmt.Sprintf("%.0f %%", 100*f.Value)
	}
	return fmt.Sprintf("%.0f %% [%.0f, %.0f]", 100*f.Value, 100*f.Lo, 100*f.Hi)
}

func (p *Progression) verdict() string {
	none, poll := p.NoCalls, p.Poll
	switch {
	case !p.Told:
		return fmt.Sprintf("rounds are too few to say more, which takes %d", stats.MinForInterval)
	case max(none.Hi, poll.Hi) < littleHidden:
		return "nothing goes on beside computing either way"
	case poll.Lo > none.Hi && none.Hi < littleHidden:
		return "it goes on only inside calls of the library"
	case poll.Lo > none.Hi:
		return "part of it goes on by itself, and more with calls of the library"
	case poll.Hi < none.Lo:
		return "it goes on by itself, and polling costs more than it brings"
	case none.Lo > littleHidden:
		return "it goes on by itself"
	}
	return "the intervals do not tell whether it goes on by itself"
}
