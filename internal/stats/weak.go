package stats

import (
	"cmp"
	"maps"
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

// WeakPairs is the analysis of the times of pairs of nodes.
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
	// slowNode and slowLink are the minimum excess of a suspect: 5 % and 16 %. A pair has one time, a node the median
	// of several.
	slowNode = 0.05
	slowLink = 0.15
	// nodeSigmas is the minimum deviation of a slow node in standard errors; a link must exceed the largest of as many
	// normal values by it.
	nodeSigmas = 3
	linkSigmas = 1.2
	// fastSigmas is how many standard errors below what a weak node's pairs take a pair of it is no slow one.
	fastSigmas = 3.5
	// scalePairs is the minimum number of pairs for an estimate of their scatter.
	scalePairs = 10
)

// FindWeakPairs finds the slow nodes and links among n nodes; it assumes that most are healthy. A pair is as slow as
// the slower of its nodes, or as its link. So a node is weak where the median of its pairs is significantly above the
// medians of all nodes, and a link where its time is significantly above pairs of nodes that are not weak. A node with
// one fast pair is not weak. It works on logarithms, and takes out the weakest node before it searches for the next.
// Pairs may be missing; none comes twice. noise is the standard error of a time's logarithm from its own samples; a
// larger scatter between pairs replaces it. With fewer than three nodes it finds nothing.
func FindWeakPairs(n int, pairs []PairTime, noise float64) (w WeakPairs) {
	m := newPairTable(n, pairs, noise)
	nodes, links := m.takeOut()
	for m.acquit(nodes) {
		nodes, links = m.takeOut()
	}
	base := Median(m.sound())
	w.Base = math.Exp(base)
	for _, i := range nodes {
		w.Nodes = append(w.Nodes, m.against(i, base))
	}
	slices.SortFunc(w.Nodes, func(a, b WeakNode) int { return cmp.Compare(b.Excess, a.Excess) })
	w.Apart = m.apart(w.Nodes, base)
	for _, p := range links {
		if excess := p.log - base; excess >= slowLink+2*w.excess(p) {
			w.Links = append(w.Links, WeakLink{p.a, p.b, excess})
		}
	}
	slices.SortFunc(w.Links, func(a, b WeakLink) int { return cmp.Compare(b.Excess, a.Excess) })
	if len(w.Links) > max(2, n/4) {
		w.Uneven, w.Links = len(w.Links), nil
	}
	w.Spread, w.PairSpread = span(slices.Collect(maps.Values(m.centers()))), span(m.sound())
	return w
}

// excess is that of the weaker node of a pair, 0 if neither is weak.
func (w *WeakPairs) excess(p *pair) (most float64) {
	for _, x := range w.Nodes {
		if p.has(x.Node) {
			most = max(most, x.Excess)
		}
	}
	return most
}

// pair is the logarithm of the time of nodes a < b.
type pair struct {
	a, b int
	log  float64
	out  bool // a weak link
}

func (p *pair) has(node int) bool { return p.a == node || p.b == node }

// pairTable holds the pairs that were measured.
type pairTable struct {
	n     int
	pairs []*pair
	weak  []bool // nodes that are out
	mixed []bool // nodes with a pair that is fast: what is slow is some of their links
	noise float64
}

func newPairTable(n int, pairs []PairTime, noise float64) *pairTable {
	m := &pairTable{n: n, weak: make([]bool, n), mixed: make([]bool, n), noise: noise}
	for _, p := range pairs {
		if p.Seconds > 0 && p.A != p.B {
			m.pairs = append(m.pairs, &pair{a: min(p.A, p.B), b: max(p.A, p.B), log: math.Log(p.Seconds)})
		}
	}
	return m
}

// takeOut takes out the weakest node or slowest link, until none is significant.
func (m *pairTable) takeOut() (nodes []int, links []*pair) {
	clear(m.weak)
	for _, p := range m.pairs {
		p.out = false
	}
	for len(links) <= m.n {
		node, nodeExcess := m.weakest()
		link, linkExcess := m.slowest()
		isNode := node >= 0 && len(nodes) < (m.n-1)/2
		switch {
		case link != nil && (!isNode || linkExcess > nodeExcess):
			link.out, links = true, append(links, link)
		case isNode:
			m.weak[node], nodes = true, append(nodes, node)
		default:
			return nodes, links
		}
	}
	return nodes, links
}

