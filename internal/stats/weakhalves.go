package stats

import (
	"math"
	"slices"
)

// HalfTimes are two halves of the nodes that were measured at the same time, in seconds. A node may be in neither.
type HalfTimes struct {
	First, Second               []int
	FirstSeconds, SecondSeconds float64
}

// Excess is the natural logarithm of how many times as long as the second half the first one took.
func (h HalfTimes) Excess() float64 { return math.Log(h.FirstSeconds / h.SecondSeconds) }

// WeakHalves is the analysis of the times of halves of the nodes.
type WeakHalves struct {
	Node     int     // whose half was the slower one time and again; -1: none
	Excess   float64 // natural logarithm of how many times as long its half took, over its rounds
	Slow, Of int     // rounds in which its half was the slower one
	// Unclear reports that no single node explains the differences between halves: several nodes or links are weak.
	Unclear bool
	Spread  float64 // of the halves of a round: slower by faster, at most
}

// explained is the minimum share of the halves' squared differences that a single weak node must account for.
const explained = 0.6

// farBetter is how many times as large a single node leaves the rest (as squares) if a link explains the differences
// instead.
const farBetter = 3

// halves are rounds, and in which half each node is: 1 is the first, -1 the second, 0 neither.
type halves struct {
	rounds []HalfTimes
	sides  [][]float64
	all    float64 // squares of the differences
}

// of is how much longer the halves took that hold all of these nodes: the sum over rounds, in how many rounds, and in
// how many of these they were slower.
func (h *halves) of(nodes ...int) (sum float64, of, slow int) {
	for k, r := range h.rounds {
		side := h.sides[k][nodes[0]]
		if side == 0 || slices.ContainsFunc(nodes, func(i int) bool { return h.sides[k][i] != side }) {
			continue
		}
		of++
		if excess := side * r.Excess(); excess > 0 {
			sum, slow = sum+excess, slow+1
		} else {
			sum += excess
		}
	}
	return sum, of, slow
}

// linkInstead reports whether a link between two of n nodes explains the differences of the halves far better than a
// node does that leaves the rest: it makes a half slow where both of its nodes are in it, and none where they are
// apart.
func (h *halves) linkInstead(n int, rest float64) bool {
	for a := range n {
		for b := a + 1; b < n; b++ {
			sum, of, _ := h.of(a, b)
			if of > 1 && sum > 0 && farBetter*(h.all-sum*sum/float64(of)) < rest {
				return true
			}
		}
	}
	return false
}

// FindWeakHalf finds the one node among n that makes its half slow in every round; not where a link would explain it
// better. noise is the standard error of a time's logarithm.
func FindWeakHalf(n int, rounds []HalfTimes, noise float64) WeakHalves {
	h, largest := halves{rounds: rounds}, 0.0
	for _, r := range rounds {
		side := make([]float64, n)
		for _, i := range r.First {
			side[i] = 1
		}
		for _, i := range r.Second {
			side[i] = -1
		}
		d := r.Excess()
		h.sides, h.all, largest = append(h.sides, side), h.all+d*d, max(largest, math.Abs(d))
	}
	none := WeakHalves{Node: -1, Spread: math.Exp(largest)}
	best := none
	for i := range n {
		sum, of, slow := h.of(i)
		if excess := sum / float64(of); of > 1 && excess > best.Excess {
			best = WeakHalves{Node: i, Excess: excess, Slow: slow, Of: of, Spread: none.Spread}
		}
	}
	chance := nodeSigmas * math.Sqrt2 * noise // of a round's difference
	switch single := best.Excess * best.Excess * float64(best.Of); {
	case best.Node >= 0 && best.Excess > max(slowNode, chance/math.Sqrt(float64(best.Of))) &&
		single > explained*h.all && !h.linkInstead(n, h.all-single):
		return best
	case largest > max(2*slowNode, chance):
		none.Unclear = true
	}
	return none
}
