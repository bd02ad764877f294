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

// The four nodes and four links of the largest excess in any point are measured alone, each node with three sound ones
// over no link that is a suspect itself, and three pairs of sound nodes beside them.
func TestAlone(t *testing.T) {
	points := []Verdict{
		{Suspects: []Suspect{suspect(0.2, 0), suspect(0.9, 1), suspect(0.4, 2)}},
		{Suspects: []Suspect{suspect(0.5, 3), suspect(0.8, 0), suspect(0.3, 4), suspect(0.5, 3, 7), suspect(0.2, 7, 8),
			suspect(0.4, 8, 9), suspect(0.6, 5, 9), suspect(0.3, 6, 7)}},
	}
	groups := Alone(Pairs, 12, points)
	taken := map[int]int{}
	var links, controls [][]int
	sound := []int{5, 6, 7, 8, 9, 10, 11}
	for _, g := range groups {
		switch a, b := slices.Contains(sound, g[0]), slices.Contains(sound, g[1]); {
		case g[0] >= g[1]:
			t.Errorf("%v is not in order", g)
		case a && b && slices.ContainsFunc(points[1].Suspects, func(s Suspect) bool {
			return slices.Equal(s.Nodes, g)
		}), slices.Equal(g, []int{3, 7}):
			links = append(links, g)
		case a && b:
			controls = append(controls, g)
		case !a && !b:
			t.Errorf("%v are suspects both", g)
		case a:
			taken[g[1]]++
		default:
			taken[g[0]]++
		}
	}
	if want := map[int]int{0: 3, 1: 3, 2: 3, 3: 3}; fmt.Sprint(taken) != fmt.Sprint(want) {
		t.Errorf("times of nodes %v, want %v: %v", taken, want, groups)
	}
	if want := [][]int{{5, 9}, {3, 7}, {8, 9}, {6, 7}}; fmt.Sprint(links) != fmt.Sprint(want) {
		t.Errorf("links %v, want %v", links, want)
	}
	if len(controls) != 3 {
		t.Errorf("pairs of sound nodes: %v", controls)
	}
	if most := mostNodes*eachAlone + mostLinks + eachAlone; len(groups) != most {
		t.Errorf("%d groups, and %d are the most", len(groups), most)
	}
}

// Of halves both of the two rounds that differ most are measured alone.
func TestHalvesAlone(t *testing.T) {
	rounds, err := Rounds(Halves, 8)
	if err != nil {
		t.Fatal(err)
	}
	v := Verdict{Suspects: []Suspect{suspect(0.3, 2)}}
	for i, r := range rounds {
		for k, half := range r {
			v.times = append(v.times, Time{Nodes: half, Seconds: 1 + float64(i*k)})
		}
	}
	last := len(rounds) - 1
	want := [][]int{rounds[last][0], rounds[last][1], rounds[last-1][0], rounds[last-1][1]}
	if got := Alone(Halves, 8, []Verdict{v}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Rounds once more are few, whatever is slow.
func TestRepeatsAreFew(t *testing.T) {
	rounds, err := Rounds(Pairs, 24)
	if err != nil {
		t.Fatal(err)
	}
	var v Verdict
	for i, r := range rounds {
		for _, g := range r {
			v.times = append(v.times, Time{Nodes: g, Seconds: 1 + float64((7*i+5*g[0])%23)})
		}
	}
	for i := range 9 {
		s := suspect(0.5, i)
		s.Again = true
		v.Suspects = append(v.Suspects, s)
	}
	if got := Repeats(Pairs, 24, []Verdict{v}); len(got) != mostRepeated || !slices.IsSorted(got) {
		t.Errorf("%v of %d rounds, want %d of them", got, len(rounds), mostRepeated)
	}
}

// A pair of two suspects says nothing of either.
func TestAPairOfTwoSuspects(t *testing.T) {
	c := sound(8, 0, 1)
	c.nodes[1], c.nodes[4] = 1.5, 3
	rounds, err := Rounds(Pairs, 8)
	if err != nil {
		t.Fatal(err)
	}
	var all []Time
	for _, r := range rounds {
		for _, g := range r {
			all = append(all, c.time(g, inRounds))
		}
	}
	for _, g := range [][]int{{1, 2}, {1, 4}, {0, 4}, {2, 3}} {
		all = append(all, c.time(g, alone))
	}
	v := Judge(Pairs, 8, all)
	for _, s := range v.Suspects {
		if want := map[int]string{1: "1.50", 4: "3.00"}[s.Nodes[0]]; want == "" || times(s.Alone).String() != want {
			t.Errorf("%v takes %s times as long alone, want %s", s.Nodes, times(s.Alone), want)
		}
	}
	if len(v.Suspects) != 2 {
		t.Errorf("%+v", v.Suspects)
	}
}
