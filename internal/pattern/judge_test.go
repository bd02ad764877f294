package pattern

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/stats"

	"github.com/shoenig/test"
)

var kinds = []struct {
	kind  string
	nodes []int
}{{Pairs, []int{3, 4, 5, 6, 8, 11, 16}}, {Halves, []int{4, 5, 6, 8, 11, 16}}}

// One slow node among 3 to 16 is found, and no other is named, at 5 % noise.
func TestSlowNode(t *testing.T) {
	needs.TestAll(t)
	for _, k := range kinds {
		for _, n := range k.nodes {
			for _, slow := range []float64{1.2, 1.3, 1.5, 3} {
				if n == 3 && slow < 1.5 {
					continue // one pair to compare with
				}
				found := share(func(seed uint64) bool {
					c := sound(n, 0.05, seed)
					c.parts[int(seed)%n] = slow
					return slices.Equal(accused(c.run(t, k.kind), stats.Slow),
						[]string{fmt.Sprintf("[%d]", int(seed)%n)})
				})
				if found < 95 {
					t.Errorf("%s of %d nodes, one %g times slower: found in %.1f %%, want 95", k.kind, n, slow, found)
				}
			}
		}
	}
}

// A healthy cluster has a finding in at most 1 % of runs.
func TestHealthyCluster(t *testing.T) {
	needs.TestAll(t)
	for _, k := range kinds {
		for _, n := range append(k.nodes, 32) {
			for _, noise := range []float64{0.01, 0.05} {
				named := share(func(seed uint64) bool {
					v := sound(n, noise, seed+1000).run(t, k.kind)
					return len(v.Found()) > 0
				})
				if named > 1 {
					t.Errorf("%s of %d sound nodes with noise %g: accused in %.1f %%", k.kind, n, noise, named)
				}
			}
		}
	}
}

// A slow link is named as one, and its nodes are not; two slow nodes of different speed are both named.
func TestSlowLinkAndTwoNodes(t *testing.T) {
	for name, k := range map[string]struct {
		nodes []int
		spoil func(*cluster)
		want  []string
	}{
		"a link":    {[]int{4, 5, 8, 16}, func(c *cluster) { c.links[[2]int{1, 2}] = 1.5 }, []string{"[1 2]"}},
		"two nodes": {[]int{5, 6, 8, 16}, func(c *cluster) { c.parts[0], c.parts[2] = 1.5, 2 }, []string{"[0]", "[2]"}},
	} {
		for _, n := range k.nodes {
			found := share(func(seed uint64) bool {
				c := sound(n, 0.05, seed)
				k.spoil(c)
				return slices.Equal(accused(c.run(t, Pairs), stats.Slow), k.want)
			})
			if found < 95 {
				t.Errorf("%s of %d: found in %.1f %%", name, n, found)
			}
		}
	}
}

// Halves cannot separate two slow nodes: the verdict recommends pairs and names no single node. A slow link makes a
// half slow in most rounds, for many nodes: neither of its nodes is named.
func TestHalvesNeverBlameWrongNode(t *testing.T) {
	c := sound(8, 0.01, 1)
	c.parts[0], c.parts[5] = 2, 2
	if v := c.run(t, Halves); len(v.Found()) > 0 || !v.Halves.Unclear || codes(v) != "unclear-halves" {
		t.Errorf("%+v: %s", v.Suspects, codes(v))
	}
	for _, n := range []int{8, 16, 31, 64} {
		named := share(func(seed uint64) bool {
			c := sound(n, 0.03, seed)
			a := int(seed) % n
			b := (a + 1 + int(seed/7)%(n-1)) % n
			c.links[[2]int{min(a, b), max(a, b)}] = 2
			v := c.run(t, Halves)
			return len(v.Found()) > 0
		})
		if named > 1 {
			t.Errorf("halves of %d nodes, one slow link: a node is named in %.1f %%", n, named)
		}
	}
}

