package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/units"
)

// mostStanding is how many ranks are named.
const mostStanding = 3

// leastSlow is by what share a rank takes longer before it is named: some rank always takes longest.
const leastSlow = 0.01

// slowest names the ranks whose times are longest against the median rank, by their median over sizes.
func (h Heat) slowest() string {
	return h.outstanding(h.Median, func(v, middle float64) float64 { return v/middle - 1 - leastSlow }, func(v float64) string { return fmt.Sprintf("%+.1f %%", 100*(v+leastSlow)) })
}

// latest names the ranks that issue last, by more than the clocks tell.
func (h Heat) latest() string {
	return h.outstanding(h.Late, func(v, _ float64) float64 { return v - h.Uncertainty }, func(v float64) string { return units.Duration((v + h.Uncertainty) / 1e6) })
}

// outstanding names up to three ranks by the median over sizes of a figure that is above 0.
func (h Heat) outstanding(rows []Figures, by func(v, middle float64) float64, word func(float64) string) string {
	over := make([][]float64, len(h.Ranks))
	for _, row := range rows {
		sorted := slices.Sorted(slices.Values(row))
		if len(sorted) == 0 {
			continue
		}
		middle := (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
		for rank, v := range row {
			if x := by(v, middle); !math.IsNaN(x) && !math.IsInf(x, 0) {
				over[rank] = append(over[rank], x)
			}
		}
	}
	type standing struct {
		rank  int
		value float64
	}
	var all []standing
	for rank, x := range over {
		if len(x) > 0 {
			slices.Sort(x)
			all = append(all, standing{rank, x[len(x)/2]})
		}
	}
	slices.SortStableFunc(all, func(a, b standing) int { return cmp.Compare(b.value, a.value) })
	var words []string
	for _, s := range all[:min(len(all), mostStanding)] {
		if s.value > 0 {
			words = append(words, fmt.Sprintf("%s (%s)", h.Ranks[s.rank], word(s.value)))
		}
	}
	return strings.Join(words, ", ")
}
