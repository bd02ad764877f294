package analysis

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"

	"github.com/shoenig/test"
)

// ranksAre makes a rank the last to issue and one the slowest, by a share of the time.
func ranksAre(latest, slowest int, share float64) func(string, *result.Record) {
	return func(_ string, r *result.Record) {
		s := r.Time.Seconds
		r.Ranks = &result.Ranks{Slowest: slowest, SlowestHost: "n2", SlowestS: s * (1 + share), Latest: latest,
			LatestHost: "n2", Lateness: s * share, Uncertainty: 1e-9, Median: []float64{s, s, s, s * (1 + share)}}
	}
}

// inTurn edits the n-th record.
func inTurn(edit func(n int) func(string, *result.Record)) func(string, *result.Record) {
	n := 0
	return func(launch string, r *result.Record) { n++; edit(n)(launch, r) }
}

// without leaves out sizes of an edited sweep.
func without(from, to int64, edit func(string, *result.Record)) func(string, *result.Record) {
	return func(launch string, r *result.Record) {
		if edit(launch, r); r.SizeBytes >= from && r.SizeBytes <= to {
			r.Status = result.Skipped
		}
	}
}

// pathsOf is a step at 256 KiB, with the library's way before and after.
func pathsOf(before, after *result.Path) made {
	return edited(func(launch string, r *result.Record) {
		slower(256<<10, 1<<30, 1.6)(launch, r)
		if r.Path = before; r.SizeBytes >= 256<<10 {
			r.Path = after
		}
	})
}

// Healthy curves, and curves that do not show speed, have no finding.
func TestNoFindings(t *testing.T) {
	bad := slower(1<<20, 1<<20, 5)
	only[notice.Drop](t, edited(bad))
	step := func(factor, noise float64) []made {
		return []made{edited(slower(256<<10, 1<<30, factor), func(m *made) { m.noise = noise })}
	}
	warnedOnce := func(launch string, r *result.Record) {
		if launch == "launch-1" {
			r.Warnings = notice.Of(
				notice.FromText("drift within the case: the last third of the samples is +9.0 % from the first"))
		}
	}
	apart := sound().with(onNodes(16, 8, 0.5))
	for name, sweeps := range map[string][]made{
		"one":             {sound()},
		"launches":        {sound().with(launches(5))},
		"both placements": {sound(), sound().with(inPlace)},
		"two worlds":      {sound(), sound().with(onNodes(32, 4, 1))},
		"imported":        {sound().with(imported).with(func(m *made) { m.noise = 0.02 })},
		"simulated":       {edited(bad, func(m *made) { m.rehearsed = true })},
		"crowded":         {edited(bad, func(m *made) { m.crowded = true })},
		"wrong data": {edited(func(_ string, r *result.Record) {
			if r.SizeBytes == 1<<20 {
				r.Status, r.Time.Seconds = result.Wrong, 1
			}
		})},
		"a small step":                  step(1.05, 0.002),
		"a step within the scatter":     step(1.2, 0.05),
		"a drop without a size near it": {edited(without(1<<20, 3<<20, slower(4<<20, 8<<20, 1.5)))},
		"from one node to several":      {sound().with(onNodes(8, 1, 4)), sound()},
		"the same world on more nodes":  {sound(), apart},
		"two launches":                  {edited(inLaunch(1, 1.6), launches(2))},
		"launches at a few sizes by a little": {edited(func(launch string, r *result.Record) {
			if r.SizeBytes <= 512 {
				inLaunch(1, 1.3)(launch, r)
			}
		}, launches(4))},
		"a warning of one launch":        {edited(warnedOnce, launches(5))},
		"a little late":                  {edited(ranksAre(9, 3, 0.05))},
		"late by a hundredth of a batch": {edited(lateInBatch(0.2), broadcast)},
		"each rank in turn": {edited(inTurn(func(n int) func(string, *result.Record) {
			return ranksAre(n%16, n%16, 0.4)
		}))},
		"lateness below the clocks' error": {edited(func(_ string, r *result.Record) {
			r.Ranks = &result.Ranks{Latest: 2, Lateness: r.Time.Seconds, Uncertainty: 2 * r.Time.Seconds}
		})},
		"one of two ranks": {edited(inTurn(func(n int) func(string, *result.Record) {
			return ranksAre(min(1, n%5%3), 0, 0.4)
		}), onNodes(2, 2, 1))},
	} {
		for _, f := range foundIn(t, Options{}, sweeps...) {
			t.Errorf("%s: %s", name, f.Text())
		}
	}
	only[notice.PoorScaling](t, sound(), apart, apart.with(func(m *made) { m.world = 32 }))
}

