// Package pace estimates what cases cost and keeps a run within its time limit.
package pace

import (
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/sweeps"
)

// Pace keeps a run within --time-limit. Each case has a fair share of the remaining time. If the minimum times of the
// cases do not fit, Pace skips message sizes evenly. It decides anew before each case, with the measured speed.
type Pace struct {
	Cases   []coll.Case
	open    []bool // not measured yet in this cycle
	left    []bool // skipped, for now
	Options sweeps.Options
	PerNode int       // ranks that share a host's memory
	Until   time.Time // time limit of this world; zero: none
	Cycles  int       // that share the remaining time, including this one

	guessed, took float64 // time of operations, estimated and measured, in seconds
}

// Estimate returns the minimum time of a case: checks, warm-up and the samples of a confidence interval. It assumes the
// shared memory of a laptop; ratio corrects that speed.
func Estimate(c coll.Case, o sweeps.Options, perNode int, ratio float64) time.Duration {
	const (
		fill     = 4e9  // B/s, of filling and comparing
		overhead = 2e-3 // s, of deciding, gathering and writing
	)
	operations := o.Warmup + o.Check + max(o.Iterations, 6)
	passes := float64(2 + 2*o.Check)
	seconds := guessOperation(c, perNode)*ratio*float64(operations) + passes*float64(c.MemoryBytes(0))/fill + overhead
	return time.Duration(seconds * 1e9)
}

// guessOperation returns the assumed time of one operation, in seconds.
func guessOperation(c coll.Case, perNode int) float64 {
	const (
		alpha = 20e-6 // s
		beta  = 4e9   // B/s, shared by the ranks of a host
	)
	return alpha + float64(c.SizeBytes)*float64(max(1, perNode))/beta
}

// Begin starts a cycle; wanted reports which cases it measures.
func (p *Pace) Begin(wanted func(i int) bool) {
	p.open, p.left = make([]bool, len(p.Cases)), make([]bool, len(p.Cases))
	for i := range p.Cases {
		p.open[i] = wanted(i)
	}
}

// Over reports whether the time limit is reached.
func (p *Pace) Over() bool { return !p.Until.IsZero() && !time.Now().Before(p.Until) }

// Remaining returns the remaining time, at least a nanosecond; 0 without a limit.
func (p *Pace) Remaining() time.Duration {
	if p.Until.IsZero() {
		return 0
	}
	return max(1, time.Until(p.Until))
}

func (p *Pace) ratio() float64 {
	if p.guessed == 0 {
		return 1
	}
	return p.took / p.guessed
}

// thin decides which of the remaining cases to skip.
func (p *Pace) thin() {
	if p.Until.IsZero() {
		return
	}
	var cases []coll.Case
	times := map[coll.Case]time.Duration{} // of a case with all its libraries
	for i, c := range p.Cases {
		if !p.open[i] {
			continue
		}
		if times[c]++; times[c] == 1 {
			cases = append(cases, c)
		}
	}
	ratio := p.ratio()
	kept, _ := sweeps.Fit(cases, func(c coll.Case) time.Duration {
		return times[c] * Estimate(c, p.Options, p.PerNode,
			ratio)
	},
		time.Until(p.Until)/time.Duration(max(1, p.Cycles)))
	keep := map[coll.Case]bool{}
	for _, c := range kept {
		keep[c] = true
	}
	for i, c := range p.Cases {
		p.left[i] = p.open[i] && !keep[c]
	}
}

// Next returns why the next case is skipped, or its measuring time.
func (p *Pace) Next(i int) (budget time.Duration, leftOut notice.Fact) {
	p.thin()
	p.open[i] = false
	if p.left[i] || p.Over() {
		return 0, notice.TimeOver{Limit: units.Seconds(p.Options.TimeLimit.Seconds())}
	}
	budget = p.Options.Budget
	if p.Until.IsZero() {
		return budget, nil
	}
	rest := 1
	for k := range p.Cases {
		if p.open[k] && !p.left[k] {
			rest++
		}
	}
	share := time.Until(p.Until) / time.Duration(rest*max(1, p.Cycles))
	return min(budget, max(share, 10*time.Millisecond)), nil
}

// Kept updates the measured speed from a record.
func (p *Pace) Kept(r *result.Record) {
	if r.Status == result.OK {
		p.guessed += guessOperation(r.Case, p.PerNode)
		p.took += r.Time.Seconds
	}
}
