// Package pattern finds the weak node or link of a cluster: the groups of nodes of each round, the groups to measure
// again alone, and the verdict from their times.
//
// It measures nothing and reads no file: rank runs the rounds, and rank and post show the verdict.
package pattern

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"busbar/internal/result"
)

// The kinds of patterns.
const (
	Pairs  = "pairs"
	Halves = "halves"
	Rails  = "rails"
	GPUs   = "gpus"
)

// Kinds are the values of --pattern.
var Kinds = []string{Pairs, Halves, Rails, GPUs}

// Shape is a kind of pattern, and what it divides.
type Shape struct {
	Kind  string
	Nodes int
	Each  int // ranks per node
}

// ShapeOf is the shape of a pattern of a file.
func ShapeOf(of *result.Pattern) Shape { return Shape{of.Kind, len(of.Hosts), of.RanksPerNode} }

// Round is the groups, ascending, that measure at the same time: of nodes by index from 0, or of GPUs (see OfGPUs).
type Round [][]int

// Rounds is the schedule. It is always the same for the same shape; callers must not modify it. The error is the
// reason why a pattern is impossible.
func (s Shape) Rounds() ([]Round, error) {
	n := s.Nodes
	switch {
	case s.Kind == GPUs && s.Each < 2:
		return nil, fmt.Errorf("--pattern gpus compares ranks of a node, but each node has one; use --pattern pairs")
	case s.Kind == GPUs:
		return s.gpuRounds(), nil
	case n < 2:
		return nil, fmt.Errorf("--pattern %s compares nodes, but all ranks are on one", s.Kind)
	case s.Kind == Rails:
		return s.railRounds(), nil
	case s.Kind == Pairs:
		return pairs(n), nil
	case n < 4:
		return nil, fmt.Errorf("--pattern halves requires at least 4 nodes, found %d; use --pattern pairs", n)
	}
	known, there := schedules.Load(n)
	if !there {
		known, _ = schedules.LoadOrStore(n, halves(n))
	}
	return known.([]Round), nil
}

// schedules are the halves of n nodes by n: they take a while for hundreds of nodes.
var schedules sync.Map

// pairs pairs each node with each other node once: all but one sit in a circle that turns by one seat per round, and
// facing nodes form a pair. With odd n, the node that faces the empty seat is idle.
func pairs(n int) (rounds []Round) {
	for r := range n + n%2 - 1 {
		rounds = append(rounds, pairsOf(n, r))
	}
	return rounds
}

// pairsOf is round r of pairs.
func pairsOf(n, r int) (round Round) {
	seats := n + n%2
	meet := func(a, b int) {
		if a < n && b < n {
			round = append(round, []int{min(a, b), max(a, b)})
		}
	}
	meet(r, seats-1)
	for k := 1; k < seats/2; k++ {
		meet((r+k)%(seats-1), (r-k+seats-1)%(seats-1))
	}
	slices.SortFunc(round, slices.Compare)
	return round
}

// halves separates every two nodes in some round: it repeatedly halves the groups that were always together. It then
// adds the most even rounds, for one more than halving needs. Both halves have the same number of nodes; with odd n, a
// different node is idle each time.
func halves(n int) []Round {
	h := &halver{n: n, apart: make([][]int, n), random: rand.New(rand.NewPCG(uint64(n), 1))}
	for i := range h.apart {
		h.apart[i] = make([]int, n)
	}
	classes := [][]int{{}}
	for i := range n {
		classes[0] = append(classes[0], i)
	}
	for range bits.Len(uint(n - 1)) {
		var round Round
		round, classes = h.halve(classes, len(h.rounds)*(n/3+1)%n)
		h.add(round)
	}
	for extra := 0; extra < 1 || h.together() && extra < n; extra++ {
		h.add(h.evenest())
	}
	return h.rounds
}

// halver makes rounds of halves.
type halver struct {
	n      int
	apart  [][]int // how often two nodes, the lower first, were in different halves
	rounds []Round
	random *rand.Rand
}

func (h *halver) add(r Round) {
	h.rounds = append(h.rounds, r)
	for _, a := range r[0] {
		for _, b := range r[1] {
			h.apart[min(a, b)][max(a, b)]++
		}
	}
}

// together reports whether two nodes were never separated.
func (h *halver) together() bool {
	for a := range h.n {
		if slices.Contains(h.apart[a][a+1:], 0) {
			return true
		}
	}
	return false
}

// halve splits each class in two; rest is the idle node if their number is odd.
func (h *halver) halve(classes [][]int, rest int) (Round, [][]int) {
	var sides [2][]int
	var next [][]int
	for _, c := range classes {
		c = slices.Clone(c)
		resting := h.n%2 == 1 && slices.Contains(c, rest)
		if resting {
			c = slices.DeleteFunc(c, func(i int) bool { return i == rest })
		}
		first := len(c) / 2
		if len(c)%2 == 1 && len(sides[0]) <= len(sides[1]) {
			first++
		}
		a, b := slices.Clone(c[:first]), slices.Clone(c[first:])
		sides[0], sides[1] = append(sides[0], a...), append(sides[1], b...)
		if resting { // it is halved on with the smaller part
			if len(a) <= len(b) {
				a = append(a, rest)
			} else {
				b = append(b, rest)
			}
		}
		next = append(next, a, b)
	}
	return round(sides[0], sides[1]), next
}

// evenest is the best of many random splits: it separates the pairs with the fewest separations.
func (h *halver) evenest() Round {
	const tries = 64
	var best Round
	most := -1.0
	for range tries {
		order := h.random.Perm(h.n)
		half := h.n / 2
		r, weight := round(order[:half], order[half:2*half]), 0.0
		for _, a := range r[0] {
			for _, b := range r[1] {
				weight += 1 / float64(uint64(1)<<(2*min(h.apart[min(a, b)][max(a, b)], 30)))
			}
		}
		if weight > most {
			best, most = r, weight
		}
	}
	return best
}

func round(a, b []int) Round {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	if a[0] > b[0] {
		a, b = b, a
	}
	return Round{a, b}
}
