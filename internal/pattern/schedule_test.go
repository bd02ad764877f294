package pattern

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shoenig/test"
)

// Each pair of nodes meets exactly once, in the minimum number of rounds, and a node is in one pair per round.
func TestPairsScheduledOnce(t *testing.T) {
	for n := 2; n <= 33; n++ {
		rounds := scheduled(t, Pairs, n)
		test.Len(t, n-1+n%2, rounds, test.Sprint(n))
		met := map[string]int{}
		for _, r := range rounds {
			busy := map[int]bool{}
			for _, g := range r {
				if len(g) != 2 || g[0] >= g[1] || busy[g[0]] || busy[g[1]] {
					t.Fatalf("%d nodes: %v", n, r)
				}
				busy[g[0]], busy[g[1]] = true, true
				met[fmt.Sprint(g)]++
			}
			if len(busy) != n-n%2 {
				t.Errorf("%d nodes: %d take part in %v", n, len(busy), r)
			}
		}
		for g, times := range met {
			if times != 1 {
				t.Errorf("%d nodes: %s meets %d times", n, g, times)
			}
		}
		if len(met) != n*(n-1)/2 {
			t.Errorf("%d nodes: %d pairs", n, len(met))
		}
	}
}

// Halves have one size, every two nodes are in different ones in some round, and the number of rounds grows as the
// logarithm.
func TestHalvesSeparateNodes(t *testing.T) {
	for _, n := range []int{4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 64, 100, 255} {
		rounds := scheduled(t, Halves, n)
		least := 0
		for 1<<least < n {
			least++
		}
		if len(rounds) < least+1 || len(rounds) > least+3 {
			t.Errorf("%d nodes: %d rounds", n, len(rounds))
		}
		for a := range n {
			for b := a + 1; b < n; b++ {
				if !slices.ContainsFunc(rounds, func(r Round) bool {
					return slices.Contains(r[0], a) && slices.Contains(r[1], b) ||
						slices.Contains(r[1], a) && slices.Contains(r[0], b)
				}) {
					t.Errorf("%d nodes: %d and %d are never separated", n, a, b)
				}
			}
		}
		for _, r := range rounds {
			if len(r[0]) != n/2 || len(r[1]) != n/2 {
				t.Errorf("%d nodes: halves of %d and %d", n, len(r[0]), len(r[1]))
			}
		}
		again, _ := of(Halves, n).Rounds()
		if fmt.Sprint(again) != fmt.Sprint(rounds) {
			t.Errorf("%d nodes: another schedule the second time", n)
		}
	}
}

func TestTooFewNodes(t *testing.T) {
	for kind, least := range map[string]int{Pairs: 2, Halves: 4} {
		for n := range 6 {
			if _, err := of(kind, n).Rounds(); (err == nil) != (n >= least) {
				t.Errorf("%s of %d nodes: %v", kind, n, err)
			}
		}
	}
}
