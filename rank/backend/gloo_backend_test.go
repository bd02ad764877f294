package backend

import (
	"errors"
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/rank/exit"
	"busbar/rank/launch"

	"github.com/shoenig/test"
)

// A rank that times out breaks the connections of the others; the others do not report.
func TestFailedRank(t *testing.T) {
	fine, gaveUp, left := glooRank{}, glooRank{Error: "timed out"},
		glooRank{Error: "lost the connection", Follows: true}
	for _, c := range []struct {
		ranks   []glooRank
		speaker int // -1: no rank failed
	}{
		{[]glooRank{fine, fine}, -1},
		{[]glooRank{fine, gaveUp, gaveUp}, 1},
		{[]glooRank{left, gaveUp, fine}, 1},
		{[]glooRank{fine, left, left}, 1},
	} {
		for self := range c.ranks {
			err := failedRank(c.ranks, self)
			switch {
			case c.speaker < 0 && err == nil:
			case self == c.speaker && exit.CodeOf(err) == exit.Environment && err.Error() == c.ranks[self].Error:
			case c.speaker >= 0 && self != c.speaker && errors.Is(err, exit.ErrElsewhere):
			default:
				t.Errorf("%+v: rank %d has %v", c.ranks, self, err)
			}
		}
	}
}

func TestGlooMemory(t *testing.T) {
	memory := func(aggregate int, c coll.Case) float64 {
		b := &glooBackend{hostBackend: hostBackend{Layout: Layout{Rank: 1}, aggregate: aggregate}}
		return b.Memory(c) - b.Layout.Memory(c)
	}
	c := coll.Case{Collective: coll.ReduceScatter, Type: coll.Float32, Op: coll.Sum, Count: 1 << 20, World: 3,
		Placement: coll.OutOfPlace}
	share := float64(c.Count) * float64(c.Type.Size())
	reduce, inPlace := c, c
	reduce.Collective, inPlace.Placement = coll.Reduce, coll.InPlace
	if one, more := memory(1, c), memory(8, c); one != share || more != 2*share {
		t.Errorf("reduce_scatter: %g alone and %g together, want one and two of %g", one, more, share)
	}
	test.EqOp(t, share, memory(1, reduce))
	test.EqOp(t, 0, memory(8, inPlace))
}

func TestThreadCPUs(t *testing.T) {
	four := []int{0, 1, 2, 3}
	for name, c := range map[string]struct {
		own     string
		granted []int
		ranks   int
		slurm   bool
		want    []int // nil: where the rank may
	}{
		"one CPU, and room":    {"2", four, 2, false, four},
		"one CPU, and no room": {"2", four, 3, false, nil},
		"one CPU of Slurm's":   {"2", four, 2, true, nil},
		"not bound":            {"0-3", four, 2, false, nil},
		"nothing is known":     {"", nil, 2, false, nil},
		"unknown CPUs":         {"2", nil, 1, false, nil},
	} {
		test.SliceEqOp(t, c.want, threadCPUs(c.own, c.granted, c.ranks, c.slurm), test.Sprint(name))
	}
}

func TestCrowded(t *testing.T) {
	two := func(cpus ...string) (ranks []launch.RankFacts) {
		for _, c := range cpus {
			ranks = append(ranks, launch.RankFacts{Host: "host-a", Machine: "a", CPUs: c})
		}
		return ranks
	}
	quota := two("0-7")
	quota[0].Quota = 1
	elsewhere := append(two("0-7"), launch.RankFacts{Host: "host-b", Machine: "b", CPUs: "0"})
	for _, c := range []struct {
		ranks   []launch.RankFacts
		threads []string
		want    notice.Fact // nil: none
	}{
		{two("0-3", "0-3"), []string{"0-3", "0-3"}, nil},
		{two("0", "1"), []string{"0", "1"}, notice.SharedThreads{Host: "host-a", CPUs: 2, Ranks: 2}},
		{two("0", "1"), []string{"0-3", "0-3"}, nil},
		{elsewhere, []string{"0-7", "0"}, notice.SharedThreads{Host: "host-b", CPUs: 1, Ranks: 1}},
		{quota, []string{"0-7"}, notice.SharedThreads{Host: "host-a", CPUs: 1, Ranks: 1}},
		{two(""), []string{""}, nil},
	} {
		if got := crowded(c.ranks, c.threads); c.want == nil && got != nil ||
			c.want != nil && !slices.Equal(got, []notice.Fact{c.want}) {
			t.Errorf("%+v, %q: %v, want %v", c.ranks, c.threads, got, c.want)
		}
	}
}