// acquit finds nodes among the weak ones that have a fast pair with one that is not weak, and reports whether there are
// any.
func (m *pairTable) acquit(weak []int) (found bool) {
	sound := m.sound()
	base, scatter := Median(sound), m.scatter(sound)
	for _, i := range weak {
		excess := m.against(i, base).Excess
		fast := min(excess/2, excess-max(slowLink, fastSigmas*scatter))
		if slices.ContainsFunc(m.of(i), func(t float64) bool { return t-base < fast }) {
			m.mixed[i], found = true, true
		}
	}
	return found
}

// scatter is the standard deviation of the noise of one of these times.
func (m *pairTable) scatter(x []float64) float64 { return max(m.noise, scale(x, scalePairs)) }

// times are those of the pairs that are picked, without weak links.
func (m *pairTable) times(picked func(*pair) bool) (x []float64) {
	for _, p := range m.pairs {
		if !p.out && picked(p) {
			x = append(x, p.log)
		}
	}
	return x
}

func (m *pairTable) isSound(p *pair) bool { return !m.weak[p.a] && !m.weak[p.b] }

// sound are the times of pairs of nodes that are not weak.
func (m *pairTable) sound() []float64 { return m.times(m.isSound) }

// of are the times of a node's pairs with nodes that are not weak.
func (m *pairTable) of(node int) []float64 {
	return m.times(func(p *pair) bool { return p.has(node) && !m.weak[p.a+p.b-node] })
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

// weakest is the most significant node that is not yet weak, or −1.
func (m *pairTable) weakest() (node int, most float64) {
	node = -1
	center := m.centers()
	if len(center) < 3 {
		return node, 0
	}
	for i, c := range center {
		if m.mixed[i] {
			continue
		}
		others := maps.Clone(center)
		delete(others, i)
		excess := c - Median(slices.Collect(maps.Values(others)))
		scatter := m.scatter(m.times(func(p *pair) bool { return m.isSound(p) && !p.has(i) }))
		// The standard error of a median of k normal values is about 1.25 times that of their mean.
		least := nodeSigmas * 1.25 * scatter / math.Sqrt(float64(len(m.of(i))))
		if excess > max(slowNode, least) && (excess > most || excess == most && i < node) {
			node, most = i, excess
		}
	}
	return node, most
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

// apart reports whether several weak nodes are fast among themselves.
func (m *pairTable) apart(weak []WeakNode, base float64) bool {
	excess := map[int]float64{}
	for _, w := range weak {
		excess[w.Node] = w.Excess
	}
	found := false
	for _, p := range m.pairs {
		if m.weak[p.a] && m.weak[p.b] && !p.out {
			if p.log-base > min(excess[p.a], excess[p.b])/2 {
				return false
			}
			found = true
		}
	}
	return found
}

// slowest is the pair most above what its nodes take with others, or nil.
func (m *pairTable) slowest() (link *pair, most float64) {
	center, all := m.centers(), m.sound()
	if m.n < 3 || len(all) < 2 {
		return nil, 0
	}
	base := Median(all)
	most = max(slowLink, (linkSigmas+math.Sqrt(2*math.Log(float64(len(all)))))*m.scatter(all))
	for _, p := range m.pairs {
		if p.out || !m.isSound(p) {
			continue
		}
		usual := base
		for _, i := range []int{p.a, p.b} {
			if c, known := center[i]; known && !m.mixed[i] {
				usual = max(usual, c)
			}
		}
		if excess := p.log - usual; excess > most {
			link, most = p, excess
		}
	}
	return link, most
}

// lowMedian is the lower of the two middle values where there are two: a link that is slow makes no node weak.
func lowMedian(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[(len(s)-1)/2]
}

// scale is the standard deviation of normal values, from the median of their distances to their median; 0 for too few
// values.
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
