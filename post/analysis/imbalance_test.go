package analysis

import (
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"

	"github.com/shoenig/test/must"
)

// alltoallv is a sweep with an imbalance that takes longer than an even one of the same size by a factor.
func alltoallv(imbalance coll.Imbalance, factor float64) made {
	return edited(func(_ string, r *result.Record) {
		r.Time.Seconds *= factor
		if imbalance != coll.Even {
			r.EvenBytes = r.SizeBytes
		}
	}, func(m *made) { m.collective, m.imbalance, m.noise = coll.AllToAllV, imbalance, 0.001 })
}

func TestImbalanceCost(t *testing.T) {
	even := alltoallv(coll.Even, 1)
	// Each imbalance has a finding of its own.
	found := foundIn(t, Options{}, even, alltoallv("spread:1", 1.5), alltoallv("spread:0.5", 1.2))
	costs := slices.DeleteFunc(found, func(f Finding) bool { return f.Code() != Imbalance })
	must.EqOp(t, 2, len(costs))
	for _, f := range costs {
		want := 1.5
		if f.Curve.Imbalance == "spread:0.5" {
			want = 1.2
		}
		cost := f.Fact.(notice.ImbalanceCost)
		if !closeTo(cost.Factor, want, 0.02) || !closeTo(cost.Least, want, 0.02) || f.Severity != notice.Info ||
			len(f.Also) != 0 || cost.Sizes < 15 {
			t.Errorf("%s: %+v", f.Curve.Imbalance, f)
		}
	}
	lacks(t, Imbalance, "without a reference", alltoallv("hot:4", 2))
	lacks(t, Imbalance, "even only", even)
}

// The peak of an even alltoallv is that of an alltoall; that of others is unknown.
func TestPeakOfImbalance(t *testing.T) {
	run := runOn("NVIDIA H100 80GB HBM3", 1, 8)
	want := NewCeilings(nil).Of([]*result.Run{run}, of(coll.AllToAll, 8))
	even := of(coll.AllToAllV, 8)
	even.Imbalance = coll.Even
	if got := NewCeilings(nil).Of([]*result.Run{run}, even); !got.Known() || got.BusBW != want.BusBW {
		t.Errorf("even: %+v, want %+v", got, want)
	}
	for _, i := range []coll.Imbalance{"hot:4", ""} {
		uneven := of(coll.AllToAllV, 8)
		uneven.Imbalance = i
		if got := NewCeilings(nil).Of([]*result.Run{run}, uneven); got.Known() {
			t.Errorf("%q: %+v", i, got)
		}
	}
}

// A rank that has more to send is no slow rank.
func TestRankOfImbalanceIsNotSlow(t *testing.T) {
	slow := func(imbalance coll.Imbalance) made {
		return alltoallv(imbalance, 1).with(func(m *made) {
			m.edit = func(_ string, r *result.Record) {
				r.Ranks = &result.Ranks{Slowest: 2, SlowestHost: "n0", SlowestS: 2e-5, Latest: -1,
					Median: slices.Repeat([]float64{1e-5}, m.world)}
				r.Ranks.Median[2] = 2e-5
			}
		})
	}
	lacks(t, SlowRank, "uneven", slow("hot:4"))
	if found := foundIn(t, Options{}, slow(coll.Even)); !slices.ContainsFunc(found,
		func(f Finding) bool { return f.Code() == SlowRank }) {
		t.Error("even: no slow rank")
	}
}
