package timeline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

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
			s := p.at(c, m, i)
			took[i] = s.end - s.start
		}
		least, most := slices.Min(took), slices.Max(took)
		last := slices.Index(took, least)
		uneven := !p.peers && least > 0 && most-least > leastGapNs && float64(most-least) > leastGap*float64(most) &&
			!c.operation(p, m).Rooted()
		for i := range m {
			l := c.lanes[c.lane[p.parts[i].device]]
			in := c.stepOf(p.parts[i].device, p.at(c, m, i))
			l.pure += least
			l.waiting += took[i] - least
			l.waits[in] += took[i] - least
			l.calls++
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
				cost := int64(0)
				for _, t := range took {
					cost += (t - least) / int64(len(m)-1)
				}
				l.cost += cost
				if in.name != "" {
					l.inSteps += cost
				}
			}
			l.lateness[in] = n
		}
	}
}

// operation is that of a matched call, by its name.
func (c *comparison) operation(p *party, m []int32) coll.Collective {
	d := &c.timeline.Devices[p.parts[0].device]
	what, err := coll.ParseCollective(d.nameOf(p.at(c, m, 0)))
	if err != nil {
		return coll.Other
	}
	return what
}

// uneven is how many matched collectives were uneven.
func (c *comparison) uneven() (n int) {
	for _, l := range c.lanes {
		n += l.last
	}
	return n
}

// matched sums matched calls by communicator, operation, size and type.
func (c *comparison) matched() []Matched {
	all := []Matched{}
	type key struct {
		party                *party
		name, kind, from, by string
		bytes                int64
		parts                int
	}
	type sums struct {
		own, pure, waiting []float64
		exposed            float64
	}
	found := map[key]*sums{}
	var order []key
	for _, p := range c.parties {
		for _, m := range p.matches {
			first := p.at(c, m, 0)
			k := key{party: p, bytes: -1}
			if d := &c.timeline.Devices[p.parts[0].device]; first.collective >= 0 && int(first.collective) < len(d.Collectives) {
				of := &d.Collectives[first.collective]
				k.name, k.kind, k.from, k.by, k.parts = of.Name, of.Type, of.Group, of.By, of.Parts
				if of.Bytes != nil {
					k.bytes = *of.Bytes
				}
			}
			s := found[k]
			if s == nil {
				s = &sums{}
				found[k] = s
				order = append(order, k)
			}
			least, sum := math.Inf(1), 0.0
			for i := range m {
				at := p.at(c, m, i)
				t := milliseconds(at.end - at.start)
				least, sum = min(least, t), sum+t
				s.own = append(s.own, t)
				s.exposed += milliseconds(at.exposed) / float64(len(m))
			}
			s.pure = append(s.pure, least)
			s.waiting = append(s.waiting, sum/float64(len(m))-least)
		}
	}
	for _, k := range order {
		s := found[k]
		n := float64(len(k.party.parts))
		m := Matched{Collective: Collective{Name: k.name, Group: k.from, Ranks: k.party.size, Type: k.kind, Parts: k.parts,
			By: k.by, Calls: len(s.pure), Median: stats.Median(s.own), Least: slices.Min(s.own), Exposed: s.exposed},
			Pure: stats.Median(s.pure), Waiting: stats.Median(s.waiting)}
		for _, t := range s.own {
			m.Sum += t / n
		}
		if k.party.peers {
			m.Ranks = 2
		}
		if k.bytes >= 0 {
			m.Bytes = &k.bytes
		}
		m.Busbw, m.BusbwMax, m.PureBusbw = m.busbwAt(m.Median), m.busbwAt(m.Least), m.busbwAt(m.Pure)
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Matched) int { return cmp.Compare(b.Sum, a.Sum) })
	return all
}

// imbalance says for each step that at least two ranks have whole how they differ in it.
func (c *comparison) imbalance() []StepSpread {
	all := []StepSpread{}
	type mine struct {
		lane, device int
		Step
	}
	found := map[step][]mine{}
	var order []step
	for i := range c.timeline.Devices {
		if c.lane[i] < 0 || c.timeline.Devices[i].repeatsSteps() {
			continue
		}
		for _, s := range c.timeline.Devices[i].Steps {
			k := step{c.cohort[i], s.Name}
			if s.Partial != nil {
				continue
			}
			if found[k] == nil {
				order = append(order, k)
			}
			found[k] = append(found[k], mine{c.lane[i], i, s})
		}
	}
	for _, k := range order {
		of := found[k]
		if len(of) < 2 {
			continue
		}
		s := StepSpread{Name: k.name, Least: math.Inf(1), Most: math.Inf(-1)}
		sum := 0.0
		for _, m := range of {
			sum += m.Compute
			s.Least, s.Span = min(s.Least, m.Compute), max(s.Span, m.Span)
			if m.Compute > s.Most {
				s.Most, s.Slowest = m.Compute, m.device
			}
			s.Waiting += milliseconds(c.lanes[m.lane].waits[k]) / float64(len(of))
		}
		if sum > 0 {
			s.Spread = 100 * (s.Most/(sum/float64(len(of))) - 1)
		}
		all = append(all, s)
	}
	return all
}

// note adds what values over ranks are to be read with.
func (c *comparison) note() {
	t := c.timeline
	add := func(f notice.Fact) { t.Notes = append(t.Notes, Note{f, -1}) }
	if t.NonBlocking() {
		add(notice.NonBlockingCalls{})
	}
	slices.SortFunc(c.refused, func(a, b notice.CommunicatorUnclear) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Ranks, b.Ranks), cmp.Compare(a.Size, b.Size))
	})
	for _, why := range slices.Compact(c.refused) {
		add(why)
	}
	if t.Across.Matched == 0 && t.Across.Alone > 0 {
		add(notice.CallsUnmatched{Calls: t.Across.Alone})
	}
	if c.methods[byKind] > 0 && len(c.lanes) < t.world() {
		add(notice.CommunicatorsUnknown{})
	}
	worlds := map[int]bool{}
	ranks := map[int]bool{}
	for i := range t.Devices {
		if d := &t.Devices[i]; c.lane[i] >= 0 {
			if d.World > 0 {
				worlds[d.World] = true
			}
			if d.Rank != nil {
				ranks[*d.Rank] = true
			}
		}
	}
	if len(worlds) > 1 {
		add(notice.MixedWorlds{Sizes: slices.Sorted(maps.Keys(worlds))})
	}
	if world := t.world(); len(worlds) == 1 && len(ranks) > 0 && len(ranks) < world {
		add(notice.RanksMissing{Read: len(ranks), World: world})
	}
}

// world is how many ranks the run had: as the traces say, else as many GPUs as were read.
func (t *Timeline) world() (n int) {
	for i := range t.Devices {
		n = max(n, t.Devices[i].World)
	}
	if n > 0 {
		return n
	}
	for i := range t.Devices {
		if t.Devices[i].Kernels > 0 {
			n++
		}
	}
	return n
}
