package analysis

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
)

func TestNothingIsFoundInSoundCurves(t *testing.T) {
	worlds := func(m *made) { m.world, m.nodes = 32, 4 }
	in := func(m *made) { m.placement = coll.InPlace }
	for name, sweeps := range map[string][]made{
		"one":             {sound()},
		"launches":        {sound().with(func(m *made) { m.launches = 5 })},
		"both placements": {sound(), sound().with(in)},
		"two worlds":      {sound(), sound().with(worlds)},
		"imported":        {sound().with(func(m *made) { m.imported, m.interval, m.noise = true, false, 0.02 })},
	} {
		for _, f := range foundIn(t, Options{}, sweeps...) {
			t.Errorf("%s: %s", name, f.Says)
		}
	}
}

// What says nothing about speed has no finding about speed, however bad its figures look.
func TestNothingIsSaidOfWhatIsNotToBeTrusted(t *testing.T) {
	bad := sound().with(func(m *made) { m.edit = slower(1<<20, 1<<20, 5) })
	only(t, foundIn(t, Options{}, bad), Drop)
	for name, change := range map[string]func(*made){
		"rehearsed": func(m *made) { m.rehearsed = true },
		"crowded":   func(m *made) { m.crowded = true },
		"wrong data": func(m *made) {
			m.edit = func(_ string, r *result.Record) {
				if r.SizeBytes == 1<<20 {
					r.Status, r.Time.Seconds = result.Wrong, 1
				}
			}
		},
	} {
		for _, f := range foundIn(t, Options{}, bad.with(change)) {
			t.Errorf("%s: %s", name, f.Says)
		}
	}
}

func TestDrop(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(4<<20, 8<<20, 1.5) })), Drop)
	if f.From != 4<<20 || f.To != 8<<20 || f.Severity != Serious || f.Weight < 0.3 || f.Weight > 0.36 {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "nccl, all_reduce float32 sum, out-of-place, throughput mode, 16 ranks on 2 nodes: from 4 MiB to 8 MiB bandwidth lies 34 % below")
	contains(t, fmt.Sprint(f.Evidence), "standard errors", "2 MiB: ", "16 MiB: ", "one launch")
	if len(f.Hints) == 0 || f.Hints[0].Variable != "--path" {
		t.Errorf("%+v", f.Hints)
	}
}

// With no size near it, what stands out may as well be the next law.
func TestDropFarFromOthers(t *testing.T) {
	slow := slower(4<<20, 8<<20, 1.5)
	for _, gone := range []int64{1, 2} {
		edit := func(launch string, r *result.Record) {
			if slow(launch, r); r.SizeBytes>>20 >= 1 && r.SizeBytes>>20 <= gone {
				r.Status = result.Skipped
			}
		}
		found := foundIn(t, Options{}, sound().with(func(m *made) { m.edit = edit }))
		if want := 2 - int(gone); len(found) != want {
			t.Errorf("%d sizes of %d gone: %d findings, want %d", gone, 2, len(found), want)
		}
	}
}

func TestSpikeIsANote(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(4<<20, 4<<20, 0.6) })), Spike)
	if f.Severity != Note {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "at 4 MiB bandwidth lies", "above")
}

// A law that goes over into a slower one is a step, with the library's way where it tells.
func TestStep(t *testing.T) {
	way := func(_ string, r *result.Record) {
		r.Path = &result.Path{Algorithm: "TREE", Protocol: "LL"}
		if r.SizeBytes >= 256<<10 {
			r.Time.Seconds *= 1.6
			r.Path = &result.Path{Algorithm: "RING", Protocol: "SIMPLE"}
		}
	}
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = way })), Step)
	if f.From != 128<<10 || f.To != 256<<10 || f.Severity != Warning {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "between 128 KiB and 256 KiB time grows by a factor of 1.6", "just after it")
	contains(t, fmt.Sprint(f.Evidence), "goes TREE LL before and RING SIMPLE after")
	for _, h := range f.Hints {
		if h.Variable == "--path" {
			t.Error("the way is recorded, and --path is hinted at")
		}
	}
}

