package fleet

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/compare"
)

const (
	minNights = 3 // of a history
	blockSize = 3 // neighbouring sizes whose median is tested, so that an outlier at one size has no effect
)

// Result is the worst block of sizes of a curve on a node, as it is in the JSON. Ratios are of times; what is unknown
// is left out.
type Result struct {
	place                        // of the largest size
	Verdict  notice.FleetVerdict `json:"verdict"`
	Curve    string              `json:"curve"`
	Time     float64             `json:"time_s,omitempty"`
	Ratio    float64             `json:"ratio,omitempty"`
	P        float64             `json:"p"` // times the number of tests, as is the next
	HistoryP float64             `json:"history_p"`
	History  float64             `json:"history_ratio,omitempty"`
	Since    string              `json:"since,omitempty"`
	past     []value             // levels before tonight, in order
}

// excess is the ratio that the verdict is about.
func (r Result) excess() float64 {
	if r.Verdict == notice.SlowerThanBefore {
		return r.History
	}
	return r.Ratio
}

// worst orders results.
func worst(a, b Result) int {
	return cmp.Or(cmp.Compare(a.Verdict.Rank(), b.Verdict.Rank()), cmp.Compare(b.excess(), a.excess()),
		cmp.Compare(a.Node, b.Node), cmp.Compare(a.Curve, b.Curve), cmp.Compare(a.Size, b.Size))
}

// median is that of several values.
func median(all []value) float64 {
	var x []float64
	for _, v := range all {
		x = append(x, v.v)
	}
	return stats.Median(x)
}

// groups are the values at the same place, after blank has cleared a part of it.
func groups(all []value, blank func(*place)) [][]value {
	return units.GroupBy(all, func(v value) place {
		blank(&v.place)
		return v.place
	})
}

func anyNode(p *place) { p.Node = "" }

// medians are those of the values at the same place.
func medians(all []value) (one []value) {
	for _, same := range groups(all, func(*place) {}) {
		one = append(one, value{same[0].place, median(same)})
	}
	return one
}

// newest are, as times of tonight, the newest times of nodes that were not measured tonight, of sizes for which
// tonight's are too few for a fleet.
func (f *Fleet) newest(times []value) []value {
	n, lent := map[place]int{}, map[place]value{}
	for _, t := range slices.Backward(times) { // tonight's come first, then the newest
		node := t.Node
		if t.Node = ""; t.night == tonight {
			n[t.place]++
		} else if t.night = tonight; n[t.place] > 0 && n[t.place] < stats.MinPeers && !f.nodes[node] {
			if t.Node = node; lent[t.place].v == 0 {
				lent[t.place] = t
			}
		}
	}
	return slices.Collect(maps.Values(lent))
}

// levels are the levels of each node in each night by block of sizes, and which sizes have a fleet in a night.
func (f *Fleet) levels() (levels []value, fleet map[place]bool, times map[place]float64) {
	slices.SortStableFunc(f.times, func(a, b value) int { return cmp.Compare(a.night, b.night) })
	all := medians(f.times)
	all = append(all, f.newest(all)...)
	fleet, times = map[place]bool{}, map[place]float64{}
	sizes := map[int][]int64{}
	for _, t := range all {
		if sizes[t.of] = append(sizes[t.of], t.Size); t.night == tonight {
			times[t.place] = t.v
		}
	}
	for c, of := range sizes {
		slices.Sort(of)
		sizes[c] = slices.Compact(of)
	}
	for _, same := range groups(all, anyNode) {
		if len(same) < stats.MinPeers {
			continue
		}
		at, m := same[0].place, median(same)
		anyNode(&at)
		fleet[at] = true
		of := sizes[at.of]
		i, _ := slices.BinarySearch(of, at.Size)
		top := of[min(len(of), i/blockSize*blockSize+blockSize)-1]
		for _, t := range same {
			t.Size, t.v = top, math.Log(t.v/m)
			levels = append(levels, t)
		}
	}
	return medians(levels), fleet, times
}

