package stats

import (
	"math"
	"slices"
)

// Defaults of a Rule's fields that are zero.
const (
	DefaultMinSamples = 30
	DefaultMaxSamples = 1_000_000
)

// Rule is the target precision of a median and the limits of its cost.
type Rule struct {
	// Precision is the wanted half width of the interval of the median in parts of the median: 0.02 is ±2 %. With 0
	// only an interval of no width is precise.
	Precision float64
	// MinSamples is the minimum number of samples before precision can end sampling; 0 means DefaultMinSamples, and at
	// least MinForInterval are taken. The budget and MaxSamples take precedence.
	MinSamples int
	// MaxSamples is the largest number; 0 means DefaultMaxSamples. Equal to MinSamples it fixes the number.
	MaxSamples int
	// Budget is the time in seconds after which no more samples are taken; 0 sets no limit.
	Budget float64
	// MinTime is the time in seconds before which neither precision nor settled noise ends sampling.
	MinTime float64
}

// Stopper decides how many samples to take. Make one with NewStopper for each case.
type Stopper struct {
	rule  Rule
	fixed bool
	looks []look
	last  struct { // call of Next
		n       int
		elapsed float64
	}
	sorted []float64
	space  workspace
}

// look is one look at the interval.
type look struct {
	n     int
	width float64 // relative half width
}

// NewStopper returns a Stopper for one case.
func NewStopper(r Rule) *Stopper {
	fixed := r.MaxSamples > 0 && r.MinSamples == r.MaxSamples
	if r.MaxSamples <= 0 {
		r.MaxSamples = DefaultMaxSamples
	}
	if r.MinSamples <= 0 {
		r.MinSamples = DefaultMinSamples
	}
	r.MinSamples = min(max(r.MinSamples, MinForInterval), r.MaxSamples)
	return &Stopper{rule: r, fixed: fixed}
}

const (
	settledSpan    = 4    // settled compares the interval with that of a fourth of the samples
	settledShrink  = 0.72 // to what it must have shrunk by then: 15 % for each doubling
	settledMinimum = 400  // samples

	hopelessSamples = 20   // before it a width is unreliable …
	hopelessShare   = 0.1  // … unless this part of the budget is gone
	hopelessLeast   = 0.03 // of the budget, that is spent in any case
	hopelessTimes   = 2    // times the budget, that precision would take
)

// Next is called between batches with all samples so far, in time order, and the seconds that they took, with
// everything that each more would cost again. It returns how many more to take, or 0 and the reason.
//
// The first call asks for one sample, to learn what it costs; the next for three times as many as there are up to
// MinSamples, then for half as many again, and never for more than half of what the budget has room for, going by the
// mean cost or by that of the latest samples if they were slower: a case ends within its budget and a sample. A fixed
// number without a budget is asked for at once. At each look sampling ends with
//   - Precision when the interval is narrow enough and not flagged as Correlated. Whoever looks often and stops at the
//     first narrow interval picks the lucky ones, whose coverage is less than they state; so the spread of the samples
//     twice as far out, which varies less, must agree.
//   - Settled when the interval has shrunk by less than 15 % with each doubling, seen over two doublings and from 400
//     samples on. Independent samples would have halved it over that span, and pass for settled in less than 1 % of
//     cases. What does not shrink is not noise that more samples average out: two modes with the median between
//     them, or a slow change of the machine.
//   - Settled, too, when precision is out of reach: the interval narrows with the square root of the time, and at that
//     rate it would take twice the budget. What is noise at the price of these samples stays noise.
//   - Maximum or Fixed at MaxSamples, Budget when another sample would not fit.
func (s *Stopper) Next(samples []float64, elapsed float64) (more int, reason StopReason) {
	n := len(samples)
	switch {
	case n == 0:
		return s.wanted(0), ""
	case n >= s.rule.MaxSamples && s.fixed:
		return 0, Fixed
	case n >= s.rule.MaxSamples:
		return 0, Maximum
	case n >= s.rule.MinSamples && !s.fixed:
		reason, width := s.look(samples)
		if reason == "" && s.hopeless(n, elapsed, width) {
			reason = Settled
		}
		if reason != "" && elapsed >= s.rule.MinTime {
			return 0, reason
		}
	}
	more = s.wanted(n)
	if s.rule.Budget > 0 {
		left, each := s.rule.Budget-elapsed, elapsed/float64(n)
		if n > s.last.n {
			each = max(each, (elapsed-s.last.elapsed)/float64(n-s.last.n))
		}
		if !(left > 0.99*each) { // not 1: sums of times are rounded
			return 0, Budget
		}
		if half := math.Ceil(left / each / 2); half < float64(more) {
			more = int(half)
		}
		s.last.n, s.last.elapsed = n, elapsed
	}
	return more, ""
}

// wanted is how many samples to add to n, whatever they cost.
func (s *Stopper) wanted(n int) int {
	left := s.rule.MaxSamples - n
	switch {
	case s.fixed && s.rule.Budget <= 0:
		return left
	case n == 0:
		return 1
	case n < s.rule.MinSamples:
		return min(left, s.rule.MinSamples-n, 3*n)
	}
	return min(left, (n+1)/2)
}

// hopeless reports whether a CI of that relative half-width after n samples cannot become narrow enough in time.
func (s *Stopper) hopeless(n int, elapsed, width float64) bool {
	spent := elapsed / s.rule.Budget // +Inf without a budget
	if s.rule.Budget <= 0 || s.rule.Precision <= 0 || spent < hopelessLeast || n < hopelessSamples &&
		spent < hopelessShare {
		return false
	}
	excess := width / s.rule.Precision
	return spent*excess*excess > hopelessTimes
}

// look computes the CI and its width, and reports whether it is narrow enough or no longer shrinks.
func (s *Stopper) look(samples []float64) (StopReason, float64) {
	x, _ := finite(samples)
	if len(x) < MinForInterval {
		return "", 0
	}
	s.sorted = append(s.sorted[:0], x...)
	slices.Sort(s.sorted)
	iv := s.space.interval(x, s.sorted)
	now := look{n: len(x), width: relativeHalfWidth(max(iv.hi-iv.lo, iv.spread), quantile(s.sorted, 0.5))}
	if now.width <= s.rule.Precision && !iv.correlated {
		return Precision, now.width
	}
	settled := now.n >= settledMinimum && s.shrunkTo(now) > settledShrink
	s.looks = append(s.looks, now)
	if settled {
		return Settled, now.width
	}
	return "", now.width
}

// shrunkTo is the ratio of the width now to that of the latest look at no more than a quarter of the samples, or 0.
func (s *Stopper) shrunkTo(now look) float64 {
	for _, before := range slices.Backward(s.looks) {
		if before.n*settledSpan <= now.n {
			return now.width / before.width
		}
	}
	return 0
}

// Narrow reports whether the CI of the median of x, in time order, is within precision by the rules of a Stopper.
func Narrow(x []float64, precision float64) bool {
	s := Stopper{rule: Rule{Precision: precision}}
	reason, _ := s.look(x)
	return reason == Precision
}

// StopReason is what ended the sampling of a case, as files have it; "" means that sampling goes on.
type StopReason string

// The reasons.
const (
	Precision StopReason = "precision" // the interval is as narrow as wanted
	Settled   StopReason = "settled"   // more samples no longer narrow the interval
	Budget    StopReason = "budget"    // the time is used up
	Maximum   StopReason = "maximum"   // the largest number of samples is reached
	Fixed     StopReason = "fixed"     // the number was given
)

func (r StopReason) String() string { return string(r) }