// A law that goes over into a faster one is slow just before it. Jumps are told from a tenth on, and where they stand out of the scatter.
func TestWhichStepsAreTold(t *testing.T) {
	step := func(factor, noise float64) made {
		return sound().with(func(m *made) { m.noise, m.edit = noise, slower(256<<10, 1<<30, factor) })
	}
	f := only(t, foundIn(t, Options{}, step(0.6, 0.01)), Step)
	if f.Severity != Note {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "time falls by a factor of 1.6", "just before it")
	f = only(t, foundIn(t, Options{}, step(5, 0.01)), Step)
	if f.Severity != Warning {
		t.Errorf("a step is no more than a warning: %+v", f)
	}
	only(t, foundIn(t, Options{}, step(1.2, 0.01)), Step)
	for _, small := range []made{step(1.05, 0.002), step(1.2, 0.05)} {
		for _, f := range foundIn(t, Options{}, small) {
			t.Errorf("scatter of %v: %s", small.noise, f.Says)
		}
	}
}

// What is said of the library's way at a step is what the library told.
func TestWaysAtAStep(t *testing.T) {
	same := sound().with(func(m *made) {
		m.edit = func(launch string, r *result.Record) {
			slower(256<<10, 1<<30, 1.6)(launch, r)
			r.Path = &result.Path{Algorithm: "RING", Protocol: "SIMPLE"}
		}
	})
	contains(t, fmt.Sprint(only(t, foundIn(t, Options{}, same), Step).Evidence), "goes the same way on both sides, RING SIMPLE")
	unknown := sound().with(func(m *made) { m.edit = slower(256<<10, 1<<30, 1.6) })
	contains(t, fmt.Sprint(only(t, foundIn(t, Options{}, unknown), Step).Evidence), "a guess from the times; rank --path records it.")
	unknown.imported = true
	contains(t, fmt.Sprint(only(t, foundIn(t, Options{}, unknown), Step).Evidence), "a guess from the times.")
}

// A decline stands out of the scatter of its curve.
func TestDeclineWithinTheScatter(t *testing.T) {
	for _, f := range foundIn(t, Options{}, sound().with(func(m *made) { m.noise, m.edit = 0.08, slower(256<<20, 1<<30, 1.1) })) {
		if f.Kind == Decline {
			t.Errorf("%s", f.Says)
		}
	}
}

func TestDecline(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) {
		m.backend, m.library, m.nodes, m.noise = "mpi", "Open MPI 4.1.4", 1, 0.02
		m.edit = func(_ string, r *result.Record) {
			if over := float64(r.SizeBytes) / (64 << 20); over > 1 {
				r.Time.Seconds *= 2
			}
		}
	})), Decline)
	if f.Severity != Serious || f.To != 1<<30 {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "does not stay at its largest")
	contains(t, fmt.Sprint(f.Evidence), "Also there: between 64 MiB and 128 MiB time grows")
	contains(t, fmt.Sprint(f.Hints), "--rotate", "OMPI_MCA_coll_tuned_allreduce_algorithm")
}

func TestPlacementGap(t *testing.T) {
	slow := sound().with(func(m *made) { m.placement, m.edit = coll.InPlace, slower(1<<20, 16<<20, 1.4) })
	var gaps []Finding
	for _, f := range foundIn(t, Options{}, sound(), slow) {
		if f.Kind == PlacementOf {
			gaps = append(gaps, f)
		}
	}
	f := only(t, gaps, PlacementOf)
	if f.From != 1<<20 || f.To != 16<<20 || f.Curve.Placement != coll.InPlace || f.Weight < 0.26 || f.Weight > 0.31 {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "in-place takes up to 1.4", "times as long as out-of-place", "95 % interval", "within one launch")
}

