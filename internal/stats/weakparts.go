package stats

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	// slowPart is the minimum excess of a suspect part: 8 %.
	slowPart = 0.08
	// partSigmas is the minimum deviation of a slow part in standard errors above the largest of as many normal values.
	partSigmas = 0.6
	// quarterError is the standard error of a lower quartile of normal values, times √n: √(p(1−p))/φ(z), p = 1/4.
	quarterError = 1.36
)

// Level is the number of the part, of one kind, that an end of a pair belongs to.
type Level func(end int) int

// FindWeakParts finds slow parts of levels, coarse ones first, and slow pairs beside them, among pairs that each met
// once, in O(n log n). A part is slow if the lower quartile of its pairs is significantly above the medium part's, so
// that most of its pairs are slow. The pairs of a slow part are evidence of nothing else. noise is as in FindWeakPairs.
func FindWeakParts(levels []Level, pairs []PairTime, noise float64) (w WeakPairs) {
	var all []*pair
	for _, p := range pairs {
		all = append(all, &pair{a: p.A, b: p.B, log: math.Log(p.Seconds)})
	}
	// Pairs of slow parts scatter, so the scatter of the others replaces it.
	scatter := scatterWithin(levels, all)
	for again := true; again; {
		var left []*pair
		w, left = findWeakParts(levels, all, max(noise, scatter))
		less := scatterWithin(levels, left)
		again, scatter = less > 0 && less < scatter/1.25 && scatter > noise, less
	}
	if scatter > max(slowLink, 3*noise) && len(w.Nodes)+len(w.Links) == 0 {
		low := lowQuarter(logs(all))
		for _, p := range all {
			if p.log-low > slowLink {
				w.Uneven++
			}
		}
	}
	return w
}

// findWeakParts returns the pairs of no slow part, too.
func findWeakParts(levels []Level, all []*pair, noise float64) (w WeakPairs, sound []*pair) {
	for _, p := range all {
		p.out = false
	}
	for _, level := range levels {
		var found []WeakNode
		found, w.Spread = weakParts(partsOf(level, all), noise)
		w.Nodes = append(w.Nodes, found...)
		all = slices.DeleteFunc(slices.Clone(all), func(p *pair) bool { return p.out })
	}
	times := logs(all)
	if len(times) == 0 {
		return w, all
	}
	base := Median(times)
	least := max(slowLink, (linkSigmas+math.Sqrt(2*math.Log(float64(len(times)))))*noise)
	for _, p := range all {
		if excess := p.log - base; excess > least && len(times) > 2 {
			w.Links = append(w.Links, WeakLink{p.a, p.b, excess})
		}
	}
	slices.SortStableFunc(w.Links, func(a, b WeakLink) int { return cmp.Compare(b.Excess, a.Excess) })
	if len(w.Links) > max(2, len(times)/16) {
		w.Uneven, w.Links = len(w.Links), nil
	}
	w.Base, w.PairSpread = math.Exp(base), span(times)
	return w, all
}

// partsOf are the pairs of each part of a level.
func partsOf(level Level, pairs []*pair) map[int][]*pair {
	of := map[int][]*pair{}
	for _, p := range pairs {
		a, b := level(p.a), level(p.b)
		if of[a] = append(of[a], p); b != a {
			of[b] = append(of[b], p)
		}
	}
	return of
}

// weakParts marks the pairs of weak parts as out. spread is that of the others' lower quartiles.
func weakParts(of map[int][]*pair, noise float64) (weak []WeakNode, spread float64) {
	center := map[int]float64{}
	for part, pairs := range of {
		center[part] = lowQuarter(logs(pairs))
	}
	parts := slices.SortedFunc(maps.Keys(of), func(a, b int) int {
		return cmp.Or(cmp.Compare(center[b], center[a]), cmp.Compare(a, b))
	})
	n := len(parts)
	if n < 2 {
		return nil, 0
	}
	base := center[parts[n/2]]
	sigmas := quarterError * (partSigmas + math.Sqrt(2*math.Log(float64(n))))
	for _, part := range parts[:n/2] {
		left := logs(slices.DeleteFunc(of[part], func(p *pair) bool { return p.out }))
		if len(left) == 0 {
			continue
		}
		w := WeakNode{Node: part, Excess: lowQuarter(left) - base, Of: len(left)}
		least := max(slowPart, sigmas*noise/math.Sqrt(float64(w.Of)), (Median(left)-base)/2) // a fast pair acquits it
		if w.Excess <= least {
			continue
		}
		for _, p := range of[part][:len(left)] {
			if p.out = true; p.log-base > w.Excess/2 {
				w.Slow++
			}
		}
		weak = append(weak, w)
		delete(center, part)
	}
	return weak, span(slices.Collect(maps.Values(center)))
}

// scatterWithin is the standard deviation of the pairs of parts around the medians of these, or of all if they are few.
// It is that of the level with the lesser: of four nodes, one that is slow is in half of the pairs of each rail.
func scatterWithin(levels []Level, all []*pair) float64 {
	least, overall := math.Inf(1), Median(logs(all))
	for _, level := range levels[:2] {
		var off []float64
		for _, pairs := range partsOf(level, all) {
			center, n := overall, float64(len(pairs))
			if n >= 4 {
				center = Median(logs(pairs))
			}
			for _, p := range pairs {
				off = append(off, (p.log-center)*math.Sqrt(n/max(1, n-1)))
			}
		}
		least = min(least, scale(off, scalePairs))
	}
	return least
}

func logs(pairs []*pair) (x []float64) {
	for _, p := range pairs {
		x = append(x, p.log)
	}
	return x
}

func lowQuarter(x []float64) float64 { return slices.Sorted(slices.Values(x))[(len(x)-1)/4] }
