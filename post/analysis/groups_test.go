package analysis

import (
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"

	"github.com/shoenig/test/must"
)

// inGroup is a sweep of a group of 4:strided, at the same time as the others where factors are given: its times are
// multiplied by the group's.
func inGroup(number int, factors ...float64) made {
	return edited(func(_ string, r *result.Record) {
		r.Nodes, r.RanksPerNode = 1, r.World
		if factors != nil {
			r.Time.Seconds *= factors[number-1]
		}
	}, func(m *made) {
		m.noise, m.launches, m.world = 0.001, 6, 4
		m.groups = coll.Groups{Division: "4:strided", Number: number, Alone: factors == nil}
	})
}

// The ratio of each group to itself alone has the true factor within its CI; the slowest group is named.
func TestGroupInterference(t *testing.T) {
	var sweeps []made
	for n := range 4 {
		sweeps = append(sweeps, inGroup(n+1), inGroup(n+1, 1.1, 1.2, 1.6, 1.3))
	}
	found := slices.DeleteFunc(foundIn(t, Options{}, sweeps...), func(f Finding) bool { return f.Code() != Interferes })
	must.EqOp(t, 1, len(found))
	f := found[0].Fact.(notice.GroupInterference)
	if !closeTo(f.Factor, 1.6, 0.01) || !closeTo(f.Median, 1.25, 0.01) || !closeTo(f.Least, 1.1, 0.01) ||
		f.Groups != "4:strided" || f.Slowest != "group 3 (ranks 2, 6, … 14)" || f.Interval.Lo > 1.601 ||
		f.Interval.Hi < 1.599 || f.Interval.Launches != 6 || !f.Interval.Paired || f.Sizes != 28 {
		t.Errorf("%+v", f)
	}
	want := (1/1.1 + 1/1.2 + 1/1.6 + 1/1.3) / 4
	if !closeTo(f.Sum/f.Apart, want, 0.01) {
		t.Errorf("sums of bandwidths %v and %v, want a ratio of %g", f.Sum, f.Apart, want)
	}
	otherNodes := slices.Clone(sweeps)
	for n := range sweeps { // same nodes per group, but another number of nodes in the world
		otherNodes = append(otherNodes, sweeps[n].with(func(m *made) { m.nodes = 4 }))
	}
	found = foundIn(t, Options{}, otherNodes...)
	if found = slices.DeleteFunc(found, func(f Finding) bool { return f.Code() != Interferes }); len(found) != 2 {
		t.Errorf("%d findings in runs on 2 and on 4 nodes, want one each", len(found))
	}
	elsewhere := inGroup(2, 1.1, 1.2)
	elsewhere.edit = func(_ string, r *result.Record) { r.Nodes, r.RanksPerNode = 2, 2 }
	lacks(t, Interferes, "launches with other places of ranks", append(sweeps, elsewhere)...)
	lacks(t, Interferes, "a group is missing", sweeps[:6]...)
	lacks(t, Interferes, "a group alone is missing", sweeps[1:]...)
	lacks(t, Interferes, "the whole world", sound())
	lacks(t, Scaling, "groups and a larger world", append(sweeps, sound())...)
	lacks(t, Interferes, "a file with a group that cannot be", append(sweeps[:7], inGroup(9))...)
}

// The ratio of two kinds at once to the slower alone has the true value within its CI.
func TestDimensionInterference(t *testing.T) {
	kind := func(number int, alone bool, c coll.Collective, factor float64) made {
		return edited(func(_ string, r *result.Record) {
			r.Time.Seconds = factor * (1e-5 + float64(r.SizeBytes)/1e10)
		}, func(m *made) {
			m.noise, m.launches, m.world, m.collective = 0.001, 6, 4, c
			m.groups = coll.Groups{Division: "tp=4:all_reduce+dp=4:reduce_scatter", Number: number, Alone: alone}
		})
	}
	sweeps := []made{kind(1, true, coll.AllReduce, 1), kind(2, true, coll.ReduceScatter, 2),
		kind(1, false, coll.AllReduce, 2.4)}
	found := slices.DeleteFunc(foundIn(t, Options{}, sweeps...), func(f Finding) bool { return f.Code() != Beside })
	if len(found) != 1 {
		t.Fatalf("%d findings, want 1", len(found))
	}
	f := found[0].Fact.(notice.DimensionInterference)
	if !closeTo(f.Factor, 1.2, 0.01) || !closeTo(f.Both/f.InTurn, 0.8, 0.01) || f.Slower != "dp alone" ||
		f.Sizes < 10 || f.Interval.Lo > 1.201 || f.Interval.Hi < 1.199 || !f.Interval.Paired {
		t.Errorf("%+v", f)
	}
	for i := range sweeps {
		lacks(t, Beside, "one is missing", slices.Delete(slices.Clone(sweeps), i, i+1)...)
	}
	lacks(t, Interferes, "groups of two kinds", sweeps...)
}
