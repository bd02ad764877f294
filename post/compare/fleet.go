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
	nodes   []fleetResult   // the worst of each node
	tests   int
}

// tonight is the night of the sides to judge; it sorts behind all dates.
const tonight = "tonight"

// history is a node's nights before tonight, in order.
type history struct {
	nights []int
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
	at       point               // the largest of the block
	past     history
}

// CompareFleet judges the nodes of o.Args by all results there and in the folder baseline. The error of a wrong call is
// a usage.Error.
func CompareFleet(ctx context.Context, o *Options, baseline string) (*Fleet, []notice.Notice, error) {
	if o.NoSteps = true; o.Divide || o.Base != "" {
		return nil, nil, usage.New(errors.New("--baseline excludes --by and --base"))
	}
	f, ids := &Fleet{Options: o, judged: map[string]bool{}}, map[string]bool{}
	var sides []*side
	var notes []notice.Notice
	for i, args := range [][]string{o.Args, {baseline}} {
		data, passed, err := input.Merge(ctx, args, o.MergeOptions)
		if err != nil {
			return nil, nil, err
		}
		runs := slices.DeleteFunc(data.Runs(), func(r *result.Run) bool { return ids[r.ID] })
		if notes = append(notes, passed...); len(runs) == 0 {
			return nil, nil, usage.New(fmt.Errorf("%s has the same runs as tonight: name earlier ones", baseline))
		}
		key := func(r *result.Run) [2]string { return [2]string{nodeOf(r), nightOf(r, i == 0)} }
		for _, same := range units.GroupBy(runs, key) {
			s := newSide(key(same[0])[1], key(same[0])[0], data, same)
			if s.name == "" {
				return nil, nil, fmt.Errorf("no host is recorded in run %s: nodes need a name", same[0].ID)
			}
			if sides = append(sides, s); i == 0 {
				f.judged[s.name] = true
				maps.Copy(ids, s.ids)
			}
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
		notes = append(notes, data.Notes()...)
	}
	slices.SortStableFunc(sides, func(a, b *side) int { return cmp.Compare(a.letter, b.letter) })
	f.nights = units.GroupBy(sides, func(s *side) string { return s.letter })
	f.judge(g.points)
	return f, distinct(append(notes, found...)), nil
}

// nightOf is the date of a run in UTC.
func nightOf(r *result.Run, now bool) string {
	if now {
		return tonight
	}
	return r.Start.UTC().Format(time.DateOnly)
}

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
					times[s.name] = timesOf(t, nil).Time
				}
			}
		}
		add(f.nights[i])
		few := len(times) > 0 && len(times) < stats.MinPeers
		for k := i - 1; last && few && k >= 0; k-- {
			add(f.nights[k])
		}
		few = len(times) < stats.MinPeers
		for _, s := range f.nights[i] {
			r := fleetResult{Node: s.name, Verdict: notice.NoFleetVerdict, at: p}
			bad, _ := shares(s.entries[p])
			if bad > 0 && !few {
				r.Verdict = notice.FailedTonight
			}
			if last && s.entries[p] != nil && (few || bad > 0) {
				f.results = append(f.results, r)
			}
		}
		m := stats.Median(slices.Collect(maps.Values(times)))
		for node, t := range times {
			if !few {
				all[node] = append(all[node], math.Log(t/m))
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
	changes := map[string]float64{}
	for node, v := range now {
		if h := past[node].levels; len(h) >= minNights {
			changes[node] = v - stats.Median(h)
		}
	}
	tails, changed := stats.PeerTails(now), stats.PeerTails(changes)
	for node, p := range tails {
		r := fleetResult{Node: node, Ratio: math.Exp(now[node]), P: p, HistoryP: 1, at: at, past: past[node]}
		if !f.judged[node] {
			continue
		}
		if p, is := changed[node]; is {
			r.History, r.HistoryP, f.tests = math.Exp(changes[node]), p, f.tests+1
		}
		f.results, f.tests = append(f.results, r), f.tests+1
	}
}

// judge finds the worst block of each table on each node. The Bonferroni correction is over all tests.
func (f *Fleet) judge(points []point) {
	for _, table := range units.GroupBy(points, point.table) {
		for block := range slices.Chunk(table, blockSize) {
			past := map[string]history{}
			for i := range f.nights {
				now := f.levels(block, i)
				if i == len(f.nights)-1 {
					f.test(block[len(block)-1], now, past)
				}
				for node, v := range now {
					h := past[node]
					past[node] = history{append(h.nights, i), append(h.levels, v)}
				}
			}
		}
	}
	for i := range f.results {
		f.decide(&f.results[i])
	}
	slices.SortFunc(f.results, worst)
	f.results = firsts(f.results, func(r fleetResult) any { return [2]any{r.Node, r.at.table()} })
	f.nodes = firsts(f.results, func(r fleetResult) any { return r.Node })
}

// firsts are the first results of each key.
func firsts(all []fleetResult, key func(fleetResult) any) (one []fleetResult) {
	for _, same := range units.GroupBy(all, key) {
		one = append(one, same[0])
	}
	return one
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
		r.Since = f.nights[r.past.nights[i]][0].letter
	}
}

// excess is the ratio that the verdict is about.
func (r *fleetResult) excess() float64 {
	if r.Verdict == notice.SlowerThanBefore {
		return r.History
	}
	return r.Ratio
}

func worst(a, b fleetResult) int {
	return cmp.Or(cmp.Compare(a.Verdict.Rank(), b.Verdict.Rank()), cmp.Compare(b.excess(), a.excess()),
		cmp.Compare(a.Node, b.Node), a.at.compare(b.at))
}

// Exceeded is the error of nodes that --fail-above does not allow.
func (f *Fleet) Exceeded() error {
	e := &ExceededError{Of: "node"}
	for _, r := range f.nodes {
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
