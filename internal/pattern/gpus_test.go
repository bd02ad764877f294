package pattern

import (
	"fmt"
	"math"
	"testing"

	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/stats"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// found are the names of suspects with their standing.
func (c *cluster) found(t *testing.T) string {
	t.Helper()
	v := c.run(t, c.Kind)
	var all []string
	for _, s := range v.Found() {
		all = append(all, fmt.Sprint(v.nodes(&s, names(c.Nodes)), " ", s.Standing))
	}
	return fmt.Sprint(all)
}

// shapes are the patterns of GPUs that are simulated.
var shapes = []Shape{{Rails, 2, 8}, {Rails, 3, 8}, {Rails, 4, 4}, {Rails, 8, 8}, {Rails, 9, 4}, {GPUs, 1, 4},
	{GPUs, 1, 8}, {GPUs, 3, 2}, {GPUs, 4, 4}, {GPUs, 4, 8}, {GPUs, 16, 8}}

// In sound clusters, at most 1 % of runs accuse a rail, node, GPU or link. A GPU that is 20 % slower is found at 2 %
// noise, one that is 50 % slower at 5 %, and no other part is named.
func TestGPUErrorRates(t *testing.T) {
	needs.TestAll(t)
	for _, k := range shapes {
		for noise, slow := range map[float64]float64{0.02: 1.2, 0.05: 1.5} {
			accused := share(func(seed uint64) bool {
				return soundGPUs(k, noise, seed).found(t) != "[]"
			})
			found := share(func(seed uint64) bool {
				c := soundGPUs(k, noise, seed+5000)
				gpu := int(seed) % (k.Nodes * k.Each)
				c.parts[gpu] = slow
				return c.found(t) == fmt.Sprintf("[%s %d]", c.name(gpu, names(k.Nodes), false), stats.Slow)
			})
			one := k.Kind == Rails && k.Nodes == 2 || k.Kind == GPUs && k.Each == 2 // pair: either of both is slow
			if accused > 1 || found < 95 && !one {
				t.Errorf("%+v with noise %g: accused in %.1f %%, %g times slower: found in %.1f %%", k, noise, accused,
					slow, found)
			}
		}
	}
}

// Each part is named by what it is, also in a large cluster, and only if it is slow.
func TestSlowParts(t *testing.T) {
	const nodes, each = 512, 8
	all := nodes * each
	for name, k := range map[string]struct {
		kind         string
		slow, shared int // parts
		link         [2]int
		want         string
	}{
		"sound":                  {Rails, -1, -1, [2]int{}, "[]"},
		"GPU on a rail":          {Rails, 6*each + 3, -1, [2]int{}, "[rail 3 of node7 1]"},
		"rail":                   {Rails, all + nodes + 3, -1, [2]int{}, "[rail 3 1]"},
		"node":                   {Rails, all + 6, -1, [2]int{}, "[node7 1]"},
		"link of a rail":         {Rails, -1, -1, [2]int{0, 8 * (nodes - 1)}, "[link node1:0+node512:0 1]"},
		"rail, all at once":      {Rails, -1, all + nodes + 5, [2]int{}, "[rail 5 2]"},
		"GPU, all rails at once": {Rails, -1, 9, [2]int{}, "[rail 1 of node2 2]"},
		"GPU":                    {GPUs, 20, -1, [2]int{}, "[GPU 4 of node3 1]"},
		"all GPUs of a node":     {GPUs, all + 2, -1, [2]int{}, "[node3 1]"},
		"link between two GPUs":  {GPUs, -1, -1, [2]int{9, 12}, "[link node2:1+node2:4 1]"},
	} {
		c := soundGPUs(Shape{k.kind, nodes, each}, 0.02, 1)
		c.parts[k.slow], c.shared[k.shared], c.links[k.link] = 2, 2, 2
		test.EqOp(t, k.want, c.found(t), test.Sprint(name))
	}
}

// With few nodes, a slow part is in many of the pairs.
func TestSlowPartsOfFew(t *testing.T) {
	for name, k := range map[string]struct {
		Shape
		slow         []int
		shared       int
		found, codes string
	}{
		"node":                {Shape{Rails, 4, 2}, []int{8}, -1, "[node1 1]", "slow-node"},
		"node, rails at once": {Shape{Rails, 4, 2}, nil, 8, "[node1 2]", "slow-together"},
		"GPU, and its node at once": {Shape{Rails, 8, 4}, []int{5}, 33, "[rail 1 of node2 1 node2 2]",
			"slow-node slow-together"},
		"GPUs of two nodes": {Shape{GPUs, 4, 4}, []int{0, 5}, -1, "[GPU 0 of node1 1 GPU 1 of node2 1]",
			"slow-node slow-node"},
		"half of all pairs": {Shape{GPUs, 2, 4}, []int{0, 5}, -1, "[]", "uneven-pairs"},
		"cleared":           {Shape{GPUs, 1, 3}, nil, 1, "[]", "no-slow-node"},
		"a pair":            {Shape{Rails, 2, 1}, nil, -1, "[]", "one-pair"},
	} {
		c := soundGPUs(k.Shape, 0.01, 5)
		for _, part := range k.slow {
			c.parts[part] = 2
		}
		c.shared[k.shared] = 2
		test.EqOp(t, k.found, c.found(t), test.Sprint(name))
		test.EqOp(t, k.codes, codes(c.run(t, k.Kind)), test.Sprint(name))
	}
}

// Rates are those of a suspect's pairs. Rails that slow each other down are reported.
func TestRates(t *testing.T) {
	c := soundGPUs(Shape{Rails, 8, 8}, 0, 1)
	c.parts[6*8+3] = 2
	for rail := range 8 {
		c.shared[8*8+8+rail] = 1.5
	}
	v := c.run(t, Rails)
	v.rate = func(seconds float64) float64 { return 48e6 / seconds }
	f, is := v.Notices(names(8))[0].Fact.(notice.SlowNode)
	if !is || f.Part.Rate == nil || math.Abs(float64(f.Part.Rate.BusBW)/24e9-1) > 1e-9 ||
		math.Abs(float64(f.Part.Rate.Usual)/48e9-1) > 1e-9 {
		t.Errorf("%+v", f)
	}
	if f, is := v.Notices(names(8))[1].Fact.(notice.RailsShare); !is || math.Abs(float64(f.Times)-1.5) > 1e-9 {
		t.Error(codes(v))
	}
}

// On each rail, a node meets several others, each once; then all rails do so at once. GPUs of a node meet once.
func TestGPUsScheduled(t *testing.T) {
	for _, s := range []Shape{{Rails, 2, 3}, {Rails, 5, 2}, {Rails, 12, 4}, {GPUs, 2, 5}, {GPUs, 3, 4}} {
		rounds, err := s.Rounds()
		must.NoError(t, err)
		met := map[when]map[string]int{inRounds: {}, atOnce: {}}
		for i, r := range rounds {
			busy := map[int]bool{}
			for _, g := range r {
				a, b := g[0], g[1]
				if met[s.occasion(i)][fmt.Sprint(g)]++; a >= b || busy[a] || busy[b] ||
					s.Kind == Rails && a%s.Each != b%s.Each || s.Kind == GPUs && a/s.Each != b/s.Each {
					t.Fatalf("%+v: %v", s, r)
				}
				busy[a], busy[b] = true, true
			}
		}
		want := s.Nodes * s.Each * (s.Each - 1) / 2
		if s.Kind == Rails {
			test.Eq(t, met[inRounds], met[atOnce])
			want = s.Each * s.partners() * (s.Nodes / 2)
		}
		test.EqOp(t, want, len(met[inRounds]), test.Sprint(s))
		for g, n := range met[inRounds] {
			test.EqOp(t, 1, n, test.Sprint(s, g))
		}
	}
}

func BenchmarkRails(b *testing.B) {
	c := soundGPUs(Shape{Rails, 4096, 8}, 0.05, 1)
	c.parts[35] = 1.5
	rounds, _ := c.Rounds()
	var times []Time
	for i, r := range rounds {
		times = append(times, c.times(c.occasion(i), r...)...)
	}
	for b.Loop() {
		v := c.Judge(times)
		c.Alone([]Verdict{v})
	}
}
