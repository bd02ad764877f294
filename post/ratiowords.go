package main

import (
	"fmt"

	"busbar/internal/stats"
)

// times writes a ratio with three digits or so.
func times(v float64) string {
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

// bounds are the bounds of a ratio and what they are, in words.
func bounds(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "no interval"
	}
	span := times(r.Lo) + " to " + times(r.Hi)
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
		return count(r.N, "launch")
	}
	return fmt.Sprintf("%d or more launches of each", r.N)
}

// inverse is the ratio turned around.
func inverse(r stats.Ratio) stats.Ratio {
	r.Value = 1 / r.Value
	if r.Basis != stats.NoBounds {
		r.Lo, r.Hi = 1/r.Hi, 1/r.Lo
	}
	return r
}

// meaning explains the bounds of a ratio in a table's footnote.
func meaning(r stats.Ratio) string {
	switch {
	case r.Basis == stats.AcrossLaunches && r.Paired:
		return "bounds: 95 % interval of the median over launches of the ratio within each (order statistics)"
	case r.Basis == stats.AcrossLaunches:
		return "bounds: 95 % interval from those of both medians over launches, which were not the same for both"
	case r.Basis == stats.LaunchSpread:
		return fmt.Sprintf("bounds: the least and greatest seen; an interval takes %d launches", stats.MinForInterval)
	case r.Basis == stats.WithinLaunch && r.Paired:
		return "bounds: 95 % interval from those of both times in one launch; another launch may differ by more"
	case r.Basis == stats.WithinLaunch:
		return "bounds: 95 % interval from those of both times, each of one launch; other launches may differ by more"
	}
	return "no bounds: one launch, and one of the two times has no interval"
}

// verdict says what the bounds let be said of the ratio of a time to that of the other.
func verdict(r stats.Ratio) string {
	switch {
	case r.Differs() && r.Value > 1:
		return "slower"
	case r.Differs():
		return "faster"
	case r.Basis == stats.WithinLaunch || r.Basis == stats.AcrossLaunches:
		return "cannot tell"
	}
	return ""
}
