package main

import (
	"fmt"
	"time"

	"busbar/internal/coll"
	"busbar/sweeps"
)

// pace keeps a run within --time-limit: the measuring time of each case is its fair share of what is left, and where
// even the least that a case costs does not fit, sizes are thinned evenly and said to be left out.
type pace struct {
	j       *job
	p       *plan
	cases   []coll.Case
	planned int
	done    int
	left    map[int]bool       // cases that are thinned out and still to come
	past    map[coll.Case]bool // measured by a run that this one continues
	ratio   float64            // what cases took against what was guessed, so far
	guessed time.Duration
	spent   time.Duration
}

func newPace(j *job, p *plan, cases []coll.Case, past map[coll.Case]bool, planned int) *pace {
	c := &pace{j: j, p: p, cases: cases, planned: planned, past: past, left: map[int]bool{}, ratio: 1}
	c.thin(0)
	return c
}

// guess is the least that a case costs: checking, warming up and the few batches that an interval needs, at a speed
// that a laptop's shared memory reaches. What cases really took corrects it as the run goes on.
func guess(c coll.Case, warmup, check, iterations int) time.Duration {
	const (
		alpha = 20e-6 // s
		beta  = 4e9   // B/s
		fill  = 4e9   // B/s, of filling and comparing
	)
	operation := alpha + float64(c.SizeBytes)*float64(c.World)/beta
	operations := warmup + check + max(iterations, 6)
	bytes := float64(c.MemoryBytes(0))
	return time.Duration((operation*float64(operations) + float64(2+2*check)*bytes/fill + 2e-3) * 1e9)
}

func (c *pace) cost(k coll.Case) time.Duration {
	s := c.p.sweep
	return time.Duration(c.ratio * float64(guess(k, s.Warmup, s.Check, s.Iterations)))
}

// remaining is what is left of the time limit; false without one.
func (c *pace) remaining() (time.Duration, bool) {
	limit := c.p.sweep.TimeLimit
	return limit - time.Since(c.j.start), limit > 0
}

// thin decides anew which of the cases from the next one on are left out.
func (c *pace) thin(next int) {
	rest, limited := c.remaining()
	if !limited {
		return
	}
	var open []coll.Case
	for i := next; i < len(c.cases); i++ {
		if !c.left[i] && !c.past[c.cases[i]] {
			open = append(open, c.cases[i])
		}
	}
	_, out := sweeps.Fit(open, c.cost, rest)
	drop := map[coll.Case]bool{}
	for _, k := range out {
		drop[k] = true
	}
	for i := next; i < len(c.cases); i++ {
		if drop[c.cases[i]] {
			c.left[i] = true
		}
	}
}

// leftOut says why case i is left out; empty: it is not.
func (c *pace) leftOut(i int) string {
	if !c.left[i] {
		return ""
	}
	c.done++
	delete(c.left, i)
	return fmt.Sprintf("time: left out to keep the run within --time-limit %s", c.p.sweep.TimeLimit)
}

// budget is the measuring time of the next case.
func (c *pace) budget() time.Duration {
	budget := c.p.sweep.Budget
	if rest, limited := c.remaining(); limited {
		open := max(1, c.planned-c.done-len(c.left))
		budget = min(budget, max(rest/time.Duration(open), 10*time.Millisecond))
	}
	return budget
}

// took tells how long case i was in hand.
func (c *pace) took(i int, d time.Duration) {
	c.done++
	c.spent += d
	s := c.p.sweep
	c.guessed += guess(c.cases[i], s.Warmup, s.Check, s.Iterations)
	c.ratio = min(10, max(0.1, float64(c.spent)/float64(c.guessed)))
	if i%8 == 7 || i > len(c.cases)-8 {
		c.thin(i + 1)
	}
}

// eta is about how long the rest will take.
func (c *pace) eta() time.Duration {
	if c.done == 0 {
		return 0
	}
	left := time.Duration(float64(c.spent) / float64(c.done) * float64(max(0, c.planned-c.done)))
	if rest, limited := c.remaining(); limited {
		left = min(left, max(0, rest))
	}
	return left
}
