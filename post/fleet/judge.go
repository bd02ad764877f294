package fleet

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/compare"
)

// MinNights is the minimum number of earlier nights for a history.
const MinNights = 3

// spread is how far the nodes lie apart. A level is the natural logarithm of a node's time over the median of all nodes
// in that night: the median of up to three neighbouring sizes, so that an outlier at one size has no effect.
type spread struct {
	groups [][]cell         // by size and night, of enough nodes each
	median map[cell]float64 // s, by size and night
	level  map[cell]float64
	past   map[cell]history // by size and node
	lent   map[string]bool  // nodes of the baseline that complete tonight's
}

// history is the levels before tonight, in order.
type history struct {
	nights []string
	levels []float64
}

// trial is one size of a curve on one node, tonight.
type trial struct {
	cell
	of            *times
	verdict       Verdict
	level, change float64 // change is to the median of the history; NaN: not tested
	p, pChange    float64
}

// Verdict is how a node compares.
type Verdict string

// The verdicts, the worst first.
const (
	Below     Verdict = "below"  // slower than the fleet
	Slower    Verdict = "slower" // than its own history
	Within    Verdict = "within"
	NoVerdict Verdict = "no-verdict"
)

var verdicts = []Verdict{Below, Slower, Within, NoVerdict}

// excess is by how much the node is slower than what the verdict refers to.
func (x *trial) excess() float64 {
	if x.verdict == Slower {
		return x.change
	}
	return x.level
}

// worst orders tests.
func worst(a, b trial) int {
	return cmp.Or(cmp.Compare(slices.Index(verdicts, a.verdict), slices.Index(verdicts, b.verdict)),
		cmp.Compare(b.excess(), a.excess()), cmp.Compare(a.node, b.node), cmp.Compare(a.size, b.size),
		cmp.Compare(a.of.title, b.of.title))
}

// cells are all of a curve, by size, night and node.
func (t *times) cells() []cell {
	return slices.SortedFunc(maps.Keys(t.seconds), func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.night, b.night), cmp.Compare(a.node, b.node))
	})
}

// lend adds the newest times of nodes that were not measured tonight, where tonight's are too few for a fleet.
func (t *times) lend(judged map[string]bool) {
	cells, n := t.cells(), map[int64]int{}
	for _, at := range cells {
		if at.night == tonight {
			n[at.size]++
		}
	}
	for _, at := range cells {
		if n[at.size] > 0 && n[at.size] < stats.MinPeers && !judged[at.node] {
			t.seconds[cell{at.size, tonight, at.node}], t.lent[at.node] = t.seconds[at], true
		}
	}
}

// spreadOut computes the levels.
func (t *times) spreadOut(judged map[string]bool) {
	t.spread = spread{median: map[cell]float64{}, level: map[cell]float64{}, past: map[cell]history{},
		lent: map[string]bool{}}
	t.lend(judged)
	for _, same := range units.GroupBy(t.cells(), func(at cell) cell { return cell{at.size, at.night, ""} }) {
		if len(same) >= stats.MinPeers {
			t.groups = append(t.groups, same)
		}
	}
	excess, sizes := map[cell]float64{}, []int64(nil)
	for _, same := range t.groups {
		var seconds []float64
		for _, at := range same {
			seconds = append(seconds, stats.Median(t.seconds[at]))
		}
		median := stats.Median(seconds)
		t.median[cell{same[0].size, same[0].night, ""}], sizes = median, append(sizes, same[0].size)
		for i, at := range same {
			excess[at] = math.Log(seconds[i] / median)
		}
	}
	sizes = slices.Compact(sizes)
	for _, same := range t.groups {
		i, _ := slices.BinarySearch(sizes, same[0].size)
		for _, at := range same {
			var near []float64
			for _, size := range sizes[max(0, i-1):min(len(sizes), i+2)] {
				if e, known := excess[cell{size, at.night, at.node}]; known {
					near = append(near, e)
				}
			}
			level := stats.Median(near)
			if t.level[at] = level; at.night != tonight {
				of := cell{at.size, "", at.node}
				h := t.past[of]
				t.past[of] = history{append(h.nights, at.night), append(h.levels, level)}
			}
		}
	}
}