// Without intervals a gap at one size is chance.
func TestPlacementGapWithoutIntervals(t *testing.T) {
	alone := func(m *made) { m.interval, m.imported = false, true }
	for sizes, want := range map[int64]bool{1 << 20: false, 16 << 20: true} {
		slow := sound().with(alone).with(func(m *made) { m.placement, m.edit = coll.InPlace, slower(1<<20, sizes, 1.6) })
		got := false
		for _, f := range foundIn(t, Options{}, sound().with(alone), slow) {
			if got = got || f.Kind == PlacementOf; f.Severity == Serious && f.Kind == PlacementOf {
				t.Errorf("serious without an interval: %s", f.Says)
			}
		}
		if got != want {
			t.Errorf("up to %d bytes: found %v, want %v", sizes, got, want)
		}
	}
}

// An interval of one launch knows nothing of what disturbs one case and not the next: both placements must differ by more than that.
func TestPlacementGapWithinOneLaunch(t *testing.T) {
	rough := func(seed int, gap float64) []Finding {
		disturbed := func(m *made) {
			k := 1000*seed + 500*int(m.placement)
			factor := slower(1<<20, 16<<20, gap)
			m.noise = 0.002
			m.edit = func(l string, r *result.Record) {
				k++
				r.Time.Seconds *= math.Exp(0.05 * (wobble(k) + wobble(k+250)) / math.Sqrt2)
				if r.Placement == coll.InPlace {
					factor(l, r)
				}
			}
		}
		in := sound().with(func(m *made) { m.placement = coll.InPlace }).with(disturbed)
		var gaps []Finding
		for _, f := range foundIn(t, Options{}, sound().with(disturbed), in) {
			if f.Kind == PlacementOf {
				gaps = append(gaps, f)
			}
		}
		return gaps
	}
	clean, real := 0, 0
	for seed := range 50 {
		clean += len(rough(seed, 1))
		real += min(1, len(rough(seed, 1.4)))
	}
	if clean > 1 || real < 43 {
		t.Errorf("%d of 50 clean pairs have a gap, and %d of 50 with one", clean, real)
	}
}

func TestPoorScaling(t *testing.T) {
	large := func(world int, factor float64) made {
		return sound().with(func(m *made) { m.world, m.nodes, m.factor = world, world/8, factor })
	}
	f := only(t, foundIn(t, Options{}, sound(), large(32, 0.9), large(64, 0.6), large(128, 0.5)), Scaling)
	if f.Curve.World != 128 || f.Severity != Serious || f.From < 512<<10 || f.To != 1<<30 {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "128 ranks on 16 nodes", "below that of 16 ranks on 2 nodes")
	contains(t, fmt.Sprint(f.Evidence), "With 64 ranks on 8 nodes it is")
	if strings.Contains(fmt.Sprint(f.Evidence), "With 32 ranks") {
		t.Errorf("a tenth is not worth saying: %q", f.Evidence)
	}
	// From one node to several the links are others.
	inNode := sound().with(func(m *made) { m.world, m.nodes, m.factor = 8, 1, 4 })
	for _, f := range foundIn(t, Options{}, inNode, sound()) {
		t.Errorf("%s", f.Says)
	}
}

// As many ranks on more nodes are no larger world.
func TestTheSameWorldOnMoreNodes(t *testing.T) {
	apart := sound().with(func(m *made) { m.nodes, m.factor = 8, 0.5 })
	for _, f := range foundIn(t, Options{}, sound(), apart) {
		t.Errorf("%s", f.Says)
	}
	only(t, foundIn(t, Options{}, sound(), apart, apart.with(func(m *made) { m.world = 32 })), Scaling)
}

