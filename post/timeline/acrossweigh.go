package timeline

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
)

// A collective is uneven where the shortest of its times is less than the longest by more than leastGap of it, and by
// more than leastGapNs: then the rank with the shortest began last. Under that the difference may be one of launches
// and of who is served first.
const (
	leastGap   = 0.10
	leastGapNs = 5000
)

// weigh adds what matched calls of a party took to their ranks. All ranks of a collective end it about together, so the
// one with the shortest time came last, and its time is the communication itself; what the others took beyond it they
// waited.
func (c *comparison) weigh(p *party) {
	for _, m := range p.matches {
		took := make([]int64, len(m))
		for i := range m {
			s := c.at(p, m, i)
			took[i] = s.end - s.start
		}
		least, most := slices.Min(took), slices.Max(took)
		uneven := least > 0 && most-least > leastGapNs && float64(most-least) > leastGap*float64(most) &&
			!c.rooted(p, m)
		last := slices.Index(took, least)
		for i := range m {
			l := c.lanes[c.lane[p.devices[i]]]
			in := c.stepOf(p.devices[i], c.at(p, m, i))
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
				l.costs(took, in)
			}
			l.lateness[in] = n
		}
	}
}

// costs adds what the others waited in a call that the rank was the last to begin.
func (l *lane) costs(took []int64, in step) {
	for _, t := range took {
		cost := (t - slices.Min(took)) / int64(len(took)-1)
		l.cost += cost
		if in.name != "" {
			l.inSteps += cost
		}
	}
}

// rooted reports whether a matched call has a root.
func (c *comparison) rooted(p *party, match []int32) bool {
	what, err := coll.ParseCollective(c.timeline.Devices[p.devices[0]].rowOf(c.at(p, match, 0)).Name)
	return err == nil && what.Rooted()
}

// matched sums matched calls by communicator, operation, size and type.
func (c *comparison) matched() []Matched {
	all := []Matched{}
	for _, p := range c.parties {
		rows := map[int32][][]int32{} // matches by the row of the first device
		for _, m := range p.matches {
			row := c.at(p, m, 0).collective
			rows[row] = append(rows[row], m)
		}
		for _, row := range slices.Sorted(maps.Keys(rows)) {
			all = append(all, c.matchedOf(p, row, rows[row]))
		}
	}
	slices.SortStableFunc(all, func(a, b Matched) int { return cmp.Compare(b.Sum, a.Sum) })
	return all
}

// matchedOf is one kind of matched calls.
func (c *comparison) matchedOf(p *party, row int32, matches [][]int32) Matched {
	m := Matched{Collective: c.timeline.Devices[p.devices[0]].Collectives[row]}
	m.Ranks, m.Exposed = p.size, 0
	ranks := float64(len(p.devices))
	var own, pure, waiting []float64
	for _, match := range matches {
		least, sum := math.Inf(1), 0.0
		for i := range match {
			at := c.at(p, match, i)
			t := milliseconds(at.end - at.start)
			least, sum = min(least, t), sum+t
			own = append(own, t)
			m.Exposed += milliseconds(at.exposed) / ranks
		}
		pure, waiting = append(pure, least), append(waiting, sum/ranks-least)
	}
	m.took(own)
	m.Calls, m.Sum = len(matches), m.Sum/ranks
	m.Pure, m.Waiting = stats.Median(pure), stats.Median(waiting)
	m.PureBusbw = m.busbwAt(m.Pure)
	return m
}

// imbalance is how ranks differ in each step that at least two of them have whole.
func (c *comparison) imbalance() []StepSpread {
	all := []StepSpread{}
	devices := map[step][]int{} // that have it whole
	var order []step
	span := map[step]float64{}
	compute := map[step][]float64{}
	for i, steps := range c.steps {
		for n, k := range steps {
			s := &c.timeline.Devices[i].Steps[n]
			if s.Partial != nil {
				continue
			}
			if devices[k] == nil {
				order = append(order, k)
			}
			devices[k] = append(devices[k], i)
			compute[k] = append(compute[k], s.Compute)
			span[k] = max(span[k], s.Span)
		}
	}
	for _, k := range order {
		of := compute[k]
		if len(of) < 2 {
			continue
		}
		s := StepSpread{Name: k.name, Least: slices.Min(of), Most: slices.Max(of), Span: span[k]}
		s.Slowest = devices[k][slices.Index(of, s.Most)]
		sum := 0.0
		for _, ms := range of {
			sum += ms
		}
		if sum > 0 {
			s.Spread = 100 * (s.Most/(sum/float64(len(of))) - 1)
		}
		for _, i := range devices[k] {
			s.Waiting += milliseconds(c.lanes[c.lane[i]].waits[k]) / float64(len(of))
		}
		all = append(all, s)
	}
	return all
}

// note adds a fact on all ranks that values are to be read with.
func (c *comparison) note(f notice.Fact) { c.timeline.Notes = append(c.timeline.Notes, Note{f, -1}) }

// limits are the notes on calls and ranks that are missing.
func (c *comparison) limits() {
	a, world := c.timeline.Across, c.timeline.world()
	if a.Matched == 0 && a.Alone > 0 {
		c.note(notice.CallsUnmatched{Calls: a.Alone})
	}
	unnamed := func(p *party) bool { return p.name == "" && p.matches != nil }
	if len(c.lanes) < world && slices.ContainsFunc(c.parties, unnamed) {
		c.note(notice.CommunicatorsUnknown{})
	}
}

// world is how many ranks the run had: as the traces state it, else as many GPUs as were read.
func (t *Timeline) world() int {
	working := 0
	for i := range t.Devices {
		if t.Devices[i].Kernels > 0 {
			working++
		}
	}
	return cmp.Or(statedWorld(t), working)
}

// statedWorld is how many ranks the run had as the traces state it; 0 where they do not.
func statedWorld(t *Timeline) (n int) {
	for i := range t.Devices {
		n = max(n, t.Devices[i].World)
	}
	return n
}
