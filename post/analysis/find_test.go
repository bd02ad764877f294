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
			t.Errorf("%s: %s", name, f.Text())
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
			t.Errorf("%s: %s", name, f.Text())
		}
	}
}

func TestDrop(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(4<<20, 8<<20, 1.5) })), Drop)
	if f.From != 4<<20 || f.To != 8<<20 || f.Severity != notice.Error || f.Weight < 0.3 || f.Weight > 0.36 {
		t.Errorf("%+v", f)
	}
	if f.At.Subject != "nccl, all_reduce float32 sum, out-of-place, throughput mode, 16 ranks on 2 nodes" ||
		f.At.From != 4<<20 ||
		f.At.To != 8<<20 {
		t.Errorf("at %+v", f.At)
	}
	drop := fact[notice.Drop](t, f)
	if drop.Depth < 0.33 || drop.Depth > 0.35 || drop.Slower != 0 || drop.Sigma < 4 || len(drop.Beside) != 2 ||
		drop.Beside[0].Size != 2<<20 ||
		drop.Beside[1].Size != 16<<20 ||
		!drop.Once {
		t.Errorf("%+v", drop)
	}
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
	if f.Severity != notice.Info {
		t.Errorf("%+v", f)
	}
	if spike := fact[notice.Spike](t, f); f.From != 4<<20 || f.To != 4<<20 || spike.Depth < 0.08 {
		t.Errorf("%+v", f)
	}
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
	if f.From != 128<<10 || f.To != 256<<10 || f.Severity != notice.Warning {
		t.Errorf("%+v", f)
	}
	if s := fact[notice.Switch](t, f); s.Direction != "up" || math.Abs(float64(s.Factor)-1.6) > 0.1 ||
		s.Path != (notice.PathChange{Before: "TREE LL", After: "RING SIMPLE"}) {
		t.Errorf("%+v", s)
	}
	for _, h := range f.Hints {
		if h.Variable == "--path" {
			t.Error("the way is recorded, and --path is hinted at")
		}
	}
}