func TestRanksThatStandOut(t *testing.T) {
	stand := func(latest, slowest int, share float64) func(*made) {
		return func(m *made) {
			m.edit = func(_ string, r *result.Record) {
				s := r.Time.Seconds
				r.Ranks = &result.Ranks{Slowest: slowest, SlowestHost: "n2", SlowestS: s * (1 + share), Latest: latest, LatestHost: "n2", Lateness: s * share, Uncertainty: 1e-9, Median: []float64{s, s, s, s * (1 + share)}}
			}
		}
	}
	f := only(t, foundIn(t, Options{}, sound().with(stand(9, 3, 0.4)).with(func(m *made) { m.collective = coll.Broadcast })), LateRank)
	if f.Severity != Serious {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "rank 9 on n2 is the last to issue in 28 of 28 records", "40 % of the time")
	contains(t, fmt.Sprint(f.Evidence), "says nothing about a GPU, card or link")

	f = only(t, foundIn(t, Options{}, sound().with(stand(-1, 3, 0.4))), SlowRank)
	if f.Severity != Warning {
		t.Errorf("a slow rank is no more than a warning: %+v", f)
	}
	contains(t, f.Says, "rank 3 on n2 has the longest times of its own in 28 of 28 records")
	contains(t, fmt.Sprint(f.Evidence), "does not tell who causes it")

	// Another launch may lay a rank on another host.
	n := 0
	f = only(t, foundIn(t, Options{}, sound().with(stand(9, 3, 0.4)).with(func(m *made) {
		m.collective = coll.Broadcast
		on := m.edit
		m.edit = func(l string, r *result.Record) {
			on(l, r)
			n++
			r.Ranks.LatestHost = fmt.Sprint("n", n%3)
		}
	})), LateRank)
	contains(t, f.Says, "rank 9, on n1, n2 and 1 more host in turn, is the last to issue in 28 of 28 records")

	for name, change := range map[string]func(*made){"a little": stand(9, 3, 0.05), "one of two": func(m *made) {
		n := 0
		m.world = 2
		m.edit = func(l string, r *result.Record) { n++; stand(min(1, n%5%3), 0, 0.4)(m); m.edit(l, r) }
	}, "below the clocks": func(m *made) {
		m.edit = func(_ string, r *result.Record) {
			r.Ranks = &result.Ranks{Latest: 2, Lateness: r.Time.Seconds, Uncertainty: 2 * r.Time.Seconds}
		}
	}, "each in turn": func(m *made) {
		n := 0
		m.edit = func(l string, r *result.Record) { n++; stand(n%16, n%16, 0.4)(m); m.edit(l, r) }
	}} {
		for _, f := range foundIn(t, Options{}, sound().with(change)) {
			if f.Kind == LateRank || f.Kind == SlowRank {
				t.Errorf("%s: %s", name, f.Says)
			}
		}
	}
}

// Of operations issued back to back only the first is late: a delay of a fifth of one is a hundredth of a batch of twenty. In latency mode each is.
func TestLateForABatch(t *testing.T) {
	late := func(share float64) func(*made) {
		return func(m *made) {
			m.collective = coll.Broadcast
			m.edit = func(_ string, r *result.Record) {
				s := r.Time.Seconds
				if r.Mode == coll.Throughput {
					r.Time.Batch = 20
				}
				r.Ranks = &result.Ranks{Latest: 9, LatestHost: "n2", Lateness: s * share, Uncertainty: 1e-9, Median: []float64{s, s, s, s}}
			}
		}
	}
	latency := func(m *made) { m.mode = coll.Latency }
	if found := foundIn(t, Options{}, sound().with(late(0.2))); len(found) > 0 {
		t.Errorf("late by a hundredth of a batch: %s", found[0].Says)
	}
	f := only(t, foundIn(t, Options{}, sound().with(late(8))), LateRank)
	contains(t, f.Says, "in 28 of 28 records of throughput mode", "40 % of the time of a batch of operations.")
	f = only(t, foundIn(t, Options{}, sound().with(late(0.2)), sound().with(latency).with(late(0.2))), LateRank)
	if f.Curve.Mode != coll.Latency || f.Severity != Warning {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "in 28 of 28 records of latency mode", "20 % of the time of an operation.")
}

func TestWarnedPoints(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) {
		m.edit = func(_ string, r *result.Record) {
			if r.SizeBytes <= 1<<10 {
				r.Warnings = notice.Of(notice.FromText("two modes: 20 us (60 % of samples) and 40 us (40 %); the median stands for one of them at most"))
			}
		}
	})), TwoModes)
	if f.From != 8 || f.To != 1<<10 || f.Severity != Warning {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "8 of 28 points have times of two populations")
	contains(t, fmt.Sprint(f.Evidence), "all_reduce, throughput mode, from 8 B to 1 KiB (8 points)", "20.00 us (60 % of the samples)")
}