func TestDrop(t *testing.T) {
	f, drop := only[notice.Drop](t, edited(slower(4<<20, 8<<20, 1.5)))
	if f.From != 4<<20 || f.To != 8<<20 || f.Severity != notice.Error || f.Weight < 0.3 || f.Weight > 0.36 ||
		f.At.Subject != "nccl, all_reduce float32 sum, out-of-place, throughput mode, 16 ranks on 2 nodes" ||
		f.At.From != 4<<20 || f.At.To != 8<<20 || f.Hints[0].Variable != "--algorithms" {
		t.Errorf("%+v", f)
	}
	if !closeTo(drop.Depth, 0.34, 0.01) || drop.Slower != 0 || drop.Sigma < 4 || len(drop.Beside) != 2 ||
		drop.Beside[0].Size != 2<<20 || drop.Beside[1].Size != 16<<20 || !drop.Once {
		t.Errorf("%+v", drop)
	}
	only[notice.Drop](t, edited(without(1<<20, 1<<20, slower(4<<20, 8<<20, 1.5))))
	// Small sizes are spoken of by their time.
	for factor, want := range map[float64]float64{1.5: 1.49, 30: 29.9} {
		if _, d := only[notice.Drop](t, edited(slower(1<<10, 1<<10, factor))); d.Depth != 0 ||
			!closeTo(
				d.Slower,
				want,
				want/200,
			) || d.At.Size != 1<<10 || !closeTo(d.At.Time, factor*19.967e-6, 1e-8*factor) {
			t.Errorf("%+v", d)
		}
	}
	f, spike := only[notice.Spike](t, edited(slower(4<<20, 4<<20, 0.6)))
	if f.Severity != notice.Info || f.From != 4<<20 || f.To != 4<<20 || spike.Depth < 0.08 {
		t.Errorf("%+v", f)
	}
}

// A change to a slower line is a protocol switch at its size, and to a faster line at the size before. The finding
// names the recorded algorithm.
func TestStep(t *testing.T) {
	tree, ring := &result.Path{Algorithm: "TREE", Protocol: "LL"}, &result.Path{Algorithm: "RING", Protocol: "SIMPLE"}
	for name, c := range map[string]struct {
		sweep     made
		severity  notice.Severity
		direction string
		factor    float64
		path      notice.PathChange
	}{
		"slower": {pathsOf(nil, nil), notice.Warning, "up", 1.6, notice.PathChange{}},
		"another way": {pathsOf(tree, ring), notice.Warning, "up", 1.6, notice.PathChange{
			Before: "TREE LL", After: "RING SIMPLE"}},
		"the same": {pathsOf(ring, ring), notice.Warning, "up", 1.6,
			notice.PathChange{Before: "RING SIMPLE", After: "RING SIMPLE"}},
		"by a fifth": {edited(slower(256<<10, 1<<30, 1.2)), notice.Warning, "up", 1.2, notice.PathChange{}},
		"by much":    {edited(slower(256<<10, 1<<30, 5)), notice.Warning, "up", 5, notice.PathChange{}},
		"faster":     {edited(slower(256<<10, 1<<30, 0.6)), notice.Info, "down", 1.6, notice.PathChange{}},
	} {
		f, s := only[notice.Switch](t, c.sweep)
		if f.From != 128<<10 || f.To != 256<<10 || f.Severity != c.severity || s.Direction != c.direction ||
			!closeTo(s.Factor, c.factor, 0.1) || s.Path != c.path {
			t.Errorf("%s: %s %+v", name, f.Severity, s)
		}
		test.EqOp(t, (c.path == notice.PathChange{}), slices.ContainsFunc(f.Hints,
			func(h Hint) bool { return h.Variable == "--algorithms" }), test.Sprint(name))
	}
}

