package stats

import (
	"math"
	"slices"
	"testing"

	"busbar/internal/golden"

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
	standings := map[string]Standing{"cleared": Cleared, "slow": Slow, "together": SlowTogether, "unsure": SlowUnsure,
		"once": SlowOnce}
	for _, c := range golden.Table[struct {
		Name, Want string
		Evidence
	}](t, `
		Name                             Want      Together  Alone  Again  Repeated  Twice  Single  Noise
		slow in both                     slow      0.2       0.18   true
		too little alone                 cleared   0.2       0.05   true
		too little in both               cleared   0.11      0.07   true
		a node by little                 slow      0.12      0.12   true
		a link by little                 cleared   0.12      0.12   true   -         -      true
		less than chance                 cleared   0.2       0.2    true   -         -      -       0.1
		alone less than chance           once      0.8       0.1    true   -         -      -       0.1
		not alone yet                    unsure    0.2
		not alone yet, by little         cleared   0.14
		not alone yet, by chance         cleared   0.2       -      -      -         -      -       0.1
		fades, and was not repeated      once      0.3       0.01   true
		fades each time                  together  0.3       0.01   true   0.25      true
		faded once                       cleared   0.3       0.01   true   0.1       true
		fades by little                  cleared   0.2       0.01   true   0.3       true
		fades by half only               cleared   0.3       0.16   true   -         -      -       0.08
		fades by half only, once more    cleared   0.5       0.16   true   0.3       true   -       0.12
		fades, as chance would have it   cleared   0.3       0.01   true   0.3       true   -       0.11
		slow alone, whatever comes then  slow      0.3       0.3    true   -         true
	`) {
		test.EqOp(t, standings[c.Want], c.Standing(), test.Sprint(c.Name))
	}
}