func TestVariation(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) {
		m.launches = 4
		m.edit = func(launch string, r *result.Record) {
			if launch == "launch-2" {
				r.Time.Seconds *= 1.6
			}
		}
	})), Variation)
	if f.Severity != Warning || f.From != 8 || f.To != 1<<30 {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "launches differ at 28 of 28 sizes, at most by a factor of 1.6", "4 launches")
	contains(t, fmt.Sprint(f.Evidence), "Launch launch-2 is the slowest at 28 of them")

	// By how much they differ is how serious it is; which of them is the slowest is said where one is.
	differ := func(factor float64, at func(launch string, r *result.Record) bool) made {
		return sound().with(func(m *made) {
			m.launches = 4
			m.edit = func(launch string, r *result.Record) {
				if at(launch, r) {
					r.Time.Seconds *= factor
				}
			}
		})
	}
	third := func(launch string, _ *result.Record) bool { return launch == "launch-2" }
	for factor, want := range map[float64]Severity{1.3: Note, 2.2: Serious} {
		if f := only(t, foundIn(t, Options{}, differ(factor, third)), Variation); f.Severity != want {
			t.Errorf("by a factor of %g: %s", factor, f.Severity)
		}
	}
	turns := func(launch string, r *result.Record) bool {
		return launch == fmt.Sprint("launch-", bits.Len64(uint64(r.SizeBytes))%4)
	}
	if f := only(t, foundIn(t, Options{}, differ(1.8, turns)), Variation); strings.Contains(fmt.Sprint(f.Evidence), "is the slowest at") {
		t.Errorf("each launch is the slowest in turn: %s", f.Evidence)
	}
	for _, f := range foundIn(t, Options{}, differ(3, func(launch string, r *result.Record) bool { return third(launch, r) && r.SizeBytes == 4<<20 })) {
		if f.Kind == Variation {
			t.Errorf("one size alone: %s", f.Says)
		}
	}

	// Files of another tool may be of runs that were not started alike.
	f = only(t, foundIn(t, Options{}, sound().with(func(m *made) {
		m.launches, m.imported, m.interval = 4, true, false
		m.edit = func(launch string, r *result.Record) {
			if launch == "launch-2" {
				r.Time.Seconds *= 3
			}
		}
	})), Variation)
	if f.Severity != Warning {
		t.Errorf("%+v", f)
	}
	contains(t, fmt.Sprint(f.Evidence), "started alike is not known")

	for name, change := range map[string]func(*made){
		"two launches": func(m *made) {
			m.launches = 2
			m.edit = func(launch string, r *result.Record) {
				if launch == "launch-1" {
					r.Time.Seconds *= 1.6
				}
			}
		},
		"a few sizes by a little": func(m *made) {
			m.launches = 4
			m.edit = func(launch string, r *result.Record) {
				if launch == "launch-1" && r.SizeBytes <= 512 {
					r.Time.Seconds *= 1.3
				}
			}
		},
	} {
		for _, f := range foundIn(t, Options{}, sound().with(change)) {
			t.Errorf("%s: %s", name, f.Says)
		}
	}
}

// Small sizes are spoken of by their time.
func TestDropOfLatency(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(1<<10, 1<<10, 1.5) })), Drop)
	contains(t, f.Says, "at 1 KiB an operation takes 49 % longer than the sizes around it say (29.95 us)")
	f = only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(1<<10, 1<<10, 30) })), Drop)
	contains(t, f.Says, "at 1 KiB an operation takes 29.9 times as long as the sizes around it say (598.9 us)")
}