// A law that goes over into a faster one is slow just before it. Jumps are told from a tenth on, and where they stand
// out of the scatter.
func TestWhichStepsAreTold(t *testing.T) {
	step := func(factor, noise float64) made {
		return sound().with(func(m *made) { m.noise, m.edit = noise, slower(256<<10, 1<<30, factor) })
	}
	f := only(t, foundIn(t, Options{}, step(0.6, 0.01)), Step)
	if f.Severity != notice.Info {
		t.Errorf("%+v", f)
	}
	if s := fact[notice.Switch](t, f); s.Direction != "down" || math.Abs(float64(s.Factor)-1.6) > 0.1 {
		t.Errorf("%+v", s)
	}
	f = only(t, foundIn(t, Options{}, step(5, 0.01)), Step)
	if f.Severity != notice.Warning {
		t.Errorf("a step is no more than a warning: %+v", f)
	}
	only(t, foundIn(t, Options{}, step(1.2, 0.01)), Step)
	for _, small := range []made{step(1.05, 0.002), step(1.2, 0.05)} {
		for _, f := range foundIn(t, Options{}, small) {
			t.Errorf("scatter of %v: %s", small.noise, f.Text())
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
	unknown := sound().with(func(m *made) { m.edit = slower(256<<10, 1<<30, 1.6) })
	for _, c := range []struct {
		sweep made
		want  notice.PathChange
	}{{same, notice.PathChange{Before: "RING SIMPLE", After: "RING SIMPLE"}}, {unknown, notice.PathChange{}}} {
		if got := fact[notice.Switch](t, only(t, foundIn(t, Options{}, c.sweep), Step)).Path; got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}

// A decline stands out of the scatter of its curve.
func TestDeclineWithinTheScatter(t *testing.T) {
	for _, f := range foundIn(t, Options{}, sound().with(func(m *made) {
		m.noise, m.edit = 0.08, slower(256<<20, 1<<30, 1.1)
	})) {
		if f.Code() == Decline {
			t.Errorf("%s", f.Text())
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
	if f.Severity != notice.Error || f.To != 1<<30 {
		t.Errorf("%+v", f)
	}
	if d := fact[notice.Decline](t, f); d.Loss < 0.15 || d.Last.Size != 1<<30 || d.Before.Size != 512<<20 {
		t.Errorf("%+v", d)
	}
	if len(f.Also) != 1 || f.Also[0].Code() != Step || f.Also[0].From != 64<<20 || f.Also[0].To != 128<<20 {
		t.Errorf("also %+v", f.Also)
	}
	contains(t, fmt.Sprint(f.Hints), "--rotate", "OMPI_MCA_coll_tuned_allreduce_algorithm")
}

func TestPlacementGap(t *testing.T) {
	slow := sound().with(func(m *made) { m.placement, m.edit = coll.InPlace, slower(1<<20, 16<<20, 1.4) })
	var gaps []Finding
	for _, f := range foundIn(t, Options{}, sound(), slow) {
		if f.Code() == PlacementOf {
			gaps = append(gaps, f)
		}
	}
	f := only(t, gaps, PlacementOf)
	if f.From != 1<<20 || f.To != 16<<20 || f.Curve.Placement != coll.InPlace || f.Weight < 0.26 || f.Weight > 0.31 {
		t.Errorf("%+v", f)
	}
	gap := fact[notice.PlacementGap](t, f)
	if gap.Slower != "in-place" || gap.Faster != "out-of-place" || math.Abs(float64(gap.Factor)-1.4) > 0.1 ||
		!gap.Interval.Samples ||
		!gap.Interval.Paired ||
		gap.Interval.Lo < 1 {
		t.Errorf("%+v", gap)
	}
}

// Without intervals a gap at one size is chance.
func TestPlacementGapWithoutIntervals(t *testing.T) {
	alone := func(m *made) { m.interval, m.imported = false, true }
	for sizes, want := range map[int64]bool{1 << 20: false, 16 << 20: true} {
		slow := sound().with(alone).
			with(func(m *made) { m.placement, m.edit = coll.InPlace, slower(1<<20, sizes, 1.6) })
		got := false
		for _, f := range foundIn(t, Options{}, sound().with(alone), slow) {
			if got = got || f.Code() == PlacementOf; f.Severity == notice.Error && f.Code() == PlacementOf {
				t.Errorf("serious without an interval: %s", f.Text())
			}
		}
		if got != want {
			t.Errorf("up to %d bytes: found %v, want %v", sizes, got, want)
		}
	}
}

// An interval of one launch knows nothing of what disturbs one case and not the next: both placements must differ by
// more than that.
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
			if f.Code() == PlacementOf {
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
	if f.Curve.World != 128 || f.Severity != notice.Error || f.From < 512<<10 || f.To != 1<<30 {
		t.Errorf("%+v", f)
	}
	if s := fact[notice.PoorScaling](t, f); s.Smaller != "16 ranks on 2 nodes" || len(s.Others) != 1 ||
		s.Others[0].World != "64 ranks on 8 nodes" ||
		s.OneNode {
		t.Errorf("a tenth, with 32 ranks, is too little to report: %+v", s)
	}
	// From one node to several the links are others.
	inNode := sound().with(func(m *made) { m.world, m.nodes, m.factor = 8, 1, 4 })
	for _, f := range foundIn(t, Options{}, inNode, sound()) {
		t.Errorf("%s", f.Text())
	}
}

// As many ranks on more nodes are no larger world.
func TestTheSameWorldOnMoreNodes(t *testing.T) {
	apart := sound().with(func(m *made) { m.nodes, m.factor = 8, 0.5 })
	for _, f := range foundIn(t, Options{}, sound(), apart) {
		t.Errorf("%s", f.Text())
	}
	only(t, foundIn(t, Options{}, sound(), apart, apart.with(func(m *made) { m.world = 32 })), Scaling)
}

func TestRanksThatStandOut(t *testing.T) {
	stand := func(latest, slowest int, share float64) func(*made) {
		return func(m *made) {
			m.edit = func(_ string, r *result.Record) {
				s := r.Time.Seconds
				r.Ranks = &result.Ranks{
					Slowest:     slowest,
					SlowestHost: "n2",
					SlowestS:    s * (1 + share),
					Latest:      latest,
					LatestHost:  "n2",
					Lateness:    s * share,
					Uncertainty: 1e-9,
					Median:      []float64{s, s, s, s * (1 + share)},
				}
			}
		}
	}
	f := only(
		t,
		foundIn(t, Options{}, sound().with(stand(9, 3, 0.4)).with(func(m *made) { m.collective = coll.Broadcast })),
		LateRank,
	)
	if f.Severity != notice.Error {
		t.Errorf("%+v", f)
	}
	late := fact[notice.LateRank](t, f)
	if late.Rank != 9 || !slices.Equal(late.Hosts, []string{"n2"}) || late.Records != 28 || late.Of != 28 ||
		math.Abs(float64(late.Share)-0.4) > 0.005 {
		t.Errorf("%+v", late)
	}

	f = only(t, foundIn(t, Options{}, sound().with(stand(-1, 3, 0.4))), SlowRank)
	if f.Severity != notice.Warning {
		t.Errorf("a slow rank is no more than a warning: %+v", f)
	}
	if slow := fact[notice.SlowRank](t, f); slow.Rank != 3 || !slices.Equal(slow.Hosts, []string{"n2"}) ||
		slow.Records != 28 ||
		slow.Of != 28 {
		t.Errorf("%+v", slow)
	}

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
	if late := fact[notice.LateRank](t, f); late.Rank != 9 || len(late.Hosts) != 3 || late.Records != 28 {
		t.Errorf("%+v", late)
	}

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
			if f.Code() == LateRank || f.Code() == SlowRank {
				t.Errorf("%s: %s", name, f.Text())
			}
		}
	}
}

// Of operations issued back to back only the first is late: a delay of a fifth of one is a hundredth of a batch of
// twenty. In latency mode each is.
func TestLateForABatch(t *testing.T) {
	late := func(share float64) func(*made) {
		return func(m *made) {
			m.collective = coll.Broadcast
			m.edit = func(_ string, r *result.Record) {
				s := r.Time.Seconds
				if r.Mode == coll.Throughput {
					r.Time.Batch = 20
				}
				r.Ranks = &result.Ranks{
					Latest:      9,
					LatestHost:  "n2",
					Lateness:    s * share,
					Uncertainty: 1e-9,
					Median:      []float64{s, s, s, s},
				}
			}
		}
	}
	latency := func(m *made) { m.mode = coll.Latency }
	if found := foundIn(t, Options{}, sound().with(late(0.2))); len(found) > 0 {
		t.Errorf("late by a hundredth of a batch: %s", found[0].Text())
	}
	f := only(t, foundIn(t, Options{}, sound().with(late(8))), LateRank)
	if late := fact[notice.LateRank](t, f); late.Mode != "throughput" || late.Records != 28 ||
		math.Abs(float64(late.Share)-0.4) > 0.005 {
		t.Errorf("%+v", late)
	}
	f = only(t, foundIn(t, Options{}, sound().with(late(0.2)), sound().with(latency).with(late(0.2))), LateRank)
	if f.Curve.Mode != coll.Latency || f.Severity != notice.Warning {
		t.Errorf("%+v", f)
	}
	if late := fact[notice.LateRank](t, f); late.Mode != "latency" || late.Records != 28 ||
		math.Abs(float64(late.Share)-0.2) > 0.005 {
		t.Errorf("%+v", late)
	}
}

func TestWarnedPoints(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) {
		m.edit = func(_ string, r *result.Record) {
			if r.SizeBytes <= 1<<10 {
				r.Warnings = notice.Of(
					notice.FromText(
						"two modes: 20 us (60 % of samples) and 40 us (40 %); the median stands for one of them at most",
					),
				)
			}
		}
	})), TwoModes)
	if f.From != 8 || f.To != 1<<10 || f.Severity != notice.Warning {
		t.Errorf("%+v", f)
	}
	if p := fact[notice.BimodalPoints](t, f); p.Points != 8 || p.Of != 28 ||
		!slices.Equal(p.Where, []string{"all_reduce, throughput mode, 8 B to 1 KiB (8 points)"}) {
		t.Errorf("%+v", p)
	}
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
	if f.Severity != notice.Warning || f.From != 8 || f.To != 1<<30 {
		t.Errorf("%+v", f)
	}
	v := fact[notice.LaunchVariation](t, f)
	if v.Sizes != 28 || v.Of != 28 || v.Factor < 1.6 || v.Factor > 1.7 || v.Launches != 4 || v.Launch != "launch-2" ||
		v.SlowAt != 28 ||
		v.Imported {
		t.Errorf("%+v", v)
	}

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
	for factor, want := range map[float64]notice.Severity{1.3: notice.Info, 2.2: notice.Error} {
		if f := only(t, foundIn(t, Options{}, differ(factor, third)), Variation); f.Severity != want {
			t.Errorf("by a factor of %g: %s", factor, f.Severity)
		}
	}
	turns := func(launch string, r *result.Record) bool {
		return launch == fmt.Sprint("launch-", bits.Len64(uint64(r.SizeBytes))%4)
	}
	if f := only(t, foundIn(t, Options{}, differ(1.8, turns)), Variation); fact[notice.LaunchVariation](
		t,
		f,
	).Launch != "" {
		t.Errorf("each launch is the slowest in turn: %+v", f.Fact)
	}
	for _, f := range foundIn(t, Options{}, differ(3, func(launch string, r *result.Record) bool {
		return third(launch, r) && r.SizeBytes == 4<<20
	})) {
		if f.Code() == Variation {
			t.Errorf("one size alone: %s", f.Text())
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
	if f.Severity != notice.Warning {
		t.Errorf("%+v", f)
	}
	if !fact[notice.LaunchVariation](t, f).Imported {
		t.Errorf("%+v", f.Fact)
	}

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
			t.Errorf("%s: %s", name, f.Text())
		}
	}
}