func TestDecline(t *testing.T) {
	onCPUs := func(m *made) { m.backend, m.library, m.nodes, m.noise = "mpi", "Open MPI 4.1.4", 1, 0.02 }
	f, d := only[notice.Decline](t, edited(slower(64<<20+1, 1<<30, 2), onCPUs))
	if f.Severity != notice.Error || f.To != 1<<30 || d.Loss < 0.15 || d.Last.Size != 1<<30 ||
		d.Before.Size != 512<<20 {
		t.Errorf("%+v", f)
	}
	if len(f.Also) != 1 || f.Also[0].Code() != Step || f.Also[0].From != 64<<20 || f.Also[0].To != 128<<20 {
		t.Errorf("also %+v", f.Also)
	}
	contains(t, fmt.Sprint(f.Hints), "--rotate", "OMPI_MCA_coll_tuned_allreduce_algorithm")
	for name, sweep := range map[string]made{
		"within the scatter": edited(slower(256<<20, 1<<30, 1.1), func(m *made) { m.noise = 0.08 }),
		"of one size":        edited(slower(1<<30, 1<<30, 1.5)),
	} {
		lacks(t, Decline, name, sweep)
	}
}

func TestPlacementGap(t *testing.T) {
	f, gap := oneOfKind[notice.PlacementGap](t,
		foundIn(t, Options{}, sound(), edited(slower(1<<20, 16<<20, 1.4), inPlace)))
	if f.From != 1<<20 || f.To != 16<<20 || f.Curve.Placement != coll.InPlace || !closeTo(f.Weight, 0.285, 0.025) ||
		gap.Slower != "in-place" || gap.Faster != "out-of-place" || !closeTo(gap.Factor, 1.4, 0.1) ||
		!gap.Interval.Samples || !gap.Interval.Paired || gap.Interval.Lo < 1 {
		t.Errorf("%+v", f)
	}
	// Without confidence intervals a gap at one size is noise, and at several at most a warning.
	for sizes, want := range map[int64]int{1 << 20: 0, 16 << 20: 1} {
		got := 0
		for _, f := range foundIn(t, Options{}, sound().with(imported),
			edited(slower(1<<20, sizes, 1.6), inPlace, imported)) {
			if f.Code() == PlacementOf {
				got++
				if f.Severity == notice.Error {
					t.Errorf("serious without an interval: %s", f.Text())
				}
			}
		}
		if got != want {
			t.Errorf("up to %d bytes: %d findings, want %d", sizes, got, want)
		}
	}
}

// One launch's confidence interval does not include disturbances between cases: the placements must differ by more
// than that.
func TestPlacementGapOneLaunch(t *testing.T) {
	found := func(seed int, gap float64) bool {
		disturbed := func(m *made) {
			k := 1000*seed + 500*int(m.placement)
			m.noise = 0.002
			m.edit = func(l string, r *result.Record) {
				k++
				r.Time.Seconds *= math.Exp(0.05 * (wobble(k) + wobble(k+250)) / math.Sqrt2)
				if r.Placement == coll.InPlace {
					slower(1<<20, 16<<20, gap)(l, r)
				}
			}
		}
		return slices.ContainsFunc(
			foundIn(t, Options{}, sound().with(disturbed), sound().with(inPlace).with(disturbed)),
			func(f Finding) bool { return f.Code() == PlacementOf })
	}
	clean, differ := 0, 0
	for seed := range 50 {
		if found(seed, 1) {
			clean++
		}
		if found(seed, 1.4) {
			differ++
		}
	}
	if clean > 1 || differ < 43 {
		t.Errorf("%d of 50 clean pairs have a gap, and %d of 50 with one", clean, differ)
	}
}

