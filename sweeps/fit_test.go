package sweeps

import (
	"math/rand/v2"
	"testing"
	"time"

	"busbar/internal/coll"

	"github.com/shoenig/test"
)

func seriesOf(c coll.Case) coll.Case {
	c.SizeBytes, c.Count = 0, 0
	return c
}

func bySeries(cases []coll.Case) map[coll.Case][]int64 {
	m := map[coll.Case][]int64{}
	for _, c := range cases {
		m[seriesOf(c)] = append(m[seriesOf(c)], c.SizeBytes)
	}
	return m
}

// Fit keeps all cases, their order and the limit for any costs. No series is skipped
// while another has two sizes.
func TestFitProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		s := Default()
		s.Parts[0].Collectives = some(random, coll.Collectives())
		s.Parts[0].Modes = some(random, []coll.Mode{coll.Throughput, coll.Latency})
		s.Parts[0].Sizes = Sizes{Begin: 64, End: 64 << random.IntN(16), Factor: 2}
		cases := mustPlan(t, s, 2, nil)
		costs := map[coll.Case]time.Duration{}
		var total time.Duration
		for _, c := range cases {
			costs[c] = time.Duration(random.ExpFloat64() * 1e9)
			total += costs[c]
		}
		limit := time.Duration(random.Float64() * 1.2 * float64(total))
		kept, left := Fit(cases, func(c coll.Case) time.Duration { return costs[c] }, limit)

		var spent time.Duration
		for _, c := range kept {
			spent += costs[c]
		}
		if spent > limit {
			t.Fatalf("%v kept within %v", spent, limit)
		}
		if total <= limit && len(left) > 0 {
			t.Fatalf("%d left although all fit", len(left))
		}
		k, l := 0, 0
		for _, c := range cases {
			switch {
			case k < len(kept) && kept[k] == c:
				k++
			case l < len(left) && left[l] == c:
				l++
			default:
				t.Fatalf("%s is lost or out of order", c)
			}
		}
		all, some := bySeries(cases), bySeries(kept)
		for name := range all {
			for other := range some {
				if len(some[name]) == 0 && len(some[other]) > 1 {
					t.Fatalf("%s has nothing, %s %d sizes", name, other, len(some[other]))
				}
			}
		}
	}
}

// The ends come first, then the middle of every gap.
func TestSizeOrder(t *testing.T) {
	for n, want := range map[int][]int{1: {0}, 2: {0, 1}, 6: {0, 5, 2, 1, 3, 4}, 9: {0, 8, 4, 2, 6, 1, 3, 5, 7}} {
		test.SliceEqOp(t, want, byWorth(n), test.Sprint(n))
	}
}
