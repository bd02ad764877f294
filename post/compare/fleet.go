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
	nights  [][]*side           // in order; the last is tonight's
	judged  map[string]bool     // nodes of tonight
	middles map[point][]float64 // medians of the fleet by night; 0 without one
	results []fleetResult       // the worst first
	nodes   []fleetResult       // the worst of each node
	tests   int
}

const (
	tonight    = "tonight" // is the night of the sides to judge
	wholeFleet = "(fleet)" // is in place of a node
)

// levels are, by night and node, the natural logarithms of a node's time over the median of the fleet in that night;
// of the whole fleet, of its median over that of earlier nights.
type levels []map[string]float64

// fleetResult is a block of sizes on a node.
type fleetResult struct {
	Node    string              `json:"node"`
	Verdict notice.FleetVerdict `json:"verdict"`
	Ratio   float64             `json:"ratio,omitempty"` // of times: to the fleet, or of what is slower to its history
	P       float64             `json:"p,omitempty"`     // times the number of tests
	Since   string              `json:"since,omitempty"` // of a slow node
	at      point               // the largest of the block
	levels  levels
}

// NewFleet judges the nodes of o.Args by all results there and in the folder baseline. The error of a wrong call is
// a usage.Error.
func NewFleet(ctx context.Context, o *Options, baseline string) (*Fleet, []notice.Notice, error) {
	if o.NoSteps = true; o.Divide || o.Base != "" {
		return nil, nil, usage.New(errors.New("--baseline excludes --by and --base"))
	}
	f, ids := &Fleet{Options: o, judged: map[string]bool{}}, map[string]bool{}
	var sides []*side
	var pool *side
	var last time.Time
	var notes []notice.Notice
	for i, args := range [][]string{o.Args, {baseline}} {
		data, passed, err := input.Merge(ctx, args, o.MergeOptions)
		if err != nil {
			return nil, nil, err
		}
		known := func(r *result.Run) bool { return ids[r.ID] || i == 1 && r.Start.After(last) }
		runs := slices.DeleteFunc(data.Runs(), known)
		if notes = append(notes, passed...); len(runs) == 0 {
			return nil, nil, usage.New(fmt.Errorf("%s has no runs before tonight's: name earlier ones", baseline))
		}
		if i == 0 {
			pool = newSide("", "", data, runs)
			last = pool.runs[len(runs)-1].Start
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
	notes = distinct(append(notes, found...))
	f.nights = units.GroupBy(sides, func(s *side) string { return s.letter }) // tonight's, then the oldest
	f.nights = append(f.nights[1:], f.nights[0])
	if f.judge(g.points); f.results == nil {
		return nil, nil, &result.NothingError{Problems: notes}
	}
	return f, notes, nil
}

// nodeOf names the node of a run, or the set of nodes.
func nodeOf(r *result.Run) string {
	if r.Nodes > 1 {
		return cmp.Or(r.Slurm["SLURM_STEP_NODELIST"], r.Machine.Host)
	}
	return r.Machine.Host
}

// night returns the levels of the nodes in the i-th night, each the median of a block of points that enough nodes have.
// Where too few of tonight have a point, nights before complete the fleet; else nodes without one that the last night
// before has are missing.
func (f *Fleet) night(block []point, i int) map[string]float64 {
	all, last := map[string][]float64{}, i == len(f.nights)-1
	for _, p := range block {
		times, had := map[string]float64{}, map[string]bool{}
		k := i
		for ; k == i || last && k >= 0 && len(times) > 0 && len(times) < stats.MinPeers; k-- {
			for _, s := range f.nights[k] {
				if t := medians(s.entries[p], seconds); len(t) > 0 && times[s.name] == 0 {
					times[s.name] = timesOf(t, nil).Time
				}
			}
		}
		few, m := len(times) < stats.MinPeers, stats.Median(slices.Collect(maps.Values(times)))
		for _, s := range f.nights[i] {
			had[s.name] = s.entries[p] != nil
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
		if k == i-1 { // not completed
			f.middles[p][i] = m
			for _, s := range f.nights[max(0, k)] {
				if last && s.entries[p] != nil && !had[s.name] {
					f.results = append(f.results, fleetResult{Node: s.name, Verdict: notice.MissingTonight, at: p})
				}
			}
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
	f.middles = map[point][]float64{}
	for _, p := range points {
		f.middles[p] = make([]float64, len(f.nights))
	}
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
			f.whole(block, l) // last: it is no peer
		}
	}
	for i := range f.results {
		f.decide(&f.results[i])
	}
	rank := func(r fleetResult) int { return slices.Index(notice.FleetVerdicts, r.Verdict) }
	slices.SortFunc(f.results, func(a, b fleetResult) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Ratio, a.Ratio), cmp.Compare(a.Node, b.Node),
			a.at.compare(b.at), cmp.Compare(a.P, b.P))
	})
	f.nodes = firsts(f.results, func(r fleetResult) any { return r.Node })
}

// whole adds the levels of the whole fleet, and its result where it is slower than before.
func (f *Fleet) whole(block []point, l levels) {
	for i := range l {
		var of []float64
		for _, p := range block {
			known := func(v float64) bool { return v > 0 }
			past := units.Where(f.middles[p][:len(l)-1], known)
			if m := f.middles[p][i]; m > 0 && len(past) >= minNights {
				of = append(of, math.Log(m/stats.Median(past)))
			}
		}
		if of != nil {
			l[i][wholeFleet] = stats.Median(of)
		}
	}
	if ratio := math.Exp(l[len(l)-1][wholeFleet]); ratio > 1+f.Limits.Margin {
		f.results = append(f.results, fleetResult{Node: wholeFleet, Verdict: notice.SlowerThanBefore, Ratio: ratio,
			at: block[len(block)-1], levels: l})
	}
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
	failed, worse := map[string]bool{}, map[string]bool{}
	for _, r := range f.results {
		if r.Verdict == notice.FailedTonight {
			failed[r.Node] = true
		} else if r.Since != "" && r.Ratio > 1+f.Limits.FailAbove {
			worse[r.Node] = true
		}
	}
	if f.Limits.FailAbove == 0 || len(worse)+len(failed) == 0 {
		return nil
	}
	e := &ExceededError{Worse: len(worse), Fail: len(failed), Of: "node"}
	if worse[wholeFleet] {
		e.Worse = len(f.judged)
	}
	return e
}
