package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"busbar/internal/stats"
	"busbar/internal/units"
)

const (
	// chanceOfAny is how likely it may be that chance alone makes some rank last as often.
	chanceOfAny = 0.01
	// leastCost is the share of the time of a rank that others must have waited to speak of it.
	leastCost = 0.01
	// leastLast is the share of uneven collectives that it must have been the last in.
	leastLast = 1.0 / 3
)

// straggler is the rank that is the last to begin far more often than chance would have it, at a cost to the others; nil where none is.
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
	t := c.timeline
	s := &Straggler{Device: found.devices[0], Share: 100 * float64(found.last) / float64(found.uneven), Cost: milliseconds(found.cost), costInSteps: milliseconds(found.inSteps)}
	s.Says = fmt.Sprintf("The others wait for %s: it began last in %d of %d collectives in which ranks differ, and they waited %s for it, %.1f %% of their time.",
		t.Devices[s.Device].Label, found.last, found.uneven, duration(s.Cost), 100*s.Cost/c.meanSpan())
	if steps, of := found.stepsLast(); of > 0 {
		if of > 1 {
			s.Says += fmt.Sprintf(" So it was in %d of %s.", steps, units.Count(of, "step"))
		}
		if float64(len(c.lanes))*stats.BinomialAtLeast(of, steps, found.chance/float64(found.uneven)) > 0.05 {
			s.Says += " So few steps do not tell whether it is always this rank, or one that had more to do just then."
		}
	}
	s.Why = c.reasons(found)
	return s
}

// standsOut says whether a rank is late by more than chance, and at a cost. What happens in one step may go together, so that its calls count as fewer where steps differ more than chance would have them.
func (c *comparison) standsOut(l *lane) bool {
	if l.uneven == 0 || float64(l.last) < leastLast*float64(l.uneven) || milliseconds(l.cost) < leastCost*c.meanSpan() {
		return false
	}
	fewer := l.dispersion()
	n := int(math.Floor(float64(l.uneven) / fewer))
	k := int(math.Floor(float64(l.last) / fewer))
	return float64(len(c.lanes))*stats.BinomialAtLeast(n, k, l.chance/float64(l.uneven)) < chanceOfAny
}

// dispersion is how much more steps differ in how often a rank is last than independent calls would: Pearson's statistic over its degrees of freedom, at least 1. The share is drawn
// a little to the middle, so that a rank that is always the last has one.
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

// stepsLast is in how many named steps it was last in at least half of the uneven calls, and how many there are.
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

// meanSpan is how long ranks were recorded, in milliseconds, the mean over them.
func (c *comparison) meanSpan() (mean float64) {
	for _, l := range c.lanes {
		for _, i := range l.devices {
			mean += c.timeline.Devices[i].Span / float64(len(c.lanes))
		}
	}
	return mean
}

// reason is one thing that a late rank does longer than others.
type reason struct {
	more float64 // ms
	says string
}

const (
	leastReason = 0.25 // of the cost that a reason must explain
	leastMore   = 0.05 // more than the others' middle
)

// reasons are what the late rank spends more time on than the others' middle, the most first.
func (c *comparison) reasons(l *lane) (says []string) {
	var found []reason
	for _, of := range []struct {
		part func(*Parts) float64
		says string
	}{
		{computeOf, "It computes longer: %s, the others %s. Its share of the work may be larger, or its GPU slower."},
		{hostBoundOf, "Its GPU waits longer for its host to launch something: %s, the others %s. Loading of data, or a busy or slow CPU, does that."},
		{func(p *Parts) float64 { return p.Waiting }, "Its GPU is idle longer though work had been launched: %s, the others %s. It waits for events, copies or other streams."},
		{func(p *Parts) float64 { return p.MemcpyOnly }, "Its copies take longer while nothing else runs: %s, the others %s."},
		{func(p *Parts) float64 { return p.Unexplained }, "Its GPU is idle longer: %s, the others %s; the trace does not tell for what."},
	} {
		own, others := c.sumOf(l, of.part), []float64{}
		for _, o := range c.lanes {
			if o != l {
				others = append(others, c.sumOf(o, of.part))
			}
		}
		usual := stats.Median(others)
		if more := own - usual; more > leastReason*milliseconds(l.cost) && more > leastMore*usual && own >= stats.Quantile(others, 0.75) {
			found = append(found, reason{more, fmt.Sprintf(of.says, duration(own), duration(usual)+inTheMiddle(len(others)))})
		}
	}
	if late := c.begins(l); late > leastReason*milliseconds(l.cost) {
		found = append(found, reason{late, fmt.Sprintf("It comes %s later than the others' middle to the beginning of what is compared here, by the ends of collectives: what kept it before that is in none of these figures.", duration(late))})
	}
	slices.SortStableFunc(found, func(a, b reason) int { return cmp.Compare(b.more, a.more) })
	for _, r := range found {
		says = append(says, r.says)
	}
	if says == nil {
		says = []string{"Of what the traces tell, computing, copies and idle time, it has about as much as the others: they do not say why it is late."}
	}
	return says
}

// begins is how much later than the middle of the others a rank's recording, or its first step that all have, begins, in milliseconds.
func (c *comparison) begins(l *lane) float64 {
	if c.timeline.own() {
		return 0 // each rank's steps stand one behind the other, so that their beginnings are in no common time
	}
	own, others := 0.0, []float64{}
	for i, o := range c.lanes {
		d := &c.timeline.Devices[o.devices[0]]
		if c.offset[i] == nil {
			continue
		}
		at := *c.offset[i]
		if n := slices.IndexFunc(d.Steps, func(s Step) bool { return c.common[step{c.cohort[o.devices[0]], s.Name}] }); n >= 0 {
			at += d.Steps[n].Start
		}
		if o == l {
			own = at
		} else {
			others = append(others, at)
		}
	}
	if others == nil {
		return 0
	}
	return own - stats.Median(others)
}

func inTheMiddle(others int) string {
	if others < 2 {
		return ""
	}
	return " in the middle of them"
}

// sumOf is a part of a rank's time. Recordings may differ in length, so it is that of the steps all ranks have, if there are any.
func (c *comparison) sumOf(l *lane, part func(*Parts) float64) (sum float64) {
	for _, i := range l.devices {
		d := &c.timeline.Devices[i]
		if len(c.common) == 0 {
			sum += part(&d.Parts)
		}
		for s := range d.Steps {
			if c.common[step{c.cohort[i], d.Steps[s].Name}] {
				sum += part(&d.Steps[s].Parts)
			}
		}
	}
	return sum
}
