package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// Equal ranks give no straggler: neither with independent calls, nor if a rank has more work for whole steps.
func TestNoStragglerAmongEqualRanks(t *testing.T) {
	const seeds = 400
	for name, c := range map[string]struct {
		ranks, steps int
		work         func(*rand.Rand) func(rank, step, call int) int64
	}{
		"two ranks, calls by themselves":             {2, 5, independent},
		"eight ranks, calls by themselves":           {8, 5, independent},
		"eight ranks, calls by themselves, one step": {8, 1, independent},
		"eight ranks, whole steps":                   {8, 10, byWholeSteps},
		"four ranks, whole steps":                    {4, 10, byWholeSteps},
	} {
		accused := 0
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 7))
			j := job{ranks: c.ranks, steps: c.steps, sizes: mib(1, 2, 3, 4, 5, 6), pure: msec / 2, work: c.work(r)}
			if compared(j.ranksOf()...).Across.Straggler != nil {
				accused++
			}
		}
		must.LessEq(t, seeds/20, accused, must.Sprint(name))
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

func TestStragglerInNoise(t *testing.T) {
	found := 0
	for seed := range uint64(50) {
		work := independent(rand.New(rand.NewPCG(seed, 9)))
		j := job{ranks: 8, steps: 5, sizes: mib(1, 2, 3, 4), pure: msec / 2, work: func(rank, step, call int) int64 {
			if rank == 5 {
				return work(rank, step, call) + msec
			}
			return work(rank, step, call)
		}}
		if s := compared(j.ranksOf()...).Across.Straggler; s != nil {
			must.EqOp(t, 5, s.Device)
			found++
		}
	}
	must.GreaterEq(t, 45, found)
}

// TestStragglerCauses has a straggler that computes longer, one that is bound by its host, and one without a known
// cause.
func TestStragglerCauses(t *testing.T) {
	for name, c := range map[string]struct {
		compute, host, copies float64 // more than the others in each step
		causes                profiles.StragglerCauses
	}{
		"computing": {0, 0, 0, profiles.StragglerCauses{{Cause: profiles.SlowCompute, Own: 0.108, Others: 0.06}}},
		"host-bound": {-8, 6, 3, profiles.StragglerCauses{{Cause: profiles.HostBound, Own: 0.036},
			{Cause: profiles.SlowCopies, Own: 0.018}}},
		"unknown": {-8, 0, 0, nil},
	} {
		d := job{ranks: 6, steps: 6, sizes: mib(25, 25), pure: msec, work: func(rank, _, _ int) int64 {
			return []int64{5, 9, 5, 5, 5, 5}[rank] * msec
		}}.ranksOf()
		for s := range d[1].Steps {
			p := &d[1].Steps[s].Parts
			p.Compute, p.HostBound, p.MemcpyOnly = p.Compute+c.compute, c.host, c.copies
			for i, more := range []float64{0, 8, 0, 0, 9, 9} { // more than the median, but two others have as much
				d[i].Steps[s].Unexplained = more
			}
		}
		tl := compared(d...)
		must.NotNil(t, tl.Across.Straggler)
		must.True(t, slices.Equal(c.causes, tl.Across.Straggler.Found.Causes), must.Sprint(name))
		i := slices.IndexFunc(tl.Advice, func(a Advice) bool { return a.Topic == topicBalance })
		must.Eq(t, notice.Fact(tl.Across.Straggler.Found), tl.Advice[i].Found.Fact)
	}
}

// A rank that is always last by microseconds has no relevant cost.
func TestNoStragglerWithoutCost(t *testing.T) {
	a := compared(job{ranks: 4, steps: 10, sizes: mib(1, 2, 3), pure: 20 * us, work: func(rank, _, _ int) int64 {
		return 5*msec + []int64{0, 0, 0, 20}[rank]*us
	}}.ranksOf()...).Across
	must.EqOp(t, 30, a.Uneven)
	must.Nil(t, a.Straggler)
}

func TestFewSteps(t *testing.T) {
	for steps, few := range map[int]bool{2: true, 20: false} {
		s := compared(job{ranks: 2, steps: steps, sizes: mib(1, 2, 3, 4, 5, 6, 7, 8), pure: msec,
			work: func(rank, _, _ int) int64 { return int64(5+rank) * msec }}.ranksOf()...).Across.Straggler
		must.Eq(t, []int{steps, steps}, []int{s.Found.Steps, s.Found.OfSteps})
		must.EqOp(t, few, s.Found.FewSteps)
	}
}

// A broadcast ends earlier on its root: its times do not show which rank began last.
func TestNoStragglerFromRootedCalls(t *testing.T) {
	d := job{ranks: 4, steps: 10, sizes: mib(25), pure: msec, work: late}.ranksOf()
	for i := range d {
		d[i].Collectives[0].Name = "broadcast"
	}
	a := compared(d...).Across
	must.Eq(t, []int{0, 10}, []int{a.Uneven, a.Matched})
	must.Nil(t, a.Straggler)
}
