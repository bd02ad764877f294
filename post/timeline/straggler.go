package timeline

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	// chanceOfAny is the false-positive rate over all ranks.
	chanceOfAny = 0.01
	// minCost is the minimum cost of a straggler, as a share of the ranks' time.
	minCost = 0.01
	// minLast is the minimum share of uneven collectives that a straggler begins last.
	minLast = 1.0 / 3
)

// straggler returns the rank that begins last significantly often, at a cost to the others; nil if there is none.
func (c *comparison) straggler() *Straggler {
	var found *lane
	for _, l := range c.lanes {
		if c.standsOut(l) && (found == nil || l.cost > found.cost) {
			found = l
		}
	}
	if found == nil {
		return nil
	}
	r := found.recordings[0]
	s := &Straggler{Device: r.index, Share: 100 * float64(found.last) / float64(found.uneven),
		Cost: milliseconds(found.cost), costInSteps: milliseconds(found.inSteps)}
	s.Found = profiles.Straggler{Rank: r.Label, Last: found.last, Of: found.uneven,
		Waited: units.Seconds(s.Cost / 1e3),
		Share:  units.Share(s.Cost / c.meanSpan()), Causes: c.causes(found)}
	if steps, of := found.stepsLast(); of > 0 {
		if of > 1 {
			s.Found.Steps, s.Found.OfSteps = steps, of
		}
		chance := stats.BinomialAtLeast(of, steps, found.chance/float64(found.uneven))
		s.Found.FewSteps = float64(len(c.lanes))*chance > 0.05
	}
	return s
}

// standsOut reports whether a rank is significantly and expensively late. Calls of one step may be correlated, so the
// number of calls is reduced by the dispersion over steps.
func (c *comparison) standsOut(l *lane) bool {
	if l.uneven == 0 || float64(l.last) < minLast*float64(l.uneven) || milliseconds(l.cost) < minCost*c.meanSpan() {
		return false
	}
	fewer := l.dispersion()
	n := int(math.Floor(float64(l.uneven) / fewer))
	k := int(math.Floor(float64(l.last) / fewer))
	return float64(len(c.lanes))*stats.BinomialAtLeast(n, k, l.chance/float64(l.uneven)) < chanceOfAny
}

// dispersion returns how much more steps differ in how often a rank is last than independent calls would: Pearson's
// statistic over its degrees of freedom, at least 1. The share is shrunk towards the middle, so that it is defined for
// a rank that is always last.
func (l *lane) dispersion() float64 {
	if len(l.lateness) < 2 {
		return 1
	}
	share := (float64(l.last) + 0.5) / (float64(l.uneven) + 1)
	sum := 0.0
	for _, n := range l.lateness {
		expected := float64(n.of) * share
		sum += (float64(n.last) - expected) * (float64(n.last) - expected) / (expected * (1 - share))
	}
	return max(1, sum/float64(len(l.lateness)-1))
}

// stepsLast returns in how many named steps the rank was last in at least half of the uneven calls, and the number of
// steps.
func (l *lane) stepsLast() (last, of int) {
	for in, n := range l.lateness {
		if in.name == "" {
			continue
		}
		of++
		if 2*n.last >= n.of {
			last++
		}
	}
	return last, of
}

// meanSpan returns the mean recording time of ranks, in milliseconds.
func (c *comparison) meanSpan() (mean float64) {
	for _, l := range c.lanes {
		for _, r := range l.recordings {
			mean += r.Span / float64(len(c.lanes))
		}
	}
	return mean
}

const (
	minReason = 0.25 // minimum share of the cost that a cause must explain
	minMore   = 0.05 // minimum excess over the others' median
)

// causes returns what a straggler spends more time on than the median of the others, the largest difference first.
func (c *comparison) causes(l *lane) profiles.StragglerCauses {
	var found profiles.StragglerCauses
	for kind, part := range map[profiles.Cause]func(*Parts) float64{
		profiles.SlowCompute: computeOf,
		profiles.HostBound:   hostBoundOf,
		profiles.Dependency:  waitingOf,
		profiles.SlowCopies:  copiesOf,
		profiles.Idle:        func(p *Parts) float64 { return p.Unexplained },
	} {
		own, others := c.sumOf(l, part), []float64{}
		for _, o := range c.lanes {
			if o != l {
				others = append(others, c.sumOf(o, part))
			}
		}
		usual := stats.Median(others)
		if more := own - usual; more > minReason*milliseconds(l.cost) && more > minMore*usual &&
			own >= stats.Quantile(others, 0.75) {
			found = append(found, profiles.StragglerCause{Cause: kind, Own: seconds(own), Others: seconds(usual)})
		}
	}
	slices.SortFunc(found, func(a, b profiles.StragglerCause) int {
		return cmp.Or(cmp.Compare(b.Own-b.Others, a.Own-a.Others), cmp.Compare(a.Cause, b.Cause))
	})
	return found
}