// tests tests the nodes of tonight; n is how many tests these are.
func (t *times) tests(judged map[string]bool) (all []trial, n int) {
	for _, same := range t.groups {
		if same[0].night != tonight {
			continue
		}
		var levels, changes []float64
		var known []int
		for i, at := range same {
			levels = append(levels, t.level[at])
			if h := t.past[cell{at.size, "", at.node}]; len(h.levels) >= MinNights {
				known, changes = append(known, i), append(changes, levels[i]-stats.Median(h.levels))
			}
		}
		found := make([]trial, len(same))
		for i, p := range stats.PeerTails(levels) {
			found[i] = trial{cell: same[i], of: t, level: levels[i], p: p, change: math.NaN(), pChange: math.NaN()}
		}
		if len(changes) >= stats.MinPeers {
			for k, p := range stats.PeerTails(changes) {
				found[known[k]].change, found[known[k]].pChange = changes[k], p
			}
		}
		for _, x := range found {
			if judged[x.node] {
				if all, n = append(all, x), n+1; !math.IsNaN(x.change) {
					n++
				}
			}
		}
	}
	return all, n
}

// judge finds the worst size of each curve on each node. The Bonferroni correction is over all tests.
func (f *Fleet) judge() {
	var all []trial
	judged, curves := f.nodes[tonight], f.ordered()
	for _, t := range curves {
		t.spreadOut(judged)
		found, n := t.tests(judged)
		all, f.tests = append(all, found...), f.tests+n
		for at := range t.failed {
			if t.median[cell{at.size, tonight, ""}] > 0 {
				f.fails[at.node]++
			}
		}
	}
	type key struct {
		of   *times
		node string
	}
	best := map[key]trial{}
	limit, margin := f.alpha()/float64(f.tests), math.Log1p(f.Limits.Margin)
	for _, x := range all {
		switch {
		case x.p <= limit && x.level > margin:
			x.verdict = Below
		case x.pChange <= limit && x.change > margin:
			x.verdict = Slower
		default:
			x.verdict = Within
		}
		if old, is := best[key{x.of, x.node}]; !is || worst(x, old) < 0 {
			best[key{x.of, x.node}] = x
		}
	}
	for _, t := range curves {
		for _, at := range t.cells() {
			if k := (key{t, at.node}); at.night == tonight && judged[at.node] && best[k].of == nil {
				best[k] = trial{cell: at, of: t, verdict: NoVerdict, change: math.NaN(), pChange: math.NaN()}
			}
		}
	}
	for _, x := range slices.SortedFunc(maps.Values(best), worst) {
		f.results = append(f.results, f.result(x))
	}
}

func (f *Fleet) alpha() float64 {
	if f.Strict {
		return stats.StrictAlpha
	}
	return stats.DefaultAlpha
}

// since is the first night of those without a break that were as slow as tonight, by half of the excess.
func (x *trial) since() string {
	h, first := x.of.past[cell{x.size, "", x.node}], tonight
	for i := len(h.levels) - 1; i >= 0 && h.levels[i] >= x.level-x.excess()/2; i-- {
		first = h.nights[i]
	}
	return first
}

// Exceeded is the error of nodes that --fail-above does not allow.
func (f *Fleet) Exceeded() error {
	slow := map[string]bool{}
	for _, r := range f.results {
		if r.Exceeded {
			slow[r.Node] = true
		}
	}
	if f.Limits.FailAbove == 0 || len(slow)+len(f.fails) == 0 {
		return nil
	}
	return &compare.ExceededError{Worse: len(slow), Fail: len(f.fails), Of: "node"}
}