// A node that is slow only while others measure is reported as slow if it is slow again in repeated rounds.
func TestSlowTogether(t *testing.T) {
	for _, k := range kinds {
		c := sound(6, 0.01, 3)
		c.shared[4] = 2
		v := c.run(t, k.kind)
		f := fact[notice.SlowTogether](t, v)
		if !slices.Equal(accused(v, stats.SlowTogether), []string{"[4]"}) ||
			!slices.Equal(f.Nodes, []string{"node5"}) ||
			f.Part.Times < 1.95 || f.Repeated < 1.95 ||
			f.Part.Halves != (k.kind == Halves) {
			t.Errorf("%s: %+v", k.kind, f)
		}
		c.once = true
		v = c.run(t, k.kind)
		none := fact[notice.NoSlowNode](t, v)
		if len(v.Found()) > 0 || none.What != (k.kind == Pairs) || len(none.Suspects) != 1 ||
			!slices.Equal(none.Suspects[0].Nodes, []string{"node5"}) || none.Suspects[0].Repeated == 0 {
			t.Errorf("%s, once: %+v", k.kind, none)
		}
	}
	// With three nodes no other pair measures at the same time, in the rounds too: a node slow there but not alone was
	// chance.
	c := sound(3, 0, 1)
	c.shared[2] = 2
	v := c.run(t, Pairs)
	if len(v.Found()) > 0 || len(v.Suspects) != 1 || len(of(Pairs, 3).Repeats([]Verdict{v})) > 0 {
		t.Errorf("three nodes: %+v", v.Suspects)
	}
}

// Before its rounds are repeated, such a node is reported as slow once, and its slowest rounds are requested, the same
// if some already exist.
func TestSlowOnce(t *testing.T) {
	c := sound(6, 0, 1)
	c.shared[4] = 2
	rounds := scheduled(t, Pairs, 6)
	var times []Time
	for i, r := range rounds {
		for _, took := range c.times(inRounds, r...) {
			if slices.Contains(took.Nodes, 4) && (i == 1 || i == 3) {
				took.Seconds *= 1.2
			}
			times = append(times, took)
		}
	}
	times = append(times, c.times(alone, of(Pairs, 6).Alone([]Verdict{of(Pairs, 6).Judge(times)})...)...)
	v := of(Pairs, 6).Judge(times)
	f := fact[notice.SlowOnce](t, v)
	if !slices.Equal(accused(v, stats.SlowOnce), []string{"[4]"}) || !slices.Equal(f.Nodes, []string{"node5"}) {
		t.Errorf("%+v", f)
	}
	repeated := append(times, c.times(onceMore, rounds[1]...)...)
	for _, times := range [][]Time{times, repeated} {
		test.SliceEqOp(t, []int{2, 4}, of(Pairs, 6).Repeats([]Verdict{of(Pairs, 6).Judge(times)}))
	}
	if n, again := Number(5, 7); n != 2 || !again {
		t.Errorf("number 7 of 5 rounds is round %d, again %t", n, again)
	}
}

// A node with a fast pair is not slow: some of its links are.
func TestNodeWithFastPair(t *testing.T) {
	for _, k := range []struct {
		nodes int
		slow  [][2]int
		links int
		want  string
	}{
		{4, [][2]int{{0, 2}, {1, 2}}, 2, "slow-node slow-node"},
		{6, [][2]int{{0, 2}, {1, 2}, {2, 3}, {2, 4}}, 0, "uneven-pairs"},
	} {
		c := sound(k.nodes, 0.01, 5)
		for _, l := range k.slow {
			c.links[l] = 2
		}
		v := c.run(t, Pairs)
		for _, s := range v.Found() {
			if f, _ := v.fact(&s, names(k.nodes)).(notice.SlowNode); !f.Part.Link || len(f.Nodes) != 2 {
				t.Errorf("%d nodes: %+v", k.nodes, f)
			}
		}
		if len(v.Found()) != k.links || codes(v) != k.want {
			t.Errorf("%d nodes: %s", k.nodes, codes(v))
		}
	}
}

