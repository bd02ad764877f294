package timeline

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
)

// Ranks that are equal are not accused: neither where each call is by itself, nor where a rank that has more to do has
// it for a whole step.
func TestEqualRanksAreNotAccused(t *testing.T) {
	const seeds = 400
	for _, c := range []struct {
		name         string
		ranks, steps int
		work         func(*rand.Rand) func(rank, step, call int) int64
	}{
		{"two ranks, calls by themselves", 2, 5, independent},
		{"eight ranks, calls by themselves", 8, 5, independent},
		{"eight ranks, calls by themselves, one step", 8, 1, independent},
		{"eight ranks, whole steps", 8, 10, byWholeSteps},
		{"four ranks, whole steps", 4, 10, byWholeSteps},
	} {
		t.Run(c.name, func(t *testing.T) {
			accused := 0
			for seed := range uint64(seeds) {
				r := rand.New(rand.NewPCG(seed, 7))
				j := job{ranks: c.ranks, steps: c.steps, sizes: mib(1, 2, 3, 4, 5, 6), pure: msec / 2, work: c.work(r)}
				if compared(j.ranksOf()...).Across.Straggler != nil {
					accused++
				}
			}
			if accused > seeds/20 {
				t.Errorf("in %d of %d runs of equal ranks one is accused", accused, seeds)
			}
			t.Logf("%d of %d", accused, seeds)
		})
	}
}

func independent(r *rand.Rand) func(int, int, int) int64 {
	return func(int, int, int) int64 { return 5*msec + r.Int64N(2*msec) }
}

func byWholeSteps(r *rand.Rand) func(int, int, int) int64 {
	more := map[[2]int]int64{}
	return func(rank, step, _ int) int64 {
		k := [2]int{rank, step}
		if _, known := more[k]; !known {
			more[k] = r.Int64N(2 * msec)
		}
		return 5*msec + more[k] + r.Int64N(msec/20)
	}
}

func TestALateRankIsFoundAmongNoise(t *testing.T) {
	found := 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 9))
		work := independent(r)
		j := job{ranks: 8, steps: 5, sizes: mib(1, 2, 3, 4), pure: msec / 2, work: func(rank, step, call int) int64 {
			w := work(rank, step, call)
			if rank == 5 {
				w += msec
			}
			return w
		}}
		if s := compared(j.ranksOf()...).Across.Straggler; s != nil && s.Device == 5 {
			found++
		} else if s != nil {
			t.Errorf("seed %d: %v", seed, s.Found)
		}
	}
	if found < 45 {
		t.Errorf("found in %d of 50", found)
	}
}

// A straggler that computes longer, one that is bound by its host, and one without a known cause: each gets its own
// advice.
func TestStragglerCauses(t *testing.T) {
	computing := job{ranks: 6, steps: 6, sizes: mib(25, 25), pure: msec, work: func(rank, _, _ int) int64 {
		if rank == 1 {
			return 9 * msec
		}
		return 5 * msec
	}}
	more := func(compute, host, copies float64) func([]Device) {
		return func(d []Device) {
			for s := range d[1].Steps {
				d[1].Steps[s].Compute += compute
				d[1].Steps[s].HostBound += host
				d[1].Steps[s].MemcpyOnly += copies
				for i, more := range []float64{0, 8, 0, 0, 9, 9} { // more than the median, but two others have as much
					d[i].Steps[s].Unexplained += more
				}
			}
		}
	}
	for name, c := range map[string]struct {
		edit   func([]Device)
		causes notice.StragglerCauses
		advice string
	}{
		"computing": {more(0, 0, 0), notice.StragglerCauses{{Cause: notice.SlowCompute, Own: 0.108, Others: 0.06}},
			"as much work as the others"},
		"host-bound": {more(-8, 6, 3), notice.StragglerCauses{{Cause: notice.HostBound, Own: 0.036},
			{Cause: notice.SlowCopies, Own: 0.018}}, "DataLoader"},
		"unknown": {more(-8, 0, 0), nil, "rank --preflight"},
	} {
		d := computing.ranksOf()
		c.edit(d)
		tl := compared(d...)
		if s := tl.Across.Straggler; s == nil || !slices.Equal(s.Found.Causes, c.causes) {
			t.Errorf("%s: %+v, want %v", name, s, c.causes)
		}
		i := slices.IndexFunc(tl.Advice, func(a Advice) bool { return a.Topic == topicBalance })
		if i < 0 || !strings.Contains(tl.Advice[i].Says(), c.advice) ||
			c.causes == nil && strings.Contains(tl.Advice[i].Says(), "copies") {
			t.Errorf("%s: advice %+v", name, tl.Advice)
		}
	}
}

// A rank that is always last by microseconds costs nobody anything.
func TestWhatCostsNothingIsNoAccusation(t *testing.T) {
	a := compared(job{ranks: 4, steps: 10, sizes: mib(1, 2, 3), pure: 20 * us, work: func(rank, _, _ int) int64 {
		if rank == 3 {
			return 5*msec + 20*us
		}
		return 5 * msec
	}}.ranksOf()...).Across
	if a.Uneven != 30 || a.Straggler != nil {
		t.Errorf("%d uneven, %+v", a.Uneven, a.Straggler)
	}
}

func TestFewStepsAreSaidToBeFew(t *testing.T) {
	j := job{
		ranks: 2,
		steps: 2,
		sizes: mib(1, 2, 3, 4, 5, 6, 7, 8),
		pure:  msec,
		work:  func(rank, _, _ int) int64 { return int64(5+rank) * msec },
	}
	s := compared(j.ranksOf()...).Across.Straggler
	if s == nil || s.Found.Steps != 2 || s.Found.OfSteps != 2 || !s.Found.FewSteps {
		t.Errorf("%+v", s)
	}
	j.steps = 20
	if s = compared(j.ranksOf()...).Across.Straggler; s == nil || s.Found.FewSteps {
		t.Errorf("%+v", s)
	}
}

// A broadcast is over for its root before others have it: its times say nothing about who came last.
func TestRootedCallsAccuseNobody(t *testing.T) {
	d := job{ranks: 4, steps: 10, sizes: mib(25), pure: msec, work: late}.ranksOf()
	for i := range d {
		d[i].Collectives[0].Name = "broadcast"
	}
	if a := compared(d...).Across; a.Uneven != 0 || a.Straggler != nil || a.Matched != 10 {
		t.Errorf("%+v", a)
	}
}