// test tests the nodes at one block of sizes.
func (f *Fleet) test(now []value, past map[place][]value) (all []Result) {
	var levels, changes []float64
	var known []int
	for i, t := range now {
		h := past[t.place]
		levels, all = append(levels, t.v), append(all, Result{place: t.place, Ratio: math.Exp(t.v), past: h})
		if len(h) >= minNights {
			known, changes = append(known, i), append(changes, t.v-median(h))
		}
	}
	for i, p := range stats.PeerTails(levels) {
		all[i].P, all[i].HistoryP = p, 1
	}
	if len(changes) >= stats.MinPeers {
		for k, p := range stats.PeerTails(changes) {
			r := &all[known[k]]
			r.History, r.HistoryP = math.Exp(changes[k]), p
		}
	}
	return slices.DeleteFunc(all, func(r Result) bool { return !f.nodes[r.Node] })
}

// judge finds the worst sizes of each curve on each node. The Bonferroni correction is over all tests.
func (f *Fleet) judge() {
	levels, fleet, times := f.levels()
	past, all := map[place][]value{}, []Result(nil)
	for _, same := range groups(levels, anyNode) {
		if same[0].night == tonight {
			all = append(all, f.test(same, past)...)
			continue
		}
		for _, t := range same { // earlier nights come first
			k := t.place
			k.night = tonight
			past[k] = append(past[k], t)
		}
	}
	for _, r := range all {
		if f.tests++; r.History > 0 {
			f.tests++
		}
	}
	for _, t := range f.times {
		if t.night == tonight {
			all = append(all, Result{place: t.place, Verdict: notice.NoFleetVerdict})
		}
	}
	for _, at := range f.failed {
		r := Result{place: at, Verdict: notice.FailedTonight}
		if anyNode(&at); fleet[at] {
			all = append(all, r)
		}
	}
	best, titles := map[place]Result{}, f.titles()
	for _, r := range all {
		r.Curve, r.Time = titles[r.of], times[r.place]
		f.decide(&r)
		k := r.place
		k.Size = 0
		if old, is := best[k]; !is || worst(r, old) < 0 {
			best[k] = r
		}
	}
	f.results = slices.SortedFunc(maps.Values(best), worst)
}

// alpha is the family-wise false-positive rate.
func (f *Fleet) alpha() float64 {
	if f.Strict {
		return stats.StrictAlpha
	}
	return stats.DefaultAlpha
}

// decide sets the verdict of what was tested, and since when it is slow: the first night of those without a break with
// half of the excess.
func (f *Fleet) decide(r *Result) {
	if r.Verdict != "" {
		return
	}
	r.P, r.HistoryP = min(1, r.P*float64(f.tests)), min(1, r.HistoryP*float64(f.tests))
	switch alpha, most := f.alpha(), 1+f.Limits.Margin; {
	case r.P <= alpha && r.Ratio > most:
		r.Verdict = notice.BelowFleet
	case r.HistoryP <= alpha && r.History > most:
		r.Verdict = notice.SlowerThanBefore
	default:
		r.Verdict = notice.WithinFleet
		return
	}
	r.Since = tonight
	for _, v := range slices.Backward(r.past) {
		if v.v < math.Log(r.Ratio)-math.Log(r.excess())/2 {
			break
		}
		r.Since = v.night
	}
}

// Exceeded is the error of nodes that --fail-above does not allow.
func (f *Fleet) Exceeded() error {
	e := &compare.ExceededError{Of: "node"}
	for _, r := range f.byNode() {
		if r.Verdict == notice.FailedTonight {
			e.Fail++
		} else if r.Since != "" && r.excess() > 1+f.Limits.FailAbove {
			e.Worse++
		}
	}
	if f.Limits.FailAbove == 0 || e.Worse+e.Fail == 0 {
		return nil
	}
	return e
}

// byNode are the worst results of each node.
func (f *Fleet) byNode() (all []Result) {
	for _, of := range units.GroupBy(f.results, func(r Result) string { return r.Node }) {
		all = append(all, of[0])
	}
	return all
}