func TestPoorScaling(t *testing.T) {
	large := func(world int, factor float64) made { return sound().with(onNodes(world, world/8, factor)) }
	f, s := only[notice.PoorScaling](t, sound(), large(32, 0.9), large(64, 0.6), large(128, 0.5))
	if f.Curve.World != 128 || f.Severity != notice.Error || f.From < 512<<10 || f.To != 1<<30 {
		t.Errorf("%+v", f)
	}
	if s.Smaller != "16 ranks on 2 nodes" || len(s.Others) != 1 || s.Others[0].World != "64 ranks on 8 nodes" ||
		s.OneNode {
		t.Errorf("a tenth, with 32 ranks, is too little to report: %+v", s)
	}
	lacks(t, Scaling, "half of the sizes", sound(), edited(slower(256<<20, 1<<30, 1.5), onNodes(32, 4, 1)))
}

func TestOutlierRanks(t *testing.T) {
	f, late := only[notice.LateRank](t, edited(ranksAre(9, 3, 0.4), broadcast))
	if f.Severity != notice.Error || late.Rank != 9 || !slices.Equal(late.Hosts, []string{"n2"}) ||
		late.Records != 28 || late.Of != 28 || !closeTo(late.Share, 0.4, 0.005) {
		t.Errorf("%+v", late)
	}
	f, slow := only[notice.SlowRank](t, edited(ranksAre(-1, 3, 0.4)))
	if f.Severity != notice.Warning || slow.Rank != 3 || !slices.Equal(slow.Hosts, []string{"n2"}) ||
		slow.Records != 28 || slow.Of != 28 {
		t.Errorf("%s %+v", f.Severity, slow)
	}
	// Another launch may lay a rank on another host.
	_, late = only[notice.LateRank](t, edited(inTurn(func(n int) func(string, *result.Record) {
		return func(l string, r *result.Record) {
			ranksAre(9, 3, 0.4)(l, r)
			r.Ranks.LatestHost = fmt.Sprint("n", n%3)
		}
	}), broadcast))
	if late.Rank != 9 || len(late.Hosts) != 3 || late.Records != 28 {
		t.Errorf("%+v", late)
	}
}

// lateInBatch makes a rank late by a share of one operation; in throughput mode 20 are issued back to back.
func lateInBatch(share float64) func(string, *result.Record) {
	return func(_ string, r *result.Record) {
		s := r.Time.Seconds
		if r.Mode == coll.Throughput {
			r.Time.Batch = 20
		}
		r.Ranks = &result.Ranks{Latest: 9, LatestHost: "n2", Lateness: s * share, Uncertainty: 1e-9,
			Median: []float64{s, s, s, s}}
	}
}

// Of operations issued back to back only the first is late. In latency mode each is, and that mode comes first.
func TestLateForABatch(t *testing.T) {
	for mode, c := range map[string]struct {
		sweeps []made
		share  float64
	}{
		"throughput": {[]made{edited(lateInBatch(8), broadcast)}, 0.4},
		"latency":    {[]made{edited(lateInBatch(0.2), broadcast), edited(lateInBatch(0.2), broadcast, latency)}, 0.2},
	} {
		f, late := only[notice.LateRank](t, c.sweeps...)
		if late.Mode != mode || f.Curve.Mode.String() != mode || late.Records != 28 ||
			!closeTo(late.Share, c.share, 0.005) {
			t.Errorf("%s: %+v", mode, late)
		}
	}
}

func TestWarnedPoints(t *testing.T) {
	f, p := only[notice.BimodalPoints](t, edited(func(_ string, r *result.Record) {
		if r.SizeBytes <= 1<<10 {
			r.Warnings = notice.Of(notice.FromText(
				"two modes: 20 us (60 % of samples) and 40 us (40 %); the median stands for one of them at most"))
		}
	}))
	if f.From != 8 || f.To != 1<<10 || f.Severity != notice.Warning || p.Points != 8 || p.Of != 28 ||
		!slices.Equal(p.Where, []string{"all_reduce, throughput mode, 8 B to 1 KiB (8 points)"}) {
		t.Errorf("%+v", f)
	}
}

