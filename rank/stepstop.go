package main

import (
	"time"

	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/sweeps"
)

// stepStop says when the rounds of a group are enough: all its points have as many, so one decision is for all.
type stepStop struct {
	options  sweeps.Options
	points   int
	started  time.Time
	now      func() time.Time
	stoppers map[stepSeries]*stats.Stopper
	reason   string // of the end
}

// stepSeries is the times of one mode of one point.
type stepSeries struct{ point, mode int }

// How many rounds there are at least: what an interval takes where one round fits into the budget, and a median's worth where none does.
const (
	leastRounds    = stats.MinForInterval
	leastRoundsAny = 3
	mostRounds     = 1000
)

// stoppedByRequest is the reason of an end by SIGUSR1.
const stoppedByRequest = "asked"

// begin starts the clock for some points.
func (s *stepStop) begin(o sweeps.Options, points int) {
	if s.now == nil {
		s.now = time.Now
	}
	s.options, s.points, s.started = o, points, s.now()
	s.stoppers = map[stepSeries]*stats.Stopper{}
}

// enough decides between two rounds, and keeps the reason.
func (s *stepStop) enough(runs []*stepRun) bool {
	n := len(runs[0].rounds)
	if s.options.Iterations > 0 {
		s.reason = stats.Fixed.String()
		return n >= s.options.Iterations
	}
	if n == 0 {
		return false
	}
	spent, budget := s.now().Sub(s.started), time.Duration(s.points)*s.options.Budget
	each := spent / time.Duration(n)
	least := leastRoundsAny
	if each <= budget {
		least = leastRounds
	}
	switch {
	case n < least:
		return false
	case s.precise(runs):
		s.reason = stats.Precision.String()
	case spent+each > budget:
		s.reason = stats.Budget.String()
	case n >= mostRounds:
		s.reason = stats.Maximum.String()
	default:
		return false
	}
	return true
}

// precise says whether the medians of all four modes of all points are as sure as wanted, or would not become surer.
func (s *stepStop) precise(runs []*stepRun) bool {
	all := true
	for _, r := range runs {
		for mode, of := range []func(step.Round) float64{
			func(x step.Round) float64 { return x.Compute }, func(x step.Round) float64 { return x.Comm },
			func(x step.Round) float64 { return x.Sequential }, func(x step.Round) float64 { return x.Overlapped },
		} {
			all = s.preciseSeries(stepSeries{r.n, mode}, r.rounds, of) && all
		}
	}
	return all
}

func (s *stepStop) preciseSeries(key stepSeries, rounds []step.Round, of func(step.Round) float64) bool {
	stopper := s.stoppers[key]
	if stopper == nil {
		stopper = stats.NewStopper(stats.Rule{Precision: s.options.Precision, MinSamples: stats.MinForInterval})
		s.stoppers[key] = stopper
	}
	times := make([]float64, len(rounds))
	for i, x := range rounds {
		times[i] = of(x)
	}
	more, _ := stopper.Next(times, 0)
	return more == 0
}
