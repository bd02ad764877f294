package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/input"
	"busbar/post/usage"
)

const (
	minNights = 3 // of a history
	blockSize = 3 // neighbouring sizes whose median is tested, so that an outlier at one size has no effect
)

// Fleet is the nodes of one night, compared with each other and with their own earlier nights. A side is a node, or a
// set of nodes, in a night: its letter is the date.
type Fleet struct {
	*Options
	nights  [][]*side       // in order; the last is tonight's
	judged  map[string]bool // nodes of tonight
	results []fleetResult   // the worst first
	tests   int
}

// history is a node's nights before tonight, in order.
type history struct {
	nights []string
	levels []float64 // natural logarithms of its time over the median of the fleet in that night
}

// fleetResult is the worst block of sizes of a table on a node. Ratios are of times.
type fleetResult struct {
	Node     string              `json:"node"`
	Verdict  notice.FleetVerdict `json:"verdict"`
	Ratio    float64             `json:"ratio,omitempty"`
	P        float64             `json:"p"` // times the number of tests, as is the next
	HistoryP float64             `json:"history_p"`
	History  float64             `json:"history_ratio,omitempty"`
	Since    string              `json:"since,omitempty"` // of a slow node
	at       point               // the largest of the block; nil without a verdict
	past     history
}

// CompareFleet judges the nodes of o.Args by all results there and in the folder baseline. The error of a wrong call is
// a usage.Error.
func CompareFleet(ctx context.Context, o *Options, baseline string) (*Fleet, []notice.Notice, error) {
	if o.NoSteps = true; o.Divide || o.Base != "" {
		return nil, nil, usage.New(errors.New("--baseline excludes --by and --base"))
	}
	f, ids, sides := &Fleet{Options: o, judged: map[string]bool{}}, map[string]bool{}, []*side(nil)
	var notes []notice.Notice
	for i, args := range [][]string{o.Args, {baseline}} {
		data, passed, err := input.Merge(ctx, args, o.MergeOptions)
		if err != nil {
			return nil, nil, err
		}
		runs := slices.DeleteFunc(data.Runs(), func(r *result.Run) bool { return ids[r.ID] })
		for _, same := range units.GroupBy(runs, func(r *result.Run) [2]string { return [2]string{nodeOf(r), night(r)} }) {
			s := newSide(night(same[0]), nodeOf(same[0]), data, same)
			if s.name == "" {
				return nil, nil, fmt.Errorf("no host is recorded in run %s: nodes need a name", same[0].ID)
			}
			if i == 0 {
				s.letter, f.judged[s.name] = tonight, true
				maps.Copy(ids, s.ids)
			}
			sides = append(sides, s)
		}
		if notes = append(notes, passed...); len(runs) == 0 {
			return nil, nil, usage.New(fmt.Errorf("%s has the same runs as tonight: name earlier ones", baseline))
		}
	}
	if err := refuseRehearsed(sides); err != nil && !o.IncludeRehearsed {
		return nil, nil, err
	}
	g, found, err := collectives.gather(ctx, sides)
	if err != nil {
		return nil, nil, err
	}
	for _, data := range datasets(sides) {
		found = append(found, data.Notes()...)
	}
	slices.SortStableFunc(sides, func(a, b *side) int { return cmp.Compare(a.letter, b.letter) })
	f.nights = units.GroupBy(sides, func(s *side) string { return s.letter })
	f.judge(g)
	return f, distinct(append(notes, found...)), nil
}

// tonight is the night of the sides to judge; it sorts behind all dates.
const tonight = "tonight"

func night(r *result.Run) string { return r.Start.UTC().Format(time.DateOnly) }

// nodeOf names the node of a run, or the set of nodes.
func nodeOf(r *result.Run) string {
	if r.Nodes > 1 && r.Machine.Host != "" {
		return cmp.Or(r.Slurm["SLURM_STEP_NODELIST"], fmt.Sprintf("%s+%d", r.Machine.Host, r.Nodes-1))
	}
	return r.Machine.Host
}

// levels are those of the nodes in the i-th night, each the median of a block of points that enough nodes have. Where
// too few of tonight have a point, the newest times of others complete the fleet.
func (f *Fleet) levels(block []point, i int) map[string]float64 {
	all, last := map[string][]float64{}, i == len(f.nights)-1
	for _, p := range block {
		times := map[string]float64{}
		add := func(of []*side) {
			for _, s := range of {
				if t := medians(s.entries[p], seconds); len(t) > 0 && times[s.name] == 0 {
					times[s.name] = stats.Median(slices.Collect(maps.Values(t)))
				}
			}
		}
		add(f.nights[i])
		few := len(times) > 0 && len(times) < stats.MinPeers
		for k := i - 1; last && few && k >= 0; k-- {
			add(f.nights[k])
		}
		if len(times) < stats.MinPeers {
			continue
		}
		m := stats.Median(slices.Collect(maps.Values(times)))
		for node, t := range times {
			all[node] = append(all[node], math.Log(t/m))
		}
		for _, s := range f.nights[i] {
			if bad, _ := shares(s.entries[p]); last && bad > 0 {
				f.results = append(f.results, fleetResult{Node: s.name, Verdict: notice.FailedTonight, at: p})
			}
		}
	}
	one := map[string]float64{}
	for node, levels := range all {
		one[node] = stats.Median(levels)
	}
	return one
}