// The difference between launches sets the severity. The slowest is named if it is an outlier; imported files may be
// of runs with different settings.
func TestVariation(t *testing.T) {
	inTurn := func(launch string, r *result.Record) {
		inLaunch(bits.Len64(uint64(r.SizeBytes))%4, 1.8)(launch, r)
	}
	for name, c := range map[string]struct {
		sweep    made
		severity notice.Severity
		factor   float64
		launch   string
		imported bool
	}{
		"a little": {edited(inLaunch(2, 1.3), launches(4)), notice.Info, 1.3, "launch-2", false},
		"more":     {edited(inLaunch(2, 1.6), launches(4)), notice.Warning, 1.6, "launch-2", false},
		"much":     {edited(inLaunch(2, 2.2), launches(4)), notice.Error, 2.2, "launch-2", false},
		"in turn":  {edited(inTurn, launches(4)), notice.Warning, 1.8, "", false},
		"imported": {edited(inLaunch(2, 3), launches(4), imported), notice.Warning, 3, "launch-2", true},
	} {
		f, v := only[notice.LaunchVariation](t, c.sweep)
		if f.Severity != c.severity || f.From != 8 || f.To != 1<<30 || v.Sizes != 28 || v.Of != 28 || v.Launches != 4 ||
			!closeTo(v.Factor, c.factor, 0.06*c.factor) || v.Launch != c.launch || v.SlowAt != 28 && c.launch != "" ||
			v.Imported != c.imported {
			t.Errorf("%s: %s %+v", name, f.Severity, v)
		}
	}
	lacks(t, Variation, "one size alone", edited(func(launch string, r *result.Record) {
		if r.SizeBytes == 4<<20 {
			inLaunch(2, 3)(launch, r)
		}
	}, launches(4)))
}

func TestBelowPeak(t *testing.T) {
	peak := func(gbps float64) Options {
		return Options{Ceiling: func(*Curve) Ceiling {
			return Ceiling{BusBW: gbps * 1e9, Fact: notice.PeakGiven{Text: "a link of so much"}}
		}}
	}
	f, b := onlyOf[notice.BelowPeak](t, foundIn(t, peak(450), sound()))
	if f.Severity != notice.Error || b.Peak != 450e9 || b.Share < 0.4 || b.Share >= 0.5 ||
		b.What != "given as --peak a link of so much" {
		t.Errorf("%+v", b)
	}
	// The largest bus bandwidth counts.
	_, b = oneOfKind[notice.BelowPeak](t, foundIn(t, peak(400), edited(slower(256<<20, 1<<30, 3))))
	if b.Best.Size != 128<<20 || b.Share < 0.4 {
		t.Errorf("%+v", b)
	}
	small := edited(without(32<<20+1, 1<<30, func(string, *result.Record) {}))
	if found := foundIn(t, peak(450), small, sound().with(latency)); found != nil {
		t.Errorf("of small sizes, and of single operations: %s", found[0].Text())
	}
	for _, gbps := range []float64{270, 200, 0} {
		if found := foundIn(t, peak(gbps), sound()); found != nil {
			t.Errorf("peak %g: %s", gbps, found[0].Text())
		}
	}
}

