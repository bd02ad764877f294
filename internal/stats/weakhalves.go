package stats

import "math"

// HalfTimes are two halves of the nodes that were measured at the same time, in seconds. A node may be in neither.
type HalfTimes struct {
	First, Second               []int
	FirstSeconds, SecondSeconds float64
}

// Excess is the natural logarithm of how many times as long as the second half the first one took.
func (h HalfTimes) Excess() float64 { return math.Log(h.FirstSeconds / h.SecondSeconds) }

// side is 1 for a node of the first half, -1 for one of the second, 0 for others.
func (h HalfTimes) side(node int) float64 {
	for _, i := range h.First {
		if i == node {
			return 1
		}
	}
	for _, i := range h.Second {
		if i == node {
			return -1
		}
	}
	return 0
}

// WeakHalves is what times of halves say about the nodes.
type WeakHalves struct {
	Node     int     // whose half was the slower one time and again; -1: none
	Excess   float64 // natural logarithm of how many times as long its half took, over its rounds
	Slow, Of int     // rounds in which its half was the slower one
	// Unclear says that halves differ as no single node explains: several weak nodes, or links.
	Unclear bool
	Spread  float64 // of the halves of a round: slower by faster, at most
}

// explained is the least share of the halves' differences (as squares) that a single weak node accounts for.
const explained = 0.6

// farBetter is how many times as large a single node leaves the rest (as squares) if a link explains the differences
// instead.
const farBetter = 3

// linkInstead says whether a link between two of n nodes explains the differences of the halves far better than a node
// does that leaves the rest: it makes a half slow where both of its nodes are in it, and none where they are apart.
func linkInstead(n int, rounds []HalfTimes, rest float64) bool {
	sides, all := make([][]float64, len(rounds)), 0.0
	for k, h := range rounds {
		sides[k] = make([]float64, n)
		for _, i := range h.First {
			sides[k][i] = 1
		}
		for _, i := range h.Second {
			sides[k][i] = -1
		}
		all += h.Excess() * h.Excess()
	}
	for a := range n {
		for b := a + 1; b < n; b++ {
			sum, of := 0.0, 0
			for k, h := range rounds {
				if side := sides[k][a]; side != 0 && side == sides[k][b] {
					sum += side * h.Excess()
					of++
				}
			}
			if of > 1 && sum > 0 && farBetter*(all-sum*sum/float64(of)) < rest {
				return true
			}
		}
	}
	return false
}

// FindWeakHalf finds the one node among n that makes its half slow in every round; not where a link would explain it
// better. noise is the standard error of a time's logarithm.
func FindWeakHalf(n int, rounds []HalfTimes, noise float64) WeakHalves {
	w := WeakHalves{Node: -1}
	all, largest := 0.0, 0.0
	for _, h := range rounds {
		d := h.Excess()
		all += d * d
		largest = max(largest, math.Abs(d))
	}
	w.Spread = math.Exp(largest)
	best := WeakHalves{Node: -1}
	for i := range n {
		found := WeakHalves{Node: i, Spread: w.Spread}
		for _, h := range rounds {
			if side := h.side(i); side != 0 {
				found.Excess += side * h.Excess()
				found.Of++
				if side*h.Excess() > 0 {
					found.Slow++
				}
			}
		}
		if found.Of < 2 {
			continue
		}
		if found.Excess /= float64(found.Of); found.Excess > best.Excess {
			best = found
		}
	}
	chance := nodeSigmas * math.Sqrt2 * noise // of a round's difference
	switch single := best.Excess * best.Excess * float64(best.Of); {
	case best.Node >= 0 && best.Excess > max(slowNode, chance/math.Sqrt(float64(best.Of))) && single > explained*all &&
		!linkInstead(n, rounds, all-single):
		return best
	case largest > max(2*slowNode, chance):
		w.Unclear = true
	}
	return w
}
