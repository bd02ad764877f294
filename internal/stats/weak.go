package stats

import (
	"cmp"
	"math"
	"slices"
)

// PairTime is what two nodes of n took for an operation among themselves, in seconds.
type PairTime struct {
	A, B    int // from 0
	Seconds float64
}

// WeakNode is a node whose pairs take longer than those of the other nodes.
type WeakNode struct {
	Node int
	// natural logarithm of how many times as long, over the median of its pairs with nodes that are not weak
	Excess   float64
	Slow, Of int // pairs that are slow, of how many with nodes that are not weak
}

// WeakLink is a pair that takes longer than others, of two nodes whose other pairs do not.
type WeakLink struct {
	A, B   int
	Excess float64 // natural logarithm of how many times as long as the median pair
}

// WeakPairs is what times of pairs say about the nodes.
type WeakPairs struct {
	Nodes  []WeakNode // the weakest first
	Links  []WeakLink // the slowest first
	Apart  bool       // the weak nodes are as fast as others among themselves: what leads to them is slow, not they
	Uneven int        // pairs that are slow, where they are too many to be links that are weak; Links is empty then
	Base   float64    // s, the median of the pairs of nodes that are not weak
	// Spread and PairSpread are how far the nodes that are not weak, and their pairs, lie apart: largest by smallest
	// time.
	Spread, PairSpread float64
}

const (
	// slowNode and slowLink are the least excess of a suspect: 5 % and 16 %. A pair has one time, a node the median of
	// several.
	slowNode = 0.05
	slowLink = 0.15
	// nodeSigmas is how many standard errors a node stands out by at least; a link by so many more than the largest
	// of as many normal values would.
	nodeSigmas = 3
	linkSigmas = 1.2
	// fastSigmas is how many standard errors below what a weak node's pairs take a pair of it is no slow one.
	fastSigmas = 3.5
	// scalePairs is the least number of pairs whose own scatter says how far one may lie off by chance.
	scalePairs = 10
)

// FindWeakPairs finds the nodes and links that are slow among n nodes, of which most are taken for sound. A pair is as
// slow as the slower of its nodes, or as its link; so a node is weak where the median of its pairs stands out among the
// medians of all nodes, and a link where its time stands out among pairs of nodes that are not weak. A node with a pair
// that is fast is not weak, however slow the others are. It works on logarithms, and takes the weakest node out before
// it looks for the next. Pairs may be missing. noise is the standard error of a time's logarithm as far as its own
// samples tell; where the pairs scatter by more, that counts. With fewer than three nodes there is nothing to compare,
// and it finds nothing.
func FindWeakPairs(n int, pairs []PairTime, noise float64) WeakPairs {
	m := newPairTable(n, pairs)
	m.noise = noise
	w := m.takeOut()
	for m.acquit(w.Nodes) {
		w = m.takeOut()
	}
	base := Median(m.times())
	w.Base = math.Exp(base)
	for i := range w.Nodes {
		w.Nodes[i] = m.against(w.Nodes[i].Node, base)
	}
	slices.SortFunc(w.Nodes, func(a, b WeakNode) int { return cmp.Compare(b.Excess, a.Excess) })
	w.Apart = m.apart(w.Nodes, base)
	for i, l := range w.Links {
		w.Links[i].Excess = m.log[l.A][l.B] - base
	}
	w.Links = slices.DeleteFunc(w.Links, func(l WeakLink) bool { return l.Excess < slowLink+2*w.excess(l.A, l.B) })
	slices.SortFunc(w.Links, func(a, b WeakLink) int { return cmp.Compare(b.Excess, a.Excess) })
	if len(w.Links) > max(2, n/4) {
		w.Uneven, w.Links = len(w.Links), nil
	}
	var centers []float64
	for i := range n {
		if x := m.of(i); len(x) > 0 && !m.weak[i] {
			centers = append(centers, lowMedian(x))
		}
	}
	w.Spread, w.PairSpread = span(centers), span(m.times())
	return w
}

// excess is that of the weaker of two nodes, 0 if neither is weak.
func (w *WeakPairs) excess(a, b int) (most float64) {
	for _, x := range w.Nodes {
		if x.Node == a || x.Node == b {
			most = max(most, x.Excess)
		}
	}
	return most
}

// pairTable holds the logarithms of pairs' times, for a < b; NaN where there is none.
type pairTable struct {
	n     int
	log   [][]float64
	weak  []bool   // nodes that are out
	out   [][]bool // pairs that are
	mixed []bool   // nodes with a pair that is fast: what is slow is some of their links
	noise float64
}

// takeOut takes out the weakest node or slowest link, time and again, until none stands out.
func (m *pairTable) takeOut() (w WeakPairs) {
	clear(m.weak)
	for i := range m.out {
		clear(m.out[i])
	}
	for len(w.Links) <= m.n {
		node, isNode := m.weakest()
		link, isLink := m.slowest()
		isNode = isNode && len(w.Nodes) < (m.n-1)/2
		if isLink && (!isNode || link.Excess > node.Excess) {
			m.out[link.A][link.B] = true
			w.Links = append(w.Links, link)
		} else if isNode {
			m.weak[node.Node] = true
			w.Nodes = append(w.Nodes, node)
		} else {
			break
		}
	}
	return w
}

// acquit finds nodes among the weak ones that have a fast pair with one that is not weak; it says whether there are
// any.
func (m *pairTable) acquit(weak []WeakNode) (found bool) {
	base := Median(m.times())
	for _, w := range weak {
		excess := m.against(w.Node, base).Excess
		fast := min(excess/2, excess-max(slowLink, fastSigmas*m.scatter(m.times())))
		for _, t := range m.of(w.Node) {
			if t-base < fast {
				m.mixed[w.Node], found = true, true
			}
		}
	}
	return found
}

