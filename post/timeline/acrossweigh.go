package timeline

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// A collective is uneven if its longest time exceeds the shortest by more than minGap of the longest and by more
// than minGapNs: then the rank with the shortest time began last. Smaller differences may come from launches or the
// order of service.
const (
	minGap   = 0.10
	minGapNs = 5000
)

// weigh adds the times of a party's matched calls to its ranks. All ranks end a collective at about the same time, so
// the shortest time, of the rank that began last, is the communication itself; the excess of the others is waiting.
func (p *party) weigh() {
	for _, m := range p.matches {
		took := make([]int64, len(m))
		for i, s := range m {
			took[i] = s.end - s.start
		}
		least, most := slices.Min(took), slices.Max(took)
		what, err := coll.ParseCollective(p.recordings[0].rowOf(m[0]).Name)
		uneven := least > 0 && most-least > minGapNs && float64(most-least) > minGap*float64(most) &&
			(err != nil || !what.Rooted())
		last := slices.Index(took, least)
		for i, r := range p.recordings {
			l, in := r.of, r.stepOf(m[i])
			l.pure += least
			l.waiting += took[i] - least
			l.waits[in] += took[i] - least
			if !uneven {
				continue
			}
			n := l.lateness[in]
			n.of++
			l.uneven++
			l.chance += 1 / float64(len(m))
			if i == last {
				n.last++
				l.last++
				l.costs(took, least, in)
			}
			l.lateness[in] = n
		}
	}
}

// costs adds the others' waiting time in a call that the rank began last; least is its own time.
func (l *lane) costs(took []int64, least int64, in step) {
	for _, t := range took {
		cost := (t - least) / int64(len(took)-1)
		l.cost += cost
		l.caused[in] += cost
		if in.name != "" {
			l.inSteps += cost
		}
	}
}

// matched sums matched calls by communicator, operation, size and type.
func (c *comparison) matched() (all []Matched) {
	for _, p := range c.parties {
		rows := map[int32][][]*seen{} // matches by row of the first recording
		for _, m := range p.matches {
			rows[m[0].collective] = append(rows[m[0].collective], m)
		}
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			all = append(all, matchedOf(p.recordings[0].Collectives[row], p.size, rows[row]))
		}
	}
	units.SortBy(all, func(m Matched) float64 { return -m.Sum })
	return all
}

// matchedOf returns one kind of matched calls.
func matchedOf(kind Collective, size int, matches [][]*seen) Matched {
	m := Matched{Collective: kind}
	m.Ranks, m.Exposed = size, 0
	ranks := float64(len(matches[0]))
	var own, pure, waiting []float64
	for _, match := range matches {
		least, sum := math.Inf(1), 0.0
		for _, s := range match {
			t := milliseconds(s.end - s.start)
			least, sum = min(least, t), sum+t
			own = append(own, t)
			m.Exposed += milliseconds(s.exposed) / ranks
		}
		pure, waiting = append(pure, least), append(waiting, sum/ranks-least)
	}
	m.took(own)
	m.Calls, m.Sum = len(matches), m.Sum/ranks
	m.Pure, m.Waiting = stats.Median(pure), stats.Median(waiting)
	m.PureBusbw = m.busbwAt(m.Pure)
	return m
}

// imbalance returns the spread over ranks for each step that at least two ranks have completely.
func (c *comparison) imbalance() (all []StepSpread) {
	type wholeStep struct {
		*recording
		*Step
		key step
	}
	var whole []wholeStep
	for _, r := range c.recordings {
		for n, k := range r.steps {
			if r.Steps[n].Partial == nil {
				whole = append(whole, wholeStep{r, &r.Steps[n], k})
			}
		}
	}
	for _, of := range units.GroupBy(whole, func(w wholeStep) step { return w.key }) {
		if len(of) < 2 {
			continue
		}
		k := of[0].key
		compute := func(a, b wholeStep) int { return cmp.Compare(a.Step.Compute, b.Step.Compute) }
		longest, sum := slices.MaxFunc(of, compute), 0.0
		s := StepSpread{Name: k.name, Min: slices.MinFunc(of, compute).Step.Compute, Max: longest.Step.Compute,
			Slowest: longest.index}
		for _, w := range of {
			sum += w.Step.Compute
			s.Span = max(s.Span, w.Step.Span)
			s.Waiting += milliseconds(w.of.waits[k]) / float64(len(of))
		}
		if sum > 0 {
			s.Spread = 100 * (s.Max/(sum/float64(len(of))) - 1)
		}
		all = append(all, s)
	}
	return all
}

// note adds a fact that limits values over ranks.
func (c *comparison) note(f notice.Fact) { c.timeline.Notes = append(c.timeline.Notes, notice.New(f)) }

// limits adds notes on missing calls and ranks.
func (c *comparison) limits() {
	a, world := c.timeline.Across, c.timeline.world()
	if a.Matched == 0 && a.Alone > 0 {
		c.note(profiles.CallsUnmatched{Calls: a.Alone})
	}
	unnamed := func(p *party) bool { return p.name == "" && p.matches != nil }
	if len(c.lanes) < world && slices.ContainsFunc(c.parties, unnamed) {
		c.note(profiles.CommunicatorsUnknown{})
	}
}

// world returns the world size as recorded in the traces, else the number of GPUs read.
func (t *Timeline) world() int {
	working := 0
	for i := range t.Devices {
		if t.Devices[i].Kernels > 0 {
			working++
		}
	}
	return cmp.Or(statedWorld(t), working)
}

// statedWorld returns the world size recorded in the traces; 0 if there is none.
func statedWorld(t *Timeline) (n int) {
	for i := range t.Devices {
		n = max(n, t.Devices[i].World)
	}
	return n
}