// Nodes that are slow with all but each other lie apart.
func TestDistantNodes(t *testing.T) {
	c := sound(8, 0.01, 2)
	for i := range 8 {
		for _, far := range []int{2, 5} {
			if i != 2 && i != 5 {
				c.links[[2]int{min(i, far), max(i, far)}] = 1.6
			}
		}
	}
	if v := c.run(t, Pairs); !slices.Equal(accused(v, stats.Slow), []string{"[2]", "[5]"}) ||
		codes(v) != "slow-node slow-node slow-path" {
		t.Error(codes(v))
	}
	c = sound(8, 0.01, 2)
	c.parts[2], c.parts[5] = 1.6, 1.6
	if v := c.run(t, Pairs); v.Pairs.Apart {
		t.Errorf("two slow nodes are slow with each other too: %+v", v.Pairs)
	}
}

func TestNotices(t *testing.T) {
	c := sound(4, 0, 1)
	if got := fact[notice.NoSlowNode](t, c.run(t, Pairs)); !got.What || len(got.Suspects) > 0 {
		t.Errorf("%+v", got)
	}
	c.parts[2] = 2.4
	v := c.run(t, Pairs)
	f := fact[notice.SlowNode](t, v)
	if f.Part.Slow != 3 || f.Part.Of != 3 || math.Abs(float64(f.Part.Times)-2.4) > 1e-9 ||
		math.Abs(float64(f.Alone)-2.4) > 1e-9 {
		t.Errorf("%+v", f)
	}
	if r := v.Matrices(names(4))[0].Values; math.Abs(r[2][0]-2.4) > 1e-9 || math.Abs(r[0][1]-1) > 1e-9 || r[1][1] != 0 {
		t.Errorf("%v", r)
	}
	if v := of(Pairs, 4).Judge(nil); v.Missing != 6 || codes(v) != "nothing-to-compare groups-missing" {
		t.Errorf("%d missing: %s", v.Missing, codes(v))
	}
	if v := of(Pairs, 2).Judge([]Time{{Nodes: []int{0, 1}, Seconds: 1}}); codes(v) != "one-pair" {
		t.Error(codes(v))
	}
	// Missing and unmeasurable parts are reported.
	var times []Time
	for _, g := range slices.Concat(scheduled(t, Halves, 4)[1:]...) {
		times = append(times, Time{Nodes: g, Seconds: 1e-3, Unsure: 0.1})
	}
	v = of(Halves, 4).Judge(times[1:])
	if none := fact[notice.NoSlowNode](t, v); v.Missing != 3 || none.Noise == 0 || none.Unseen <= none.Noise {
		t.Errorf("%d missing: %+v", v.Missing, none)
	}
	for i := range times {
		times[i].Unsure = 0.01
	}
	v = of(Halves, 4).Judge(times)
	if none := fact[notice.NoSlowNode](t, v); v.Missing != 2 || none.Noise != 0 {
		t.Errorf("%d missing: %+v", v.Missing, none)
	}
}

// A link whose own time is uncertain is not named, however certain the others are.
func TestUncertainLink(t *testing.T) {
	c := sound(6, 0, 1)
	c.links[[2]int{1, 2}] = 1.5
	for _, unsure := range []float64{0, 0.3} {
		times := c.inRounds(t)
		for i := range times {
			if slices.Equal(times[i].Nodes, []int{1, 2}) {
				times[i].Unsure = unsure
			}
		}
		v := of(Pairs, 6).Judge(times)
		if accused := len(v.Found()) > 0; accused != (unsure == 0) {
			t.Errorf("unsure by %g: %s", unsure, codes(v))
		}
	}
}

// A pair of two suspects is no evidence about either.
func TestPairOfSuspects(t *testing.T) {
	c := sound(8, 0, 1)
	c.parts[1], c.parts[4] = 1.5, 3
	v := of(Pairs, 8).Judge(append(c.inRounds(t), c.times(alone, []int{1, 2}, []int{1, 4}, []int{0, 4},
		[]int{2, 3})...))
	for _, s := range v.Suspects {
		if want := c.parts[s.Nodes[0]]; want == 0 || math.Abs(float64(times(s.Alone))-want) > 1e-9 {
			t.Errorf("%v takes %s times as long alone, want %g", s.Nodes, times(s.Alone), want)
		}
	}
	test.Len(t, 2, v.Suspects)
}
