package timeline

import (
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
)

// The topics of advice.
const (
	topicOverlap  = "overlap"
	topicIdle     = "idle time"
	topicCopies   = "copies"
	topicBalance  = "balance"
	topicTopology = "topology"
	topicProfile  = "profile"
)

// worthwhile is the minimum gain of advice, as a share of a step or recording.
const worthwhile = 0.02

// assessment is a timeline with the devices that the advice covers.
type assessment struct {
	*Timeline
	all  typical
	comm typical // devices that communicate
}

// review derives the advice from the rest of the timeline. busbar's own steps get none: other points of the run show
// which settings are faster.
func (t *Timeline) review() {
	t.Advice = nil
	if !t.own() {
		t.Advice = assess(t).advise()
	}
}

func assess(t *Timeline) assessment {
	all := t.typically()
	return assessment{t, all, all.communicating()}
}

// advise returns advice, the largest gain first. Gains are bounded by measured times; they overlap, so they do not add
// up. The largest loss is always addressed, even if its cause is unknown.
func (a assessment) advise() []Advice {
	if len(a.all.devices) == 0 {
		return nil
	}
	found := append([]Advice{a.sameStream(), a.littleCompute(), a.lastBucket(), a.wideGradients()}, a.losses()...)
	found = append(found, a.lateRank(), a.unevenRanks(), a.belowBenchmark(), a.noSteps())
	found = append(found, a.exposedMost(found))
	found = slices.DeleteFunc(found, func(a Advice) bool { return a.Found.Fact == nil })
	units.SortBy(found, func(a Advice) float64 { return -a.Gain })
	return found
}

// advice returns the advice for a fact.
func advice(topic string, gain float64, f notice.Fact) Advice {
	return Advice{topic, notice.ToDo(f), gain, notice.New(f)}
}

// pure returns the share of communication time that is not waiting for other ranks, from matched calls.
func (a assessment) pure() (share float64, waiting profiles.Waiting) {
	x := a.Across
	switch {
	case x == nil || x.Matched == 0 || x.Pure+x.Waiting <= 0:
		return 1, profiles.WaitingPossible
	case len(a.all.devices) < a.world():
		return x.Pure / (x.Pure + x.Waiting), profiles.WaitingForOthers
	}
	return x.Pure / (x.Pure + x.Waiting), profiles.WaitingExcluded
}

// seconds converts ms.
func seconds(ms float64) units.Seconds { return units.Seconds(ms / 1e3) }

// matters reports whether a gain, in milliseconds per step or recording, is worthwhile.
func (a assessment) matters(gain float64) bool {
	return gain >= worthwhile*a.all.part(spanOf) && gain > 0
}

// loses reports whether to address a loss: at least a tenth of the time, or the largest worthwhile one. Losses are the
// times in which a device does not compute.
func (a assessment) loses(part func(*Parts) float64) bool {
	lost := a.all.part(part)
	if lost >= 0.1*a.all.part(spanOf) {
		return true
	}
	for _, other := range []func(*Parts) float64{exposedOf, hostBoundOf, unexplainedOf, copiesOf} {
		if a.all.part(other) > lost {
			return false
		}
	}
	return a.matters(lost)
}

// losses covers GPUs that wait for their hosts' launches, are idle for an unknown cause, or only copy.
func (a assessment) losses() (found []Advice) {
	y := a.all
	span := seconds(y.part(spanOf))
	host, idle, copies := y.part(hostBoundOf), y.part(unexplainedOf), y.part(copiesOf)
	if a.loses(hostBoundOf) {
		found = append(found, advice(topicIdle, host,
			profiles.HostBoundStep{Idle: seconds(host), Span: span, Per: y.per}))
	}
	if a.loses(unexplainedOf) {
		found = append(found, advice(topicIdle, idle, profiles.UnexplainedIdle{Idle: seconds(idle), Span: span,
			Per: y.per, Launched: seconds(y.part(waitingOf))}))
	}
	if a.loses(copiesOf) {
		found = append(found, advice(topicCopies, copies,
			profiles.CopiesAlone{Copies: seconds(copies), Span: span, Per: y.per}))
	}
	return found
}

// lateRank covers a straggler.
func (a assessment) lateRank() Advice {
	if a.Across == nil || a.Across.Straggler == nil {
		return Advice{}
	}
	s := a.Across.Straggler
	return advice(topicBalance, a.comm.each(s.Cost, s.costInSteps), s.Found)
}

// unevenRanks covers ranks that wait for each other without a straggler.
func (a assessment) unevenRanks() Advice {
	x := a.Across
	if x == nil || x.Straggler != nil || x.Matched == 0 {
		return Advice{}
	}
	gain := a.comm.each(x.Waiting, x.waitingInSteps)
	if gain < 0.05*a.all.part(spanOf) {
		return Advice{}
	}
	fact := profiles.UnevenRanks{Waiting: seconds(gain), Per: a.comm.per}
	for _, step := range x.Imbalance {
		if spread := units.Share(step.Spread / 100); spread > fact.Spread {
			fact.Spread, fact.Step = spread, step.Name
		}
	}
	return advice(topicBalance, gain, fact)
}

// noSteps covers recordings without marked steps.
func (a assessment) noSteps() Advice {
	if a.all.per == perStep {
		return Advice{}
	}
	return advice(topicProfile, 0, profiles.NoSteps{})
}