// Small sizes are spoken of by their time.
func TestDropOfLatency(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(1<<10, 1<<10, 1.5) })), Drop)
	if d := fact[notice.Drop](t, f); d.Depth != 0 || math.Abs(float64(d.Slower)-1.49) > 0.005 || d.At.Size != 1<<10 ||
		math.Abs(float64(d.At.Time)-29.95e-6) > 5e-9 {
		t.Errorf("%+v", d)
	}
	f = only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(1<<10, 1<<10, 30) })), Drop)
	if d := fact[notice.Drop](t, f); math.Abs(float64(d.Slower)-29.9) > 0.05 {
		t.Errorf("%+v", d)
	}
}

func TestBelowCeiling(t *testing.T) {
	ceiling := func(gbps float64) Options {
		return Options{Ceiling: func(*Curve) Ceiling {
			return Ceiling{BusBW: gbps * 1e9, Fact: notice.PeakGiven{Text: "a link of so much"}}
		}}
	}
	f := only(t, foundIn(t, ceiling(450), sound()), LowCeiling)
	if f.Severity != notice.Error {
		t.Errorf("%+v", f)
	}
	if b := fact[notice.BelowPeak](t, f); b.Peak != 450e9 || b.Share < 0.4 || b.Share >= 0.5 ||
		b.What != "given as --peak a link of so much" {
		t.Errorf("%+v", b)
	}
	declines := sound().with(func(m *made) { m.edit = slower(256<<20, 1<<30, 3) })
	for _, f := range foundIn(t, ceiling(400), declines) {
		if b, is := f.Fact.(notice.BelowPeak); is && (b.Best.Size != 128<<20 || b.Share < 0.4) {
			t.Errorf("the largest bus bandwidth counts: %+v", b)
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
		t.Errorf("of small sizes, and of single operations: %s", found[0].Text())
	}
	for _, gbps := range []float64{270, 200, 0} {
		if found := foundIn(t, ceiling(gbps), sound()); found != nil {
			t.Errorf("ceiling %g: %s", gbps, found[0].Text())
		}
	}
}

// The same bend in both placements and modes, and with several operations, is one finding.
func TestOneCauseIsOneFinding(t *testing.T) {
	var sweeps []made
	for _, c := range []coll.Collective{coll.AllReduce, coll.AllGather, coll.ReduceScatter} {
		for _, p := range []coll.Placement{coll.OutOfPlace, coll.InPlace} {
			sweeps = append(
				sweeps,
				sound().with(func(m *made) { m.collective, m.placement, m.edit = c, p, slower(4<<20, 4<<20, 1.5) }),
			)
		}
	}
	f := only(t, foundIn(t, Options{}, sweeps...), Drop)
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
}

// What is found in both modes is said of throughput mode, as severe as it is in either.
func TestThroughputStandsForBothModes(t *testing.T) {
	f := only(t, foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(4<<20, 8<<20, 1.3) }),
		sound().with(func(m *made) { m.mode, m.edit = coll.Latency, slower(4<<20, 16<<20, 1.6) })), Drop)
	if f.Curve.Mode != coll.Throughput || f.To != 8<<20 || f.Severity != notice.Error || f.Weight < 0.35 {
		t.Errorf("%+v", f)
	}
	if len(f.Also) == 0 || f.Also[0].Curve.Mode != coll.Latency || f.Also[0].From != 4<<20 || f.Also[0].To != 16<<20 {
		t.Errorf("also %+v", f.Also)
	}
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