func TestBelowCeiling(t *testing.T) {
	ceiling := func(gbps float64) Options {
		return Options{Ceiling: func(*Curve) Ceiling { return Ceiling{BusBW: gbps * 1e9, Says: "a link of so much"} }}
	}
	f := only(t, foundIn(t, ceiling(450), sound()), LowCeiling)
	if f.Severity != Serious {
		t.Errorf("%+v", f)
	}
	contains(t, f.Says, "is 4", "of the 450 GB/s that its links are made for")
	contains(t, fmt.Sprint(f.Evidence), "a link of so much")
	declines := sound().with(func(m *made) { m.edit = slower(256<<20, 1<<30, 3) })
	for _, f := range foundIn(t, ceiling(400), declines) {
		if f.Kind == LowCeiling && !strings.Contains(f.Says, "at 128 MiB, is 4") {
			t.Errorf("the largest bus bandwidth counts: %s", f.Says)
		}
	}
	small := sound().with(func(m *made) {
		m.edit = func(_ string, r *result.Record) {
			if r.SizeBytes > 32<<20 {
				r.Status = result.Skipped
			}
		}
	})
	latency := sound().with(func(m *made) { m.mode = coll.Latency })
	if found := foundIn(t, ceiling(450), small, latency); found != nil {
		t.Errorf("of small sizes, and of single operations: %s", found[0].Says)
	}
	for _, gbps := range []float64{270, 200, 0} {
		if found := foundIn(t, ceiling(gbps), sound()); found != nil {
			t.Errorf("ceiling %g: %s", gbps, found[0].Says)
		}
	}
}

// The same bend in both placements and modes, and with several operations, is one finding.
func TestOneCauseIsOneFinding(t *testing.T) {
	var sweeps []made
	for _, c := range []coll.Collective{coll.AllReduce, coll.AllGather, coll.ReduceScatter} {
		for _, p := range []coll.Placement{coll.OutOfPlace, coll.InPlace} {
			sweeps = append(sweeps, sound().with(func(m *made) { m.collective, m.placement, m.edit = c, p, slower(4<<20, 4<<20, 1.5) }))
		}
	}
	f := only(t, foundIn(t, Options{}, sweeps...), Drop)
	contains(t, fmt.Sprint(f.Evidence), "Likewise all_gather", "Likewise reduce_scatter in-place", "So it is with 1 more.")
	seen := map[*Curve]bool{}
	for _, p := range f.Places() {
		seen[p.Curve] = true
		contains(t, p.Says, p.Curve.Collective.String()+" float32", "at 4 MiB bandwidth lies")
		if p.From != 4<<20 || p.To != 4<<20 {
			t.Errorf("%+v", p)
		}
	}
	if len(seen) != 6 {
		t.Errorf("the places of six curves are %+v", f.Places())
	}
}

// What is found in both modes is said of throughput mode, as severe as it is in either.
func TestThroughputStandsForBothModes(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(4<<20, 8<<20, 1.3) }),
		sound().with(func(m *made) { m.mode, m.edit = coll.Latency, slower(4<<20, 16<<20, 1.6) })), Drop)
	if f.Curve.Mode != coll.Throughput || f.To != 8<<20 || f.Severity != Serious || f.Weight < 0.35 {
		t.Errorf("%+v", f)
	}
	contains(t, fmt.Sprint(f.Evidence), "Likewise all_reduce", "latency mode: from 4 MiB to 16 MiB")
	if len(f.Also) != 1 || f.Also[0].Curve.Mode != coll.Latency || f.Also[0].To != 16<<20 {
		t.Errorf("%+v", f.Also)
	}
}

func TestTheMostSeriousComeFirstAndTheRestIsCounted(t *testing.T) {
	c := NewCollector()
	sound().with(func(m *made) {
		m.edit = func(l string, r *result.Record) {
			slower(64, 64, 1.25)(l, r)
			slower(64<<10, 64<<10, 1.9)(l, r)
			slower(64<<20, 64<<20, 1.5)(l, r)
		}
	}).fill(c)
	found, left := Find(c.Curves(), Options{Most: 2})
	if len(found) != 2 || left != 1 || found[0].From != 64<<10 || found[1].From != 64<<20 || found[0].Number != 1 {
		t.Errorf("%d left of %+v", left, found)
	}
}

// A sweep of steps has hundreds of sizes; it takes no longer than the others, and what is broad is found.
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
	f := only(t, found, Drop)
	if f.From < 400<<20 || f.To >= 460<<20 || f.Weight < 0.3 {
		t.Errorf("%+v", f)
	}
}

