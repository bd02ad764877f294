package sweeps

import (
	"cmp"
	"slices"
	"time"

	"busbar/internal/coll"
)

// Fit skips cases of a plan until its expected time is within the limit; kept and left are in plan order.
//
// A series has the sizes of one collective, type, operation, root, placement, mode and world. Every series keeps its
// minimum size first, then its maximum, then halves its widest gaps. Cases above the remaining time are skipped, and
// cheaper cases of the same round replace them. While a series has no size, no series has more than one.
func Fit(cases []coll.Case, cost func(coll.Case) time.Duration, limit time.Duration) (kept, left []coll.Case) {
	keep := make([]bool, len(cases))
	remaining := limit
	for round, points := range rounds(cases) {
		whole := true
		for _, i := range points {
			c := max(0, cost(cases[i]))
			if c > remaining {
				whole = false
				continue
			}
			keep[i] = true
			remaining -= c
		}
		if round == 0 && !whole {
			break
		}
	}
	for i, c := range cases {
		if keep[i] {
			kept = append(kept, c)
		} else {
			left = append(left, c)
		}
	}
	return kept, left
}

// rounds groups the indices of cases by priority: round 0 has the first choice of every series, round 1 the second, ….
func rounds(cases []coll.Case) [][]int {
	var order []coll.Case
	series := map[coll.Case][]int{}
	for i, c := range cases {
		c.SizeBytes, c.Count = 0, 0
		if series[c] == nil {
			order = append(order, c)
		}
		series[c] = append(series[c], i)
	}
	var all [][]int
	for _, s := range order {
		members := series[s]
		slices.SortStableFunc(members,
			func(a, b int) int { return cmp.Compare(cases[a].SizeBytes, cases[b].SizeBytes) })
		for round, m := range byWorth(len(members)) {
			if round == len(all) {
				all = append(all, nil)
			}
			all[round] = append(all[round], members[m])
		}
	}
	return all
}

// byWorth orders the positions 0 to n-1 of a sorted series: the ends, then the middle of every gap, breadth first.
func byWorth(n int) []int {
	order := []int{0}
	if n > 1 {
		order = append(order, n-1)
	}
	for gaps := [][2]int{{0, n - 1}}; len(gaps) > 0; gaps = gaps[1:] {
		lo, hi := gaps[0][0], gaps[0][1]
		if hi-lo < 2 {
			continue
		}
		middle := (lo + hi) / 2
		order = append(order, middle)
		gaps = append(gaps, [2]int{lo, middle}, [2]int{middle, hi})
	}
	return order
}
