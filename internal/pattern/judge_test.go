package pattern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/stats"
)

// cluster is nodes of known speed. A group is as slow as the slowest node and link in it.
type cluster struct {
	nodes  []float64          // how many times as long an operation takes with this node in it
	links  map[[2]int]float64 // the same of a link
	shared map[int]float64    // the same of a node, while others measure too
	once   bool               // shared is so in the rounds the first time, and not once more
	noise  float64            // standard deviation of a time's logarithm
	random *rand.Rand
}

func sound(n int, noise float64, seed uint64) *cluster {
	return &cluster{nodes: slices.Repeat([]float64{1}, n), links: map[[2]int]float64{}, shared: map[int]float64{},
		noise: noise, random: rand.New(rand.NewPCG(seed, 7))}
}

func (c *cluster) time(group []int, on when) Time {
	factor := 1.0
	for k, a := range group {
		factor = max(factor, c.nodes[a])
		if x, short := c.shared[a]; short && (on == inRounds || on == onceMore && !c.once) {
			factor = max(factor, x)
		}
		for _, b := range group[k+1:] {
			if x, slow := c.links[[2]int{a, b}]; slow {
				factor = max(factor, x)
			}
		}
	}
	return Time{Nodes: group, Alone: on == alone, Again: on == onceMore,
		Seconds: 1e-3 * factor * math.Exp(c.noise*c.random.NormFloat64())}
}

// run goes through the rounds and the groups alone as rank does.
func (c *cluster) run(t *testing.T, kind string) Verdict {
	t.Helper()
	rounds, err := Rounds(kind, len(c.nodes))
	if err != nil {
		t.Fatal(err)
	}
	var times []Time
	for _, r := range rounds {
		for _, g := range r {
			times = append(times, c.time(g, inRounds))
		}
	}
	v := Judge(kind, len(c.nodes), times)
	for _, g := range Alone(kind, len(c.nodes), []Verdict{v}) {
		times = append(times, c.time(g, alone))
	}
	for _, n := range Repeats(kind, len(c.nodes), []Verdict{Judge(kind, len(c.nodes), times)}) {
		for _, g := range rounds[n-1] {
			times = append(times, c.time(g, onceMore))
		}
	}
	return Judge(kind, len(c.nodes), times)
}

func accused(v Verdict, standing stats.Standing) (names []string) {
	for _, s := range v.Suspects {
		if s.Standing == standing {
			names = append(names, fmt.Sprint(s.Nodes))
		}
	}
	slices.Sort(names)
	return names
}

const runs = 400

// share counts how often something was so, in percent.
func share(t *testing.T, f func(seed uint64) bool) float64 {
	t.Helper()
	yes := 0
	for seed := range uint64(runs) {
		if f(seed) {
			yes++
		}
	}
	return 100 * float64(yes) / runs
}

var kinds = []struct {
	kind  string
	nodes []int
}{{Pairs, []int{3, 4, 5, 6, 8, 11, 16}}, {Halves, []int{4, 5, 6, 8, 11, 16}}}

// One slow node among 4 to 16 is found, and no other is named with it, at 5 % of noise.
func TestASlowNodeIsFound(t *testing.T) {
	needs.TestAll(t)
	for _, k := range kinds {
		for _, n := range k.nodes {
			for _, slow := range []float64{1.2, 1.3, 1.5, 3} {
				if n == 3 && slow < 1.5 {
					continue // one pair to compare with
				}
				found := share(t, func(seed uint64) bool {
					c := sound(n, 0.05, seed)
					c.nodes[int(seed)%n] = slow
					return slices.Equal(accused(c.run(t, k.kind), stats.Slow),
						[]string{fmt.Sprintf("[%d]", int(seed)%n)})
				})
				t.Logf("%s, %d nodes, %g times: %.1f %%", k.kind, n, slow, found)
				if found < 95 {
					t.Errorf("%s of %d nodes, one %g times slower: found in %.1f %%, want 95", k.kind, n, slow, found)
				}
			}
		}
	}
}

// A sound cluster is accused at most once in a hundred times.
func TestASoundClusterIsLeftAlone(t *testing.T) {
	needs.TestAll(t)
	for _, k := range kinds {
		for _, n := range append(k.nodes, 32) {
			for _, noise := range []float64{0.01, 0.05} {
				named := share(t, func(seed uint64) bool {
					v := sound(n, noise, seed+1000).run(t, k.kind)
					return len(v.Found()) > 0
				})
				t.Logf("%s, %d nodes, noise %g: %.2f %%", k.kind, n, noise, named)
				if named > 1 {
					t.Errorf("%s of %d sound nodes with noise %g: accused in %.1f %%", k.kind, n, noise, named)
				}
			}
		}
	}
}

