package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/shoenig/test"
)

// pairsOf are the pairs of n nodes, each of 1 ms but for those named.
func pairsOf(n int, other map[[2]int]float64) (pairs []PairTime) {
	for a := range n {
		for b := a + 1; b < n; b++ {
			factor := 1.0
			if x, named := other[[2]int{a, b}]; named {
				factor = x
			}
			pairs = append(pairs, PairTime{A: b, B: a, Seconds: 1e-3 * factor})
		}
	}
	return pairs
}

// slowNodePairs are pairs in which one node is slower by a factor.
func slowNodePairs(n, node int, factor float64) map[[2]int]float64 {
	slow := map[[2]int]float64{}
	for i := range n {
		if i != node {
			slow[[2]int{min(i, node), max(i, node)}] = factor
		}
	}
	return slow
}

func TestWeakPairs(t *testing.T) {
	slow := slowNodePairs(5, 1, 2)
	slow[[2]int{1, 4}] = 1.3 // by less than half as much, which is within the uncertainty
	w := FindWeakPairs(5, pairsOf(5, slow), 0.2)
	if len(w.Nodes) != 1 || w.Nodes[0].Node != 1 || w.Nodes[0].Slow != 3 || w.Nodes[0].Of != 4 ||
		!near(w.Nodes[0].Excess, math.Log(2)) || len(w.Links) > 0 {
		t.Errorf("a weak node: %+v", w)
	}
	if !near(w.Base, 1e-3) || !near(w.Spread, 1) || !near(w.PairSpread, 1) {
		t.Errorf("base %g, spread %g and %g", w.Base, w.Spread, w.PairSpread)
	}
	if w := FindWeakPairs(5, pairsOf(5, slowNodePairs(5, 1, 2)), 0.5); len(w.Nodes)+len(w.Links) > 0 {
		t.Errorf("twice as long is less than times are uncertain by: %+v", w)
	}
	slow = slowNodePairs(5, 1, 5)
	slow[[2]int{1, 4}] = 3 // still more than half of the excess
	if w := FindWeakPairs(5, pairsOf(5, slow), 0); len(w.Nodes) != 1 || w.Nodes[0].Slow != 4 {
		t.Errorf("a weak node one of whose pairs is less slow: %+v", w)
	}
	// A pair of a slow node is a slow link only if it is far slower still.
	slow = slowNodePairs(6, 2, 1.5)
	slow[[2]int{2, 3}] = 4
	w = FindWeakPairs(6, pairsOf(6, slow), 0)
	if len(w.Nodes) != 1 || len(w.Links) != 1 || w.Links[0].A != 2 || w.Links[0].B != 3 ||
		!near(w.Links[0].Excess, math.Log(4)) {
		t.Errorf("a weak node with a weak link: %+v", w)
	}
	slow[[2]int{2, 3}] = 1.9
	if w = FindWeakPairs(6, pairsOf(6, slow), 0); len(w.Nodes) != 1 || len(w.Links) > 0 {
		t.Errorf("a weak node one of whose pairs is a little slower: %+v", w)
	}
}

// A node is weak by the lower of its two middle pairs, so that a slow link makes neither of its ends weak.
func TestSlowLinkBlamesNoNode(t *testing.T) {
	w := FindWeakPairs(3, pairsOf(3, map[[2]int]float64{{0, 1}: 2}), 0)
	if len(w.Nodes) > 0 || len(w.Links) != 1 || w.Links[0].A != 0 || w.Links[0].B != 1 {
		t.Errorf("%+v", w)
	}
}

// halvesOf are rounds of four nodes in which the halves with a node are slower by a factor.
func halvesOf(node int, factors ...float64) (rounds []HalfTimes) {
	split := [][2][]int{{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 3}, {1, 2}}}
	for i, f := range factors {
		h := HalfTimes{First: split[i][0], Second: split[i][1], FirstSeconds: 1e-3, SecondSeconds: 1e-3}
		if slices.Contains(h.First, node) {
			h.FirstSeconds *= f
		} else {
			h.SecondSeconds *= f
		}
		rounds = append(rounds, h)
	}
	return rounds
}

func TestWeakHalf(t *testing.T) {
	w := FindWeakHalf(4, halvesOf(2, 2, 2, 0.97), 0)
	if w.Node != 2 || w.Slow != 2 || w.Of != 3 || !near(w.Spread, 2) {
		t.Errorf("a weak node that was fast once: %+v", w)
	}
	if w := FindWeakHalf(4, halvesOf(2, 1.5, 1.5, 1.5), 0.01); w.Node != 2 || !near(w.Excess, math.Log(1.5)) {
		t.Errorf("a weak node: %+v", w)
	}
	if w := FindWeakHalf(4, halvesOf(2, 1.5, 1.5, 1.5), 0.2); w.Node >= 0 || w.Unclear {
		t.Errorf("a difference that is chance: %+v", w)
	}
}

func TestStanding(t *testing.T) {
	for name, c := range map[string]struct {
		e    Evidence
		want Standing
	}{
		"slow in both":                {Evidence{Together: 0.2, Alone: 0.18, Again: true}, Slow},
		"too little alone":            {Evidence{Together: 0.2, Alone: 0.05, Again: true}, Cleared},
		"too little in both":          {Evidence{Together: 0.11, Alone: 0.07, Again: true}, Cleared},
		"a node by little":            {Evidence{Together: 0.12, Alone: 0.12, Again: true}, Slow},
		"a link by little":            {Evidence{Together: 0.12, Alone: 0.12, Again: true, Single: true}, Cleared},
		"less than chance":            {Evidence{Together: 0.2, Alone: 0.2, Again: true, Noise: 0.1}, Cleared},
		"alone less than chance":      {Evidence{Together: 0.8, Alone: 0.1, Again: true, Noise: 0.1}, SlowOnce},
		"not alone yet":               {Evidence{Together: 0.2}, SlowUnsure},
		"not alone yet, by little":    {Evidence{Together: 0.14}, Cleared},
		"not alone yet, by chance":    {Evidence{Together: 0.2, Noise: 0.1}, Cleared},
		"fades, and was not repeated": {Evidence{Together: 0.3, Alone: 0.01, Again: true}, SlowOnce},
		"fades each time": {Evidence{Together: 0.3, Alone: 0.01, Repeated: 0.25, Again: true, Twice: true},
			SlowTogether},
		"faded once": {Evidence{Together: 0.3, Alone: 0.01, Repeated: 0.1, Again: true, Twice: true},
			Cleared},
		"fades by little": {Evidence{Together: 0.2, Alone: 0.01, Repeated: 0.3, Again: true, Twice: true},
			Cleared},
		"fades by half only": {Evidence{Together: 0.3, Alone: 0.16, Again: true, Noise: 0.08}, Cleared},
		"fades by half only, once more": {Evidence{Together: 0.5, Alone: 0.16, Repeated: 0.3, Again: true, Twice: true,
			Noise: 0.12}, Cleared},
		"fades, as chance would have it": {Evidence{Together: 0.3, Alone: 0.01, Repeated: 0.3, Again: true, Twice: true,
			Noise: 0.11}, Cleared},
		"slow alone, whatever comes then": {Evidence{Together: 0.3, Alone: 0.3, Repeated: 0, Again: true, Twice: true},
			Slow},
	} {
		test.EqOp(t, c.want, c.e.Standing(), test.Sprint(name))
	}
}
