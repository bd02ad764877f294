package say

import (
	"fmt"

	"busbar/internal/stats"
	"busbar/internal/units"
)

// Bounds are the bounds of a ratio and what they are, in words.
func Bounds(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "no interval"
	}
	span := units.Times(r.Lo) + " to " + units.Times(r.Hi)
	switch {
	case r.Basis == stats.AcrossLaunches:
		return fmt.Sprintf("95 %% interval %s over %s", span, launchesOf(r))
	case r.Basis == stats.LaunchSpread:
		return fmt.Sprintf("%s over %s", span, launchesOf(r))
	case r.Paired:
		return fmt.Sprintf("95 %% interval %s within one launch", span)
	}
	return fmt.Sprintf("95 %% interval %s from one launch of each", span)
}

func launchesOf(r stats.Ratio) string {
	if r.Paired {
		return units.Count(r.N, "launch")
	}
	return fmt.Sprintf("%d or more launches of each", r.N)
}

// Span is the bounds alone; "-" where there are none.
func Span(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "-"
	}
	return units.Times(r.Lo) + " to " + units.Times(r.Hi)
}
