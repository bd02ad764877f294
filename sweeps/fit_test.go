package sweeps

import (
	"math/rand/v2"
	"testing"
	"time"

	"busbar/internal/coll"
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

func second(coll.Case) time.Duration { return time.Second }

// TestFitProperties holds for any costs: nothing is lost, the order stays, the limit is kept, and no series is left out
// while another keeps two sizes.
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

// TestFitThinsEvenly has equal costs: series differ by one size at most, ends stay, gaps differ by a factor of two at
// most (but for rounding: 8 may still be whole when 7 has become 3 and 4).
func TestFitThinsEvenly(t *testing.T) {
	s := Default()
	s.Parts[0].Collectives = coll.Collectives()[:3]
	s.Parts[0].Sizes = Sizes{Begin: 64, End: 64 << 30, Factor: 2}
	cases := mustPlan(t, s, 2, nil)
	for n := range len(cases) + 1 {
		kept, _ := Fit(cases, second, time.Duration(n)*time.Second)
		if len(kept) != n {
			t.Fatalf("%d kept, want %d", len(kept), n)
		}
		sizes := bySeries(kept)
		fewest, most := len(cases), 0
		for _, series := range sizes {
			fewest, most = min(fewest, len(series)), max(most, len(series))
			if series[0] != 64 || (len(series) > 1 && series[len(series)-1] != 64<<30) {
				t.Fatalf("%d cases: an end is gone: %v", n, series)
			}
			narrow, wide := len(cases), 0
			for i := 1; i < len(series); i++ {
				gap := 0
				for size := series[i-1]; size < series[i]; size *= 2 {
					gap++
				}
				narrow, wide = min(narrow, gap), max(wide, gap)
			}
			if len(series) > 1 && wide > 2*narrow+2 {
				t.Fatalf("%d cases: gaps from %d to %d in %v", n, narrow, wide, series)
			}
		}
		if n >= 3 && (len(sizes) < 3 || most-fewest > 1) {
			t.Fatalf("%d cases: %d series with %d to %d sizes", n, len(sizes), fewest, most)
		}
	}
}
