package steps

import (
	"cmp"
	"slices"

	"busbar/internal/result"
)

// Parts are how an overlapped step is made up of what was measured alone, in seconds; they add up to it.
type Parts struct {
	Computing float64 // with nothing beside it
	Hidden    float64 // communication behind computing, by the wall clock
	Exposed   float64 // what the step takes longer than computing alone
}

// PartsOf splits an overlapped step. Where it took less than its computing alone, or more than both one after the
// other, as noise or interference make it, no part is below 0.
func PartsOf(compute, comm, overlapped float64) Parts {
	p := Parts{Exposed: min(max(0, overlapped-compute), overlapped)}
	rest := overlapped - p.Exposed
	p.Hidden = max(0, min(comm-p.Exposed, rest))
	p.Computing = rest - p.Hidden
	return p
}

// Laid is one operation's place in the row of communication: operations that are on their way at the same time lie in
// different lanes.
type Laid struct {
	result.StepSpan
	Number int // from 1
	Lane   int // from 0
}

// Lay deals the operations of a step out to as few lanes as keep them apart.
func Lay(ops []result.StepSpan) (laid []Laid, lanes int) {
	var ends []float64
	order := make([]int, len(ops))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ops[a].Start, ops[b].Start) })
	for _, i := range order {
		op := ops[i]
		if op.End <= op.Start {
			continue
		}
		lane := slices.IndexFunc(ends, func(end float64) bool { return end <= op.Start })
		if lane < 0 {
			lane, ends = len(ends), append(ends, 0)
		}
		ends[lane] = op.End
		laid = append(laid, Laid{op, i + 1, lane})
	}
	return laid, len(ends)
}

// ExposedParts are the stretches of an operation in which no segment ran, in order; what is between them is hidden.
func ExposedParts(op result.StepSpan, segments []result.StepSpan) (parts [][2]float64) {
	at := op.Start
	for _, s := range slices.SortedFunc(slices.Values(segments), func(a, b result.StepSpan) int {
		return cmp.Compare(a.Start, b.Start)
	}) {
		if s.End <= at || s.Start >= op.End {
			continue
		}
		if s.Start > at {
			parts = append(parts, [2]float64{at, s.Start})
		}
		at = s.End
	}
	if at < op.End {
		parts = append(parts, [2]float64{at, op.End})
	}
	return parts
}
