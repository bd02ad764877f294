package say

import (
	"fmt"

	"busbar/internal/stats"
)

// Times writes a ratio with three digits or so.
func Times(v float64) string {
	switch {
	case v < 0.01:
		return fmt.Sprintf("%.2g", v)
	case v < 0.9995:
		return fmt.Sprintf("%.3f", v)
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Bounds are the bounds of a ratio and what they are, in words.
func Bounds(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "no interval"
	}
	span := Times(r.Lo) + " to " + Times(r.Hi)
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
		return Count(r.N, "launch")
	}
	return fmt.Sprintf("%d or more launches of each", r.N)
}

// Span is the bounds alone; "-" where there are none.
func Span(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "-"
	}
	return Times(r.Lo) + " to " + Times(r.Hi)
}
