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

// tonight is the night of the sides to judge.
const tonight = "tonight"

// levels are, by night and node, the natural logarithms of a node's time over the median of the fleet in that night.
type levels []map[string]float64

// fleetResult is the worst block of sizes of a table on a node.
type fleetResult struct {
	Node    string              `json:"node"`
	Verdict notice.FleetVerdict `json:"verdict"`
	Ratio   float64             `json:"ratio,omitempty"` // of times: to the fleet, or of what is slower to its history
	P       float64             `json:"p"`               // times the number of tests
	Since   string              `json:"since,omitempty"` // of a slow node
	at      point               // the largest of the block
	levels  levels
}

// NewFleet judges the nodes of o.Args by all results there and in the folder baseline. The error of a wrong call is
// a usage.Error.
func NewFleet(ctx context.Context, o *Options, baseline string) (*Fleet, []notice.Notice, error) {
	if o.NoSteps = true; o.Divide {
		return nil, nil, usage.New(errors.New("--baseline excludes --by"))
	}
	f, ids := &Fleet{Options: o, judged: map[string]bool{}}, map[string]bool{}
	var sides []*side
	var pool *side
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
		if i == 0 {
			pool = newSide("", "", data, runs)
		}
		key := func(r *result.Run) [2]string {
			if i == 0 {
				return [2]string{nodeOf(r), tonight}
			}
			return [2]string{nodeOf(r), r.Start.UTC().Format(time.DateOnly)}
		}
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
	// Nodes that differ in device or settings have no common fleet: partsOf finds these in the pool of tonight's runs.
	g, found, err := collectives.gather(ctx, append([]*side{pool}, sides...))
	if err != nil {
		return nil, nil, err
	}
	for _, data := range datasets(sides) {
		notes = append(notes, data.Notes()...)
	}
	f.nights = units.GroupBy(sides, func(s *side) string { return s.letter }) // tonight's, then the oldest
	f.nights = append(f.nights[1:], f.nights[0])
	f.judge(g.points)
	return f, distinct(append(notes, found...)), nil
}

// nodeOf names the node of a run, or the set of nodes.
func nodeOf(r *result.Run) string {
	if r.Nodes > 1 {
		return cmp.Or(r.Slurm["SLURM_STEP_NODELIST"], r.Machine.Host)
	}
	return r.Machine.Host
}

// night returns the levels of the nodes in the i-th night, each the median of a block of points that enough nodes have.
// Where too few of tonight have a point, nights before complete the fleet.
func (f *Fleet) night(block []point, i int) map[string]float64 {
	all, last := map[string][]float64{}, i == len(f.nights)-1
	for _, p := range block {
		times := map[string]float64{}
		for k := i; k == i || last && k >= 0 && len(times) > 0 && len(times) < stats.MinPeers; k-- {
			for _, s := range f.nights[k] {
				if t := medians(s.entries[p], seconds); len(t) > 0 && times[s.name] == 0 {
					times[s.name] = timesOf(t, nil).Time
				}
			}
		}
		few, m := len(times) < stats.MinPeers, stats.Median(slices.Collect(maps.Values(times)))
		for _, s := range f.nights[i] {
			r := fleetResult{Node: s.name, Verdict: notice.FailedTonight, at: p}
			if few {
				r.Verdict = notice.WithoutVerdict
			}
			bad, _ := shares(s.entries[p])
			if last && s.entries[p] != nil && (few || bad > 0) {
				f.results = append(f.results, r)
			}
		}
		if few {
			continue
		}
		for node, t := range times {
			all[node] = append(all[node], math.Log(t/m))
		}
	}
	one := map[string]float64{}
	for node, of := range all {
		one[node] = stats.Median(of)
	}
	return one
}

// judge finds the worst block of each table on each node. The Bonferroni correction is over all tests.
func (f *Fleet) judge(points []point) {
	for _, table := range units.GroupBy(points, point.table) {
		for block := range slices.Chunk(table, blockSize) {
			var l levels
			for i := range f.nights {
				l = append(l, f.night(block, i))
			}
			now, changes := l[len(l)-1], map[string]float64{}
			for node, v := range now {
				var past []float64
				for _, night := range l[:len(l)-1] {
					if v, known := night[node]; known {
						past = append(past, v)
					}
				}
				if len(past) >= minNights {
					changes[node] = v - stats.Median(past)
				}
			}
			for verdict, of := range map[notice.FleetVerdict]map[string]float64{
				notice.BelowFleet: now, notice.SlowerThanBefore: changes,
			} {
				for node, p := range stats.PeerTails(of) {
					if f.judged[node] {
						f.results, f.tests = append(f.results, fleetResult{Node: node, Verdict: verdict,
							Ratio: math.Exp(of[node]), P: p, at: block[len(block)-1], levels: l}), f.tests+1
					}
				}
			}
		}
	}
	for i := range f.results {
		f.decide(&f.results[i])
	}
	slices.SortFunc(f.results, func(a, b fleetResult) int {
		return cmp.Or(cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(b.Ratio, a.Ratio), cmp.Compare(a.Node, b.Node),
			a.at.compare(b.at), cmp.Compare(a.P, b.P))
	})
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

// decide sets whether what was tested is slow, and since when: the first night of those without a break with half of
// the excess.
func (f *Fleet) decide(r *fleetResult) {
	if r.levels == nil {
		return
	}
	now := r.levels[len(r.levels)-1][r.Node]
	if r.P = min(1, r.P*float64(f.tests)); r.P > f.alpha() || r.Ratio <= 1+f.Limits.Margin {
		r.Verdict, r.Ratio = notice.WithinFleet, math.Exp(now)
		return
	}
	for i, night := range slices.Backward(r.levels) {
		v, known := night[r.Node]
		if known && v < now-math.Log(r.Ratio)/2 {
			break
		}
		if known {
			r.Since = f.nights[i][0].letter
		}
	}
}

// Exceeded is the error of nodes that --fail-above does not allow.
func (f *Fleet) Exceeded() error {
	e := &ExceededError{Of: "node"}
	for _, r := range f.nodes {
		if r.Verdict == notice.FailedTonight {
			e.Fail++
		} else if r.Since != "" && r.Ratio > 1+f.Limits.FailAbove {
			e.Worse++
		}
	}
	if f.Limits.FailAbove == 0 || e.Worse+e.Fail == 0 {
		return nil
	}
	return e
}
