package say

import (
	"fmt"

	"busbar/internal/stats"
	"busbar/internal/units"
)

// Span is the bounds alone; "-" where there are none.
func Span(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return "-"
	}
	return units.Times(r.Lo) + " to " + units.Times(r.Hi)
}

// Basis explains the bounds of a ratio in a table's footnote.
func Basis(r stats.Ratio) string {
	switch {
	case r.Basis == stats.AcrossLaunches && r.Paired:
		return "bounds: 95 % CI of the median over launches of the ratio within each (order statistics)"
	case r.Basis == stats.AcrossLaunches:
		return "bounds: 95 % CI from those of both medians over launches, which were not the same for both"
	case r.Basis == stats.LaunchSpread:
		return fmt.Sprintf("bounds: minimum and maximum over launches; a 95 %% CI needs %d launches",
			stats.MinForInterval)
	case r.Basis == stats.WithinLaunch && r.Paired:
		return "bounds: 95 % CI from those of both times in one launch; other launches may differ by more"
	case r.Basis == stats.WithinLaunch:
		return "bounds: 95 % CI from those of both times, each of one launch; other launches may differ by more"
	}
	return "no bounds: one launch, and one of the two times has no CI"
}