// A slow link is named as one, and its nodes are not.
func TestASlowLinkIsFound(t *testing.T) {
	for _, n := range []int{4, 5, 8, 16} {
		found := share(t, func(seed uint64) bool {
			c := sound(n, 0.05, seed)
			c.links[[2]int{1, 2}] = 1.5
			return slices.Equal(accused(c.run(t, Pairs), stats.Slow), []string{"[1 2]"})
		})
		t.Logf("%d nodes: %.1f %%", n, found)
		if found < 95 {
			t.Errorf("%d nodes: the link is found in %.1f %%", n, found)
		}
	}
}

// Two slow nodes of different speed are both named.
func TestTwoSlowNodesAreFound(t *testing.T) {
	for _, n := range []int{5, 6, 8, 16} {
		found := share(t, func(seed uint64) bool {
			c := sound(n, 0.05, seed)
			c.nodes[0], c.nodes[2] = 1.5, 2
			return slices.Equal(accused(c.run(t, Pairs), stats.Slow), []string{"[0]", "[2]"})
		})
		t.Logf("%d nodes: %.1f %%", n, found)
		if found < 95 {
			t.Errorf("%d nodes: both are found in %.1f %%", n, found)
		}
	}
}

// Two slow nodes are more than halves can tell apart: they are not taken for one, and pairs are recommended.
func TestHalvesSayWhatTheyCannot(t *testing.T) {
	c := sound(8, 0.01, 1)
	c.nodes[0], c.nodes[5] = 2, 2
	v := c.run(t, Halves)
	if len(v.Found()) > 0 || !v.Halves.Unclear || v.Notices(names(8))[0].Code() != "unclear-halves" {
		t.Errorf("%+v: %q", v.Suspects, texts(v, names(8)))
	}
}

// A slow link makes a half slow in most rounds, of many nodes: neither of its nodes is named for it.
func TestHalvesNameNoNodeForALink(t *testing.T) {
	for _, n := range []int{8, 16, 31, 64} {
		named := share(t, func(seed uint64) bool {
			c := sound(n, 0.03, seed)
			a := int(seed) % n
			b := (a + 1 + int(seed/7)%(n-1)) % n
			c.links[[2]int{min(a, b), max(a, b)}] = 2
			v := c.run(t, Halves)
			return len(v.Found()) > 0
		})
		t.Logf("%d nodes: %.1f %%", n, named)
		if named > 1 {
			t.Errorf("halves of %d nodes, one slow link: a node is named in %.1f %%", n, named)
		}
	}
}

// A node that is slow only while others measure is said to be so where it is when its rounds are measured once more,
// and not where that was once.
func TestSlowTogether(t *testing.T) {
	for _, k := range kinds {
		c := sound(6, 0.01, 3)
		c.shared[4] = 2
		v := c.run(t, k.kind)
		f, _ := v.Notices(names(6))[0].Fact.(notice.SlowTogether)
		if !slices.Equal(accused(v, stats.SlowTogether), []string{"[4]"}) ||
			!slices.Equal(f.Nodes, []string{"node5"}) ||
			f.Part.Times < 1.95 || f.Repeated < 1.95 || f.Part.Halves != (k.kind == Halves) {
			t.Errorf("%s: %q", k.kind, texts(v, names(6)))
		}
		c.once = true
		v = c.run(t, k.kind)
		none, _ := v.Notices(names(6))[0].Fact.(notice.NoSlowNode)
		if len(v.Found()) > 0 || none.What != (k.kind == Pairs) || len(none.Suspects) != 1 ||
			!slices.Equal(none.Suspects[0].Nodes, []string{"node5"}) || none.Suspects[0].Repeated == 0 {
			t.Errorf("%s, once: %q", k.kind, texts(v, names(6)))
		}
	}
}

// Before its rounds were measured once more nothing is said of such a node but what it took; and its slowest rounds
// are asked for, the same when they are there already.
func TestSlowOnce(t *testing.T) {
	c := sound(6, 0, 1)
	c.shared[4] = 2
	rounds, err := Rounds(Pairs, 6)
	if err != nil {
		t.Fatal(err)
	}
	var times []Time
	for i, r := range rounds {
		for _, g := range r {
			took := c.time(g, inRounds)
			if slices.Contains(g, 4) && (i == 1 || i == 3) {
				took.Seconds *= 1.2
			}
			times = append(times, took)
		}
	}
	for _, g := range Alone(Pairs, 6, []Verdict{Judge(Pairs, 6, times)}) {
		times = append(times, c.time(g, alone))
	}
	v := Judge(Pairs, 6, times)
	f, _ := v.Notices(names(6))[0].Fact.(notice.SlowOnce)
	if !slices.Equal(accused(v, stats.SlowOnce), []string{"[4]"}) || !slices.Equal(f.Nodes, []string{"node5"}) {
		t.Errorf("%+v", f)
	}
	want := []int{2, 4}
	if got := Repeats(Pairs, 6, []Verdict{v}); !slices.Equal(got, want) {
		t.Errorf("rounds %v, want %v", got, want)
	}
	for _, g := range rounds[1] {
		times = append(times, c.time(g, onceMore))
	}
	if got := Repeats(Pairs, 6, []Verdict{Judge(Pairs, 6, times)}); !slices.Equal(got, want) {
		t.Errorf("rounds %v when one of them is there, want %v", got, want)
	}
	if n, again := Number(5, 7); n != 2 || !again {
		t.Errorf("number 7 of 5 rounds is round %d, again %t", n, again)
	}
}