// scatter is how far one of these times lies off by chance.
func (m *pairTable) scatter(x []float64) float64 { return max(m.noise, scale(x, scalePairs)) }

func newPairTable(n int, pairs []PairTime) *pairTable {
	m := &pairTable{n: n, log: make([][]float64, n), weak: make([]bool, n), out: make([][]bool, n),
		mixed: make([]bool, n)}
	for i := range m.log {
		m.out[i] = make([]bool, n)
		m.log[i] = slices.Repeat([]float64{math.NaN()}, n)
	}
	several := map[[2]int][]float64{}
	for _, p := range pairs {
		if p.Seconds > 0 {
			k := [2]int{min(p.A, p.B), max(p.A, p.B)}
			several[k] = append(several[k], math.Log(p.Seconds))
		}
	}
	for k, x := range several {
		m.log[k[0]][k[1]] = Median(x)
	}
	return m
}

// at is the time of a pair that is there and not out.
func (m *pairTable) at(a, b int) (log float64, ok bool) {
	a, b = min(a, b), max(a, b)
	return m.log[a][b], a != b && !m.out[a][b] && !math.IsNaN(m.log[a][b])
}

// times are those of pairs of nodes that are not weak, but for the nodes left out.
func (m *pairTable) times(without ...int) (x []float64) {
	for a := range m.n {
		for b := a + 1; b < m.n; b++ {
			if t, ok := m.at(a, b); ok && !m.weak[a] && !m.weak[b] && !slices.Contains(without, a) &&
				!slices.Contains(without, b) {
				x = append(x, t)
			}
		}
	}
	return x
}

// of are the times of a node's pairs with nodes that are not weak.
func (m *pairTable) of(node int) (x []float64) {
	for other := range m.n {
		if t, ok := m.at(node, other); ok && !m.weak[other] {
			x = append(x, t)
		}
	}
	return x
}

// centers are the nodes that are not weak, each by the median of its pairs.
func (m *pairTable) centers() map[int]float64 {
	center := map[int]float64{}
	for i := range m.n {
		if x := m.of(i); len(x) > 1 && !m.weak[i] {
			center[i] = lowMedian(x)
		}
	}
	return center
}

// weakest is the node that stands out most among those that are not weak yet, if any does.
func (m *pairTable) weakest() (found WeakNode, ok bool) {
	center := m.centers()
	for i := range m.n {
		c, there := center[i]
		if !there || len(center) < 3 || m.mixed[i] {
			continue
		}
		var others []float64
		for j, x := range center {
			if j != i {
				others = append(others, x)
			}
		}
		excess := c - Median(others)
		// The standard error of a median of k normal values is about 1.25 times that of their mean.
		if least := nodeSigmas * 1.25 * m.scatter(m.times(i)) / math.Sqrt(float64(len(m.of(i)))); excess > max(slowNode,
			least) && excess > found.Excess {
			found, ok = WeakNode{Node: i, Excess: excess}, true
		}
	}
	return found, ok
}

// against compares a weak node with the median of the sound pairs.
func (m *pairTable) against(node int, base float64) WeakNode {
	x := m.of(node)
	w := WeakNode{Node: node, Excess: Median(x) - base, Of: len(x)}
	for _, t := range x {
		if t-base > w.Excess/2 {
			w.Slow++
		}
	}
	return w
}

// apart says whether several weak nodes are fast among themselves.
func (m *pairTable) apart(weak []WeakNode, base float64) bool {
	found := false
	for i, a := range weak {
		for _, b := range weak[i+1:] {
			t, ok := m.at(a.Node, b.Node)
			if !ok {
				continue
			}
			if t-base > min(a.Excess, b.Excess)/2 {
				return false
			}
			found = true
		}
	}
	return found
}

// slowest is the pair that stands out most above what its nodes take with others, if any does.
func (m *pairTable) slowest() (found WeakLink, ok bool) {
	center, all := m.centers(), m.times()
	if m.n < 3 || len(all) < 2 {
		return found, false
	}
	base := Median(all)
	least := max(slowLink, (linkSigmas+math.Sqrt(2*math.Log(float64(len(all)))))*m.scatter(all))
	for a := range m.n {
		for b := a + 1; b < m.n; b++ {
			t, there := m.at(a, b)
			if !there || m.weak[a] || m.weak[b] {
				continue
			}
			usual := base
			for _, i := range []int{a, b} {
				if c, known := center[i]; known && !m.mixed[i] {
					usual = max(usual, c)
				}
			}
			if excess := t - usual; excess > least && excess > found.Excess {
				found, ok = WeakLink{a, b, excess}, true
			}
		}
	}
	return found, ok
}

// lowMedian is the lower of the two middle values where there are two: a link that is slow makes no node weak.
func lowMedian(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[(len(s)-1)/2]
}

// scale is the standard deviation of normal values, from the median of their distances to their median; 0 of fewer than
// least.
func scale(x []float64, least int) float64 {
	if len(x) < least {
		return 0
	}
	center, off := Median(x), make([]float64, len(x))
	for i, v := range x {
		off[i] = math.Abs(v - center)
	}
	return 1.4826 * Median(off)
}

// span is how many times the smallest the largest is; x are logarithms. 0 of fewer than two.
func span(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	return math.Exp(slices.Max(x) - slices.Min(x))
}
