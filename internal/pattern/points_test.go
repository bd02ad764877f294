package pattern

import (
	"math"
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

func TestInconclusive(t *testing.T) {
	for name, c := range map[string]struct {
		t    result.Time
		want float64
	}{
		"an interval":       {result.Time{Lo: 1, Hi: math.Exp(0.392)}, 0.1},
		"one without width": {result.Time{Lo: 1, Hi: 1}, 0},
		"two samples":       {result.Time{Samples: 2, Min: 1, Max: math.Exp(0.4)}, 0.2},
		"one sample":        {result.Time{Samples: 1, Min: 1, Max: 1}, 0.2},
	} {
		if got := unsure(&c.t); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", name, got, c.want)
		}
	}
}

// The points of a file are times in the rounds, once more, or alone, by the names of their groups.
func TestVerdicts(t *testing.T) {
	of := &result.Pattern{Kind: Pairs, Rounds: 3, Hosts: names(4)}
	c := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 2}.WithSize(1 << 20)
	rounds := scheduled(t, Pairs, 4)
	measured := map[result.PointKey]result.Time{}
	add := func(round int, nodes []int, slow float64) {
		g := &result.Group{Round: round}
		for _, n := range nodes {
			g.Hosts = append(g.Hosts, of.Hosts[n])
		}
		seconds := 1e-3
		if slices.Contains(nodes, 2) {
			seconds *= slow
		}
		key := result.Point("mpi", c, 0)
		key.Group = g.String()
		measured[key] = result.Time{Seconds: seconds, Lo: seconds, Hi: seconds}
	}
	for i, r := range rounds {
		for _, nodes := range r {
			add(i+1, nodes, 4)
			add(len(rounds)+i+1, nodes, 3)
			add(0, nodes, 1)
		}
	}
	v := Verdicts(of, "mpi", []coll.Case{c}, measured)[c]
	f := fact[notice.SlowTogether](t, v)
	if v.Missing != 0 || !slices.Equal(f.Nodes, []string{"node3"}) || math.Abs(float64(f.Part.Times)-4) > 1e-9 ||
		math.Abs(float64(f.Repeated)-3) > 1e-9 || math.Abs(float64(f.Alone)-1) > 1e-9 {
		t.Errorf("%d missing: %+v", v.Missing, f)
	}
	if v := Verdicts(of, "gloo", []coll.Case{c}, measured)[c]; v.Missing != 6 {
		t.Errorf("another backend has %d groups missing", v.Missing)
	}
}
