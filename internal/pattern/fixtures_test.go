package pattern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/stats"

	"github.com/shoenig/test/must"
)

// cluster is nodes or GPUs of known speed. A group is as slow as its slowest part and link.
type cluster struct {
	Shape
	parts  map[int]float64    // slowdown of an operation with this node, or part of GPUs
	links  map[[2]int]float64 // the same of a link
	shared map[int]float64    // the same of a part, while others measure too; of rails, at once
	once   bool               // shared applies in the rounds the first time only
	noise  float64            // standard deviation of a time's logarithm
	random *rand.Rand
}

func of(kind string, n int) Shape { return Shape{kind, n, 1} }

func sound(n int, noise float64, seed uint64) *cluster { return soundGPUs(of(Pairs, n), noise, seed) }

func soundGPUs(s Shape, noise float64, seed uint64) *cluster {
	return &cluster{s, map[int]float64{}, map[[2]int]float64{}, map[int]float64{}, false, noise,
		rand.New(rand.NewPCG(seed, 7))}
}

func (c *cluster) time(group []int, on when) Time {
	factor, first, more := 1.0, inRounds, onceMore
	if c.Kind == Rails {
		first, more = atOnce, atOnceMore
	}
	for _, part := range c.Shape.parts(group) {
		if factor = max(factor, c.parts[part]); on == first || on == more && !c.once {
			factor = max(factor, c.shared[part])
		}
	}
	for k, a := range group {
		for _, b := range group[k+1:] {
			factor = max(factor, c.links[[2]int{a, b}])
		}
	}
	return Time{Nodes: group, Alone: on == alone, Again: on == onceMore || on == atOnceMore,
		AtOnce: on == atOnce || on == atOnceMore, Seconds: 1e-3 * factor * math.Exp(c.noise*c.random.NormFloat64())}
}

// times are those of groups on an occasion.
func (c *cluster) times(on when, groups ...[]int) (times []Time) {
	for _, g := range groups {
		times = append(times, c.time(g, on))
	}
	return times
}

// inRounds are the times of all rounds.
func (c *cluster) inRounds(t *testing.T) (times []Time) {
	t.Helper()
	rounds, err := c.Rounds()
	must.NoError(t, err)
	for i, r := range rounds {
		times = append(times, c.times(c.occasion(i), r...)...)
	}
	return times
}

// run runs the rounds and the single groups as rank does.
func (c *cluster) run(t *testing.T, kind string) Verdict {
	t.Helper()
	c.Kind = kind
	times := c.inRounds(t)
	times = append(times, c.times(alone, c.Alone([]Verdict{c.Judge(times)})...)...)
	for _, number := range c.Repeats([]Verdict{c.Judge(times)}) {
		rounds, _ := c.Rounds()
		times = append(times, c.times(c.occasion(number-1)+1, rounds[number-1]...)...)
	}
	return c.Judge(times)
}

func scheduled(t *testing.T, kind string, n int) []Round {
	t.Helper()
	rounds, err := of(kind, n).Rounds()
	if err != nil {
		t.Fatal(err)
	}
	return rounds
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

// share returns the percentage of 400 clusters for which a condition holds.
func share(f func(seed uint64) bool) float64 {
	const runs = 400
	yes := 0
	for seed := range uint64(runs) {
		if f(seed) {
			yes++
		}
	}
	return 100 * float64(yes) / runs
}

func names(n int) (hosts []string) {
	for i := range n {
		hosts = append(hosts, fmt.Sprintf("node%d", i+1))
	}
	return hosts
}

// codes are those of the notices of a verdict.
func codes(v Verdict) string {
	var all []string
	for _, n := range v.Notices(names(v.Nodes)) {
		all = append(all, string(n.Code()))
	}
	return strings.Join(all, " ")
}

// fact returns the first notice of a verdict, of a given type.
func fact[F notice.Fact](t *testing.T, v Verdict) F {
	t.Helper()
	f, ok := v.Notices(names(v.Nodes))[0].Fact.(F)
	if !ok {
		t.Errorf("%s, want %T", codes(v), f)
	}
	return f
}
