package result

import "busbar/internal/step"

// TracedOf is what a rank's trace file holds of a step, from its intervals.
func TracedOf(rank int, i step.Intervals) Traced {
	seconds := func(ns int64) float64 { return float64(ns) / 1e9 }
	return Traced{
		Rank: rank, Span: seconds(i.Span), Compute: seconds(i.Compute), Comm: seconds(i.Comm),
		Overlap: seconds(i.Overlap), Exposed: seconds(i.Exposed), Idle: seconds(i.Idle),
	}
}
