package timeline

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// The topics of advice.
const (
	topicOverlap  = "overlap"
	topicIdle     = "idle time"
	topicCopies   = "copies"
	topicBalance  = "balance"
	topicTopology = "topology"
	topicTimeOuts = "time-outs"
	topicProfile  = "profile"
)

// worthwhile is the least part of a step or recording that a piece of advice must be able to gain.
const worthwhile = 0.02

// assessment is a timeline with the devices whose values its answers and its advice are about.
type assessment struct {
	*Timeline
	all  typical
	comm typical // of those that communicate
}

func assess(t *Timeline) assessment {
	all := t.typically()
	return assessment{t, all, all.communicating()}
}

// advise returns what to do, the largest gain first. A rule applies only where values call for it, and a gain is
// bounded by what was measured: what is exposed cannot be hidden twice, so gains of several do not add up. The largest
// loss is always addressed, even if its cause is unknown.
func (a assessment) advise() []Advice {
	found := []Advice{}
	if len(a.all.devices) > 0 {
		for _, rule := range []func(assessment) []Advice{
			sameStream, tooSmall, buckets, smallCalls, volume, hostBound, unexplained, copiesAlone, lateRank, unevenRanks, slowLinks,
			longCalls, record,
		} {
			found = append(found, rule(a)...)
		}
		found = append(found, exposedMost(a, found)...)
	}
	slices.SortStableFunc(found, func(a, b Advice) int { return cmp.Compare(b.Gain, a.Gain) })
	return found
}

// pure is which part of the time of communication is no waiting for other ranks, as far as calls were matched.
func (a assessment) pure() (share float64, waiting notice.Waiting) {
	x := a.Across
	switch {
	case x == nil || x.Matched == 0 || x.Pure+x.Waiting <= 0:
		return 1, notice.WaitingPossible
	case len(a.all.devices) < a.world():
		return x.Pure / (x.Pure + x.Waiting), notice.WaitingForOthers
	}
	return x.Pure / (x.Pure + x.Waiting), notice.WaitingExcluded
}

// seconds is a time of ms.
func seconds(ms float64) units.Seconds { return units.Seconds(ms / 1e3) }

// span is what times are per.
func (y typical) span() notice.Span { return notice.Span(y.per) }

// matters says that a gain, in milliseconds of a step or a recording, is worth a try.
func (a assessment) matters(gain float64) bool {
	return gain >= worthwhile*a.all.part(spanOf) && gain > 0
}