// Two launches that agree are no sign; three are one.
func TestBeyond(t *testing.T) {
	for _, c := range []struct {
		r    stats.Ratio
		want bool
	}{
		{stats.Ratio{Value: 1.5, Lo: 1.4, Hi: 1.6, Basis: stats.LaunchSpread, N: 2}, false},
		{stats.Ratio{Value: 1.5, Lo: 1.4, Hi: 1.6, Basis: stats.LaunchSpread, N: 3}, true},
		{stats.Ratio{Value: 1.5, Lo: 0.9, Hi: 1.6, Basis: stats.LaunchSpread, N: 3}, false},
		{stats.Ratio{Value: 1.5, Lo: 1.4, Hi: 1.6, Basis: stats.WithinLaunch, N: 1}, true},
		{stats.Ratio{Value: 1.5}, false},
	} {
		if got := beyond(c.r); got != c.want {
			t.Errorf("beyond(%+v) = %v", c.r, got)
		}
	}
}

// Only launches that both curves share make pairs.
func TestRatioOfPoints(t *testing.T) {
	curve := func(launches []string, times ...float64) *Curve {
		e, basis := stats.MedianOfLaunches(times)
		return &Curve{Launches: launches, Points: []Point{{SizeBytes: 8, Time: e, Basis: basis, Launches: times}}}
	}
	a := curve([]string{"x", "y", "z"}, 2, 4, 8)
	if r := ratioOfPoints(a, 0, curve([]string{"x", "y", "z"}, 1, 2, 4), 0); !r.Paired || r.Lo != r.Hi {
		t.Errorf("the same launches: %+v", r)
	}
	if r := ratioOfPoints(a, 0, curve([]string{"u", "v", "w"}, 1, 2, 4), 0); r.Paired || r.Lo >= 1 {
		t.Errorf("others: %+v", r)
	}
}

// One small size at the end of a curve is no decline, and half of the sizes being slower is no poor scaling.
func TestLittleIsNoFinding(t *testing.T) {
	for _, f := range foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(1<<30, 1<<30, 1.5) })) {
		if f.Kind == Decline {
			t.Errorf("%s", f.Says)
		}
	}
	for _, f := range foundIn(t, Options{}, sound(), sound().with(func(m *made) { m.world, m.nodes, m.edit = 32, 4, slower(256<<20, 1<<30, 1.5) })) {
		if f.Kind == Scaling {
			t.Errorf("%s", f.Says)
		}
	}
}

// A warning that fewer than half of a point's launches have is not of the point.
func TestWarningOfOneLaunch(t *testing.T) {
	for _, f := range foundIn(t, Options{}, sound().with(func(m *made) {
		m.launches = 5
		m.edit = func(launch string, r *result.Record) {
			if launch == "launch-1" {
				r.Warnings = notice.Of(notice.FromText("drift within the case: the last third of the samples is +9.0 % from the first"))
			}
		}
	})) {
		t.Errorf("%s", f.Says)
	}
}

// What is serious comes before a note of more weight.
func TestSeverityGoesFirst(t *testing.T) {
	c := NewCollector()
	sound().with(func(m *made) {
		m.edit = func(l string, r *result.Record) {
			slower(64<<10, 64<<10, 0.4)(l, r)
			slower(64<<20, 64<<20, 1.2)(l, r)
		}
	}).fill(c)
	found, _ := Find(c.Curves(), Options{})
	if len(found) != 2 || found[0].Kind != Drop || found[1].Kind != Spike || found[0].Weight >= found[1].Weight {
		t.Errorf("%+v", found)
	}
}

// Bends at one size and from there far on are two causes.
func TestRangesApart(t *testing.T) {
	wide := sound().with(func(m *made) { m.collective, m.edit = coll.AllGather, slower(1<<20, 8<<20, 1.5) })
	found := foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(1<<20, 1<<20, 1.5) }), wide)
	if len(found) != 2 {
		t.Errorf("%d findings", len(found))
	}
}