// test tests the nodes of tonight at a block, by its levels and by how these changed.
func (f *Fleet) test(at point, now map[string]float64, past map[string]history) {
	nodes := slices.Sorted(maps.Keys(now))
	var levels, changes, changed []float64
	for _, node := range nodes {
		levels = append(levels, now[node])
		if h := past[node].levels; len(h) >= minNights {
			changes = append(changes, now[node]-stats.Median(h))
		}
	}
	if len(changes) >= stats.MinPeers {
		changed = stats.PeerTails(changes)
	}
	tails, k := stats.PeerTails(levels), 0
	for i, node := range nodes {
		r := fleetResult{Node: node, Ratio: math.Exp(levels[i]), P: tails[i], HistoryP: 1, at: at, past: past[node]}
		if changed != nil && len(r.past.levels) >= minNights {
			r.History, r.HistoryP, k = math.Exp(changes[k]), changed[k], k+1
		}
		if f.judged[node] {
			if f.results, f.tests = append(f.results, r), f.tests+1; r.History > 0 {
				f.tests++
			}
		}
	}
}

// judge finds the worst block of each table on each node. The Bonferroni correction is over all tests.
func (f *Fleet) judge(g *gathered) {
	for _, table := range units.GroupBy(g.points, point.table) {
		for block := range slices.Chunk(table, blockSize) {
			past := map[string]history{}
			for i, night := range f.nights {
				now := f.levels(block, i)
				if i == len(f.nights)-1 && len(now) > 0 {
					f.test(block[len(block)-1], now, past)
				}
				for node, v := range now {
					h := past[node]
					past[node] = history{append(h.nights, night[0].letter), append(h.levels, v)}
				}
			}
		}
	}
	best, tested := map[[2]any]fleetResult{}, map[string]bool{}
	for _, r := range f.results {
		f.decide(&r)
		tested[r.Node] = true
		k := [2]any{r.Node, r.at.table()}
		if old, is := best[k]; !is || worst(r, old) < 0 {
			best[k] = r
		}
	}
	for node := range f.judged {
		if !tested[node] {
			best[[2]any{node}] = fleetResult{Node: node, Verdict: notice.NoFleetVerdict}
		}
	}
	f.results = slices.SortedFunc(maps.Values(best), worst)
}

// decide sets the verdict of what was tested, and since when it is slow: the first night of those without a break with
// half of the excess.
func (f *Fleet) decide(r *fleetResult) {
	if r.Verdict != "" {
		return
	}
	r.P, r.HistoryP = min(1, r.P*float64(f.tests)), min(1, r.HistoryP*float64(f.tests))
	switch most := 1 + f.Limits.Margin; {
	case r.P <= f.alpha() && r.Ratio > most:
		r.Verdict = notice.BelowFleet
	case r.HistoryP <= f.alpha() && r.History > most:
		r.Verdict = notice.SlowerThanBefore
	default:
		r.Verdict = notice.WithinFleet
		return
	}
	r.Since = tonight
	for i, v := range slices.Backward(r.past.levels) {
		if v < math.Log(r.Ratio)-math.Log(r.excess())/2 {
			break
		}
		r.Since = r.past.nights[i]
	}
}

// excess is the ratio that the verdict is about.
func (r fleetResult) excess() float64 {
	if r.Verdict == notice.SlowerThanBefore {
		return r.History
	}
	return r.Ratio
}

func worst(a, b fleetResult) int {
	if order := cmp.Or(cmp.Compare(a.Verdict.Rank(), b.Verdict.Rank()), cmp.Compare(b.excess(), a.excess()),
		cmp.Compare(a.Node, b.Node)); order != 0 || a.at == nil {
		return order
	}
	return a.at.compare(b.at)
}

// alpha is the family-wise false-positive rate.
func (f *Fleet) alpha() float64 {
	if f.Strict {
		return stats.StrictAlpha
	}
	return stats.DefaultAlpha
}

// byNode are the worst results of each node.
func (f *Fleet) byNode() (all []fleetResult) {
	for _, of := range units.GroupBy(f.results, func(r fleetResult) string { return r.Node }) {
		all = append(all, of[0])
	}
	return all
}

// Exceeded is the error of nodes that --fail-above does not allow.
func (f *Fleet) Exceeded() error {
	e := &ExceededError{Of: "node"}
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
