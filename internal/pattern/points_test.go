package pattern

import (
	"math"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
)

func TestUnsure(t *testing.T) {
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
	rounds, err := Rounds(Pairs, 4)
	if err != nil {
		t.Fatal(err)
	}
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
	want := "node3 is slow only while the others measure too: its pairs take 4.00 times as long as the others (3 of " +
		"3 pairs slow) Once more: 3.00 times; alone: 1.00 times."
	if text := texts(v, of.Hosts); v.Missing != 0 || !strings.HasPrefix(text[0], want) {
		t.Errorf("%d missing: %q", v.Missing, text)
	}
	if v := Verdicts(of, "gloo", []coll.Case{c}, measured)[c]; v.Missing != 6 {
		t.Errorf("another backend has %d groups missing", v.Missing)
	}
}

// A link whose own time is uncertain is not accused by it, however sure the others are.
func TestAnUncertainLink(t *testing.T) {
	c := sound(6, 0, 1)
	c.links[[2]int{1, 2}] = 1.5
	for _, unsure := range []float64{0, 0.3} {
		var times []Time
		rounds, err := Rounds(Pairs, 6)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rounds {
			for _, g := range r {
				took := c.time(g, inRounds)
				if slices.Equal(g, []int{1, 2}) {
					took.Unsure = unsure
				}
				times = append(times, took)
			}
		}
		v := Judge(Pairs, 6, times)
		if accused := len(v.Found()) > 0; accused != (unsure == 0) {
			t.Errorf("unsure by %g: %q", unsure, texts(v, names(6)))
		}
	}
}

// What is missing, and what could not be seen, is said.
func TestWhatIsNotKnownIsSaid(t *testing.T) {
	rounds, err := Rounds(Halves, 4)
	if err != nil {
		t.Fatal(err)
	}
	var times []Time
	for _, r := range rounds[1:] {
		for _, g := range r {
			times = append(times, Time{Nodes: g, Seconds: 1e-3, Unsure: 0.1})
		}
	}
	v := Judge(Halves, 4, times[1:])
	text := strings.Join(texts(v, names(4)), "\n")
	if v.Missing != 3 || !strings.Contains(text, "3 groups have no value") ||
		!strings.Contains(text, "A time is known to about 22 % only: less than 35 % is not found.") {
		t.Errorf("%d missing: %s", v.Missing, text)
	}
	v = Judge(Halves, 4, times)
	if v.Missing != 2 {
		t.Errorf("%d missing, want both halves of a round", v.Missing)
	}
	for i := range times {
		times[i].Unsure = 0.01
	}
	v = Judge(Halves, 4, times)
	if text := strings.Join(texts(v, names(4)), "\n"); strings.Contains(text, "is not found") {
		t.Error(text)
	}
}
