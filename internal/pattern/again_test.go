package pattern

import (
	"fmt"
	"slices"
	"testing"

	"busbar/internal/stats"
)

func suspect(excess float64, nodes ...int) Suspect {
	return Suspect{Nodes: nodes, Evidence: stats.Evidence{Together: excess}}
}

// The four nodes and four links with the largest excess in any point are measured alone: each node with three healthy
// ones over links that are not suspects, and three pairs of healthy nodes.
func TestAlone(t *testing.T) {
	points := []Verdict{
		{Suspects: []Suspect{suspect(0.2, 0), suspect(0.9, 1), suspect(0.4, 2)}},
		{Suspects: []Suspect{suspect(0.5, 3), suspect(0.8, 0), suspect(0.3, 4), suspect(0.5, 3, 7), suspect(0.2, 7, 8),
			suspect(0.4, 8, 9), suspect(0.6, 5, 9), suspect(0.3, 6, 7)}},
	}
	groups := of(Pairs, 12).Alone(points)
	want := "[[1 10] [1 7] [1 8] [0 11] [0 10] [0 9] [3 8] [3 11] [3 6] [2 9] [2 8] [2 7] " + // nodes, over sound links
		"[5 9] [3 7] [8 9] [6 7] " + // links
		"[5 6] [6 11] [10 11]]" // sound pairs
	if got := fmt.Sprint(groups); got != want || len(groups) != mostNodes*eachAlone+mostLinks+eachAlone {
		t.Errorf("%s, want %s", got, want)
	}
}

// With halves, both groups of the two rounds that differ most are measured alone.
func TestHalvesAlone(t *testing.T) {
	rounds := scheduled(t, Halves, 8)
	var times []Time
	for i, r := range rounds {
		for k, half := range r {
			times = append(times, Time{Nodes: half, Seconds: 1 + float64(i*k)})
		}
	}
	v := of(Halves, 8).Judge(times)
	v.Suspects = []Suspect{suspect(0.3, 2)}
	last := len(rounds) - 1
	want := [][]int{rounds[last][0], rounds[last][1], rounds[last-1][0], rounds[last-1][1]}
	if got := of(Halves, 8).Alone([]Verdict{v}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The number of repeated rounds is limited.
func TestRepeatsLimited(t *testing.T) {
	rounds := scheduled(t, Pairs, 24)
	var times []Time
	for i, r := range rounds {
		for _, g := range r {
			times = append(times, Time{Nodes: g, Seconds: 1 + float64((7*i+5*g[0])%23)})
		}
	}
	v := of(Pairs, 24).Judge(times)
	v.Suspects, v.index = nil, map[[2]int]int{}
	for i := range 9 {
		s := suspect(0.5, i)
		s.Again = true
		v.suspect(s)
	}
	if got := of(Pairs, 24).Repeats([]Verdict{v}); len(got) != mostRepeated || !slices.IsSorted(got) {
		t.Errorf("%v of %d rounds, want %d of them", got, len(rounds), mostRepeated)
	}
}