// Of three nodes no other measures beside a pair, in the rounds either: what was slow there and not alone was chance.
func TestNothingIsBesideThePairsOfThree(t *testing.T) {
	c := sound(3, 0, 1)
	c.shared[2] = 2
	v := c.run(t, Pairs)
	if len(v.Found()) > 0 || len(v.Suspects) != 1 {
		t.Errorf("%+v: %q", v.Suspects, texts(v, names(3)))
	}
	if got := Repeats(Pairs, 3, []Verdict{v}); len(got) > 0 {
		t.Errorf("rounds %v once more", got)
	}
}

// A node with a fast pair is not slow: what is slow is some of its links.
func TestANodeWithAFastPairIsNotNamed(t *testing.T) {
	for _, k := range []struct {
		nodes int
		slow  [][2]int
		links int
	}{{4, [][2]int{{0, 2}, {1, 2}}, 2}, {6, [][2]int{{0, 2}, {1, 2}, {2, 3}, {2, 4}}, 0}} {
		c := sound(k.nodes, 0.01, 5)
		for _, l := range k.slow {
			c.links[l] = 2
		}
		v := c.run(t, Pairs)
		text := strings.Join(texts(v, names(k.nodes)), "\n")
		for _, s := range v.Found() {
			f, _ := s.fact(Pairs, names(k.nodes)).(notice.SlowNode)
			if !f.Part.Link || !slices.Equal(f.Nodes,
				[]string{names(k.nodes)[s.Nodes[0]], names(k.nodes)[s.Nodes[1]]}) {
				t.Errorf("%d nodes: %s", k.nodes, text)
			}
		}
		if len(v.Found()) != k.links || k.links == 0 && !strings.Contains(text, "4 pairs are slow") {
			t.Errorf("%d nodes: %s", k.nodes, text)
		}
	}
}

// Nodes that are slow with all but each other are said to lie apart.
func TestNodesThatLieApart(t *testing.T) {
	c := sound(8, 0.01, 2)
	for i := range 8 {
		for _, far := range []int{2, 5} {
			if i != 2 && i != 5 {
				c.links[[2]int{min(i, far), max(i, far)}] = 1.6
			}
		}
	}
	v := c.run(t, Pairs)
	if text := strings.Join(texts(v, names(8)), "\n"); !slices.Equal(accused(v, stats.Slow), []string{"[2]", "[5]"}) ||
		!strings.Contains(text, "as fast as the others among themselves") {
		t.Error(text)
	}
	c = sound(8, 0.01, 2)
	c.nodes[2], c.nodes[5] = 1.6, 1.6
	v = c.run(t, Pairs)
	if v.Pairs.Apart {
		t.Errorf("two slow nodes are slow with each other too: %+v", v.Pairs)
	}
}

func names(n int) (hosts []string) {
	for i := range n {
		hosts = append(hosts, fmt.Sprintf("node%d", i+1))
	}
	return hosts
}

func TestSentences(t *testing.T) {
	c := sound(4, 0, 1)
	if v := c.run(t, Pairs); texts(v,
		names(4))[0] != "no node or link is slow (nodes within 0.0 %, pairs within 0.0 %)" {
		t.Errorf("%q", texts(v, names(4)))
	}
	c.nodes[2] = 2.4
	v := c.run(t, Pairs)
	if want := "node3 is slow: its pairs take 2.40 times as long as the others (3 of 3 pairs slow) Measured again " +
		"alone: 2.40 times."; texts(v, names(4))[0] != want {
		t.Errorf("%q", texts(v, names(4)))
	}
	if r := v.Relative(); math.Abs(r[2][0]-2.4) > 1e-9 || math.Abs(r[0][1]-1) > 1e-9 || r[1][1] != 0 {
		t.Errorf("%v", r)
	}
	v = Judge(Pairs, 4, nil)
	if v.Missing != 6 || texts(v, names(4))[0] != "no values to compare" {
		t.Errorf("%q", texts(v, names(4)))
	}
	v = Judge(Pairs, 2, []Time{{Nodes: []int{0, 1}, Seconds: 1}})
	if !strings.Contains(texts(v, names(2))[0], "there is no other to compare it with") {
		t.Errorf("%q", texts(v, names(2)))
	}
}

// texts are the notices of a verdict: message and details.
func texts(v Verdict, hosts []string) (all []string) {
	for _, n := range v.Notices(hosts) {
		all = append(all, strings.Join(append([]string{n.Message()}, n.Details()...), " "))
	}
	return all
}