// One small size at the end of a curve is no decline, and half of the sizes being slower is no poor scaling.
func TestLittleIsNoFinding(t *testing.T) {
	for _, f := range foundIn(t, Options{}, sound().with(func(m *made) { m.edit = slower(1<<30, 1<<30, 1.5) })) {
		if f.Code() == Decline {
			t.Errorf("%s", f.Text())
		}
	}
	for _, f := range foundIn(t, Options{}, sound(), sound().with(func(m *made) {
		m.world, m.nodes, m.edit = 32, 4, slower(256<<20, 1<<30, 1.5)
	})) {
		if f.Code() == Scaling {
			t.Errorf("%s", f.Text())
		}
	}
}

// A warning that fewer than half of a point's launches have is not of the point.
func TestWarningOfOneLaunch(t *testing.T) {
	for _, f := range foundIn(t, Options{}, sound().with(func(m *made) {
		m.launches = 5
		m.edit = func(launch string, r *result.Record) {
			if launch == "launch-1" {
				r.Warnings = notice.Of(
					notice.FromText("drift within the case: the last third of the samples is +9.0 % from the first"))
			}
		}
	})) {
		t.Errorf("%s", f.Text())
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
	if len(found) != 2 || found[0].Code() != Drop || found[1].Code() != Spike || found[0].Weight >= found[1].Weight {
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
