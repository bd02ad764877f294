package main

import (
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/sweeps"
)

// pace keeps a run within --time-limit: the measuring time of each case is its fair share of what is left, and where
// even the least that a case costs does not fit, sizes are thinned evenly and said to be left out. What is thinned is
// decided anew before each case, as it shows how fast the ranks really are.
type pace struct {
	cases   []coll.Case
	open    []bool // still to come in this cycle
	left    []bool // thinned out, for now
	options sweeps.Options
	perNode int           // ranks that share a host's memory
	until   time.Time     // when this world's time is over; zero: no limit
	cycles  int           // that share the time left, this one included
	planned int           // records of the whole run
	done    int           // records so far
	spent   time.Duration // on cases that were measured

	guessed, took float64 // time of operations, guessed and measured, in seconds
}

// estimate is the least that a case costs: checking, warming up and the few samples that an interval needs. ratio
// corrects the speed that is guessed, that of a laptop's shared memory, by what was measured.
func estimate(c coll.Case, o sweeps.Options, perNode int, ratio float64) time.Duration {
	const (
		fill     = 4e9  // B/s, of filling and comparing
		overhead = 2e-3 // s, of deciding, gathering and writing
	)
	operations := o.Warmup + o.Check + max(o.Iterations, 6)
	passes := float64(2 + 2*o.Check)
	seconds := guessOperation(c, perNode)*ratio*float64(operations) + passes*float64(c.MemoryBytes(0))/fill + overhead
	return time.Duration(seconds * 1e9)
}

// guessOperation is the time of one operation, in seconds, where nothing has been measured.
func guessOperation(c coll.Case, perNode int) float64 {
	const (
		alpha = 20e-6 // s
		beta  = 4e9   // B/s, that the ranks of a host share
	)
	return alpha + float64(c.SizeBytes)*float64(max(1, perNode))/beta
}

// worldCost is what a whole world costs at the least.
func worldCost(cases []coll.Case, o sweeps.Options) time.Duration {
	var sum time.Duration
	for _, c := range cases {
		sum += estimate(c, o, c.World, 1)
	}
	return sum
}

// begin starts a cycle: wanted says which cases have to be measured in it.
func (p *pace) begin(wanted func(i int) bool) {
	p.open, p.left = make([]bool, len(p.cases)), make([]bool, len(p.cases))
	for i := range p.cases {
		p.open[i] = wanted(i)
	}
}

// over says whether the time is used up.
func (p *pace) over() bool { return !p.until.IsZero() && !time.Now().Before(p.until) }

// remaining is the time that is left, at least a nanosecond; 0 without a limit.
func (p *pace) remaining() time.Duration {
	if p.until.IsZero() {
		return 0
	}
	return max(1, time.Until(p.until))
}

func (p *pace) ratio() float64 {
	if p.guessed == 0 {
		return 1
	}
	return p.took / p.guessed
}

// thin decides which of the open cases are left out.
func (p *pace) thin() {
	if p.until.IsZero() {
		return
	}
	var cases []coll.Case
	times := map[coll.Case]time.Duration{} // that a case is measured: once with each library
	for i, c := range p.cases {
		if !p.open[i] {
			continue
		}
		if times[c]++; times[c] == 1 {
			cases = append(cases, c)
		}
	}
	ratio := p.ratio()
	kept, _ := sweeps.Fit(cases, func(c coll.Case) time.Duration { return times[c] * estimate(c, p.options, p.perNode, ratio) },
		time.Until(p.until)/time.Duration(max(1, p.cycles)))
	keep := map[coll.Case]bool{}
	for _, c := range kept {
		keep[c] = true
	}
	for i, c := range p.cases {
		p.left[i] = p.open[i] && !keep[c]
	}
}

// next says why the case that comes next is left out, or gives its measuring time.
func (p *pace) next(i int) (budget time.Duration, leftOut notice.Fact) {
	p.thin()
	p.open[i] = false
	if p.left[i] || p.over() {
		return 0, notice.TimeOver{Limit: units.Seconds(p.options.TimeLimit.Seconds())}
	}
	budget = p.options.Budget
	if p.until.IsZero() {
		return budget, nil
	}
	rest := 1
	for k := range p.cases {
		if p.open[k] && !p.left[k] {
			rest++
		}
	}
	share := time.Until(p.until) / time.Duration(rest*max(1, p.cycles))
	return min(budget, max(share, 10*time.Millisecond)), nil
}

// kept counts a record; one that was measured tells how fast the ranks are.
func (p *pace) kept(r *result.Record, d time.Duration) {
	p.done++
	p.spent += d
	if r.Status == result.OK {
		p.guessed += guessOperation(r.Case, p.perNode)
		p.took += r.Time.Seconds
	}
}

// Progress returns how many of the planned records are done, and about how long the rest takes.
func (p *pace) Progress() (done, planned int, left time.Duration) { return p.done, p.planned, p.eta() }

// eta is about how long the rest will take.
func (p *pace) eta() time.Duration {
	if p.done == 0 {
		return 0
	}
	left := time.Duration(float64(p.spent) / float64(p.done) * float64(max(0, p.planned-p.done)))
	if !p.until.IsZero() {
		left = min(left, max(0, time.Until(p.until)))
	}
	return left
}
