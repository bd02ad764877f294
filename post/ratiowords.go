package main

import (
	"fmt"

	"busbar/internal/stats"
)

// meaning explains the bounds of a ratio in a table's footnote.
func meaning(r stats.Ratio) string {
	switch {
	case r.Basis == stats.AcrossLaunches && r.Paired:
		return "bounds: 95 % CI of the median over launches of the ratio within each (order statistics)"
	case r.Basis == stats.AcrossLaunches:
		return "bounds: 95 % CI from those of both medians over launches, which were not the same for both"
	case r.Basis == stats.LaunchSpread:
		return fmt.Sprintf("bounds: minimum and maximum over launches; a 95 %% CI needs %d launches", stats.MinForInterval)
	case r.Basis == stats.WithinLaunch && r.Paired:
		return "bounds: 95 % CI from those of both times in one launch; other launches may differ by more"
	case r.Basis == stats.WithinLaunch:
		return "bounds: 95 % CI from those of both times, each of one launch; other launches may differ by more"
	}
	return "no bounds: one launch, and one of the two times has no CI"
}

// verdict says what the bounds let be said of the ratio of a time to that of the other.
func verdict(r stats.Ratio) string {
	switch {
	case r.Differs() && r.Value > 1:
		return "slower"
	case r.Differs():
		return "faster"
	case r.Basis == stats.WithinLaunch || r.Basis == stats.AcrossLaunches:
		return "inconclusive"
	}
	return ""
}
