package session

import (
	"slices"
	"time"

	"busbar/internal/stats"
	"busbar/internal/step"
	"busbar/sweeps"
)

// stepStop decides when a group has enough rounds; all its points have the same number.
type stepStop struct {
	options sweeps.Options
	points  int
	asked   bool // --budget is set; the default budget applies once the points can be compared
	started time.Time
	now     func() time.Time
	reason  string // of the end
}

// The minimum number of rounds: for a confidence interval if one round fits the budget, else for a median. Precision
// does not end the rounds before the points can be compared.
const (
	minRounds    = stats.MinForInterval
	minRoundsAny = 3
	maxRounds    = 1000
)

// stoppedByRequest is the reason after SIGUSR1.
const stoppedByRequest = "asked"

// begin starts the clock for some points. asked reports whether the user set the budget.
func (s *stepStop) begin(o sweeps.Options, points int, asked bool) {
	if s.now == nil {
		s.now = time.Now
	}
	s.options, s.points, s.asked, s.started = o, points, asked, s.now()
}

// enough decides between two rounds, and keeps the reason.
func (s *stepStop) enough(runs []*stepPoint) bool {
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
	minimum := minRoundsAny
	if each <= budget {
		minimum = minRounds
		if !s.asked {
			minimum = step.RoundsToCompare(len(runs))
		}
	}
	switch {
	case n < minimum:
		return false
	case n >= step.RoundsToCompare(len(runs)) &&
		!slices.ContainsFunc(runs, func(r *stepPoint) bool { return !step.Enough(r.rounds, s.options.Precision) }):
		s.reason = stats.Precision.String()
	case spent+each > budget:
		s.reason = stats.Budget.String()
	case n >= maxRounds:
		s.reason = stats.Maximum.String()
	default:
		return false
	}
	return true
}

// seconds converts seconds to a duration.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