// The same drop in both placements and several operations is one finding.
func TestFindingsMerge(t *testing.T) {
	var sweeps []made
	for _, c := range []coll.Collective{coll.AllReduce, coll.AllGather, coll.ReduceScatter} {
		m := edited(slower(4<<20, 4<<20, 1.5), func(m *made) { m.collective = c })
		sweeps = append(sweeps, m, m.with(inPlace))
	}
	f, _ := only[notice.Drop](t, sweeps...)
	contains(t, fmt.Sprint(f.Evidence()), "all_gather", "reduce_scatter in-place", "1 more finding")
	seen := map[*Curve]bool{}
	for _, p := range f.Places() {
		seen[p.Curve] = true
		contains(t, p.At.Subject, p.Curve.Collective.String()+" float32")
		if p.From != 4<<20 || p.To != 4<<20 {
			t.Errorf("%+v", p)
		}
	}
	if len(seen) != 6 {
		t.Errorf("the places of six curves are %+v", f.Places())
	}
	// Bends at one size and from there far on are two causes.
	wide := edited(slower(1<<20, 8<<20, 1.5), func(m *made) { m.collective = coll.AllGather })
	test.EqOp(t, 2, len(foundIn(t, Options{}, edited(slower(1<<20, 1<<20, 1.5)), wide)))
	// A finding in both modes is reported for throughput mode, with the higher severity.
	f, _ = only[notice.Drop](t, edited(slower(4<<20, 8<<20, 1.3)), edited(slower(4<<20, 16<<20, 1.6), latency))
	if f.Curve.Mode != coll.Throughput || f.To != 8<<20 || f.Severity != notice.Error || f.Weight < 0.35 ||
		len(f.Also) != 1 || f.Also[0].Curve.Mode != coll.Latency || f.Also[0].From != 4<<20 || f.Also[0].To != 16<<20 {
		t.Errorf("%+v", f)
	}
}

// The most serious come first, and the rest is counted.
func TestOrderOfFindings(t *testing.T) {
	c := NewCollector()
	edited(func(l string, r *result.Record) {
		slower(64, 64, 1.25)(l, r)
		slower(16<<10, 16<<10, 0.4)(l, r)
		slower(1<<20, 1<<20, 1.9)(l, r)
		slower(64<<20, 64<<20, 1.5)(l, r)
	}).fill(c)
	found, left := Find(c.Curves(), Options{Most: 3})
	var from []int64
	for _, f := range found {
		from = append(from, f.From)
	}
	if !slices.Equal(from, []int64{1 << 20, 64 << 20, 64}) || left != 1 || found[0].Number != 1 {
		t.Errorf("%d left of %v", left, from)
	}
}

// Findings of one curve follow each other, the most severe first.
func TestFindingsOfACurveFollowEachOther(t *testing.T) {
	sound := func(c coll.Collective, edit func(string, *result.Record)) made {
		return edited(edit, func(m *made) { m.collective = c })
	}
	found := foundIn(t, Options{}, sound(coll.AllReduce, func(l string, r *result.Record) {
		slower(64, 64, 1.25)(l, r)
		slower(1<<20, 1<<20, 1.9)(l, r)
	}), sound(coll.Broadcast, slower(64<<20, 64<<20, 1.5)))
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%d %v %v", f.Number, f.Curve.Collective, f.Severity))
	}
	test.SliceEqOp(t, []string{"1 all_reduce error", "2 all_reduce warning", "3 broadcast error"}, got)
}

// A sweep of steps has hundreds of sizes: it takes as long as others, and broad findings are detected.
func TestManySizes(t *testing.T) {
	c := NewCollector()
	for i := int64(1); i <= 1000; i++ {
		row := rowOf("a", i<<20, 20e-6+float64(i<<20)/100e9)
		if i >= 400 && i < 460 {
			row.Record.Time.Seconds *= 1.5
		}
		c.Add(row)
	}
	found, _ := Find(c.Curves(), Options{})
	if f, _ := onlyOf[notice.Drop](t, found); f.From < 400<<20 || f.To >= 460<<20 || f.Weight < 0.3 {
		t.Errorf("%+v", f)
	}
}

// Two launches that agree are no sign; three are one.
func TestBeyondNeedsThreeLaunches(t *testing.T) {
	for _, c := range []struct {
		lo    float64
		basis stats.Basis
		n     int
		want  bool
	}{
		{1.4, stats.LaunchSpread, 2, false}, {1.4, stats.LaunchSpread, 3, true}, {0.9, stats.LaunchSpread, 3, false},
		{1.4, stats.WithinLaunch, 1, true}, {0, stats.NoBounds, 0, false},
	} {
		r := stats.Ratio{Value: 1.5, Lo: c.lo, Hi: 1.6, Basis: c.basis, N: c.n}
		test.EqOp(t, c.want, beyond(r), test.Sprint(r))
	}
}
