package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/result"

	"github.com/shoenig/test/must"
)

// cleanPage is results without findings: curves of one model, and times that vary between cases and half as much
// between launches. One launch's confidence interval is that of its samples, and far narrower.
func cleanPage(r *rand.Rand, n int, noise float64) (sweeps []made) {
	for _, of := range []coll.Collective{coll.AllReduce, coll.AllGather, coll.Broadcast} {
		for _, placement := range []coll.Placement{coll.OutOfPlace, coll.InPlace} {
			for _, world := range []int{2, 16} {
				shift := map[string]float64{}
				sweeps = append(sweeps, edited(func(launch string, rec *result.Record) {
					if _, known := shift[launch]; !known {
						shift[launch] = noise / 2 * r.NormFloat64()
					}
					rec.Time.Seconds *= math.Exp(shift[launch] + noise*r.NormFloat64())
					s := rec.Time.Seconds
					rec.Ranks = &result.Ranks{Slowest: r.IntN(world), SlowestS: 1.2 * s,
						Median: []float64{s, s, 1.2 * s}, Latest: r.IntN(world), Lateness: s / 5, Uncertainty: 1e-9}
				}, onNodes(world, 2, 1), launches(n), func(m *made) {
					m.collective, m.placement, m.noise = of, placement, noise/4
				}))
			}
		}
	}
	return sweeps
}

// cleanPages is the number of generated pages of each kind; BUSBAR_CLEAN_PAGES overrides it.
func cleanPages(t *testing.T) int {
	given := os.Getenv("BUSBAR_CLEAN_PAGES")
	if given == "" {
		return 12
	}
	n, err := strconv.Atoi(given)
	must.NoError(t, err)
	return n
}

// The false-positive rate that docs/analysis.md states.
func TestCleanPages(t *testing.T) {
	needs.TestAll(t)
	pages := cleanPages(t)
	for _, n := range []int{1, 3, 5, 8} {
		for noise, most := range map[float64]float64{0.02: 0.1, 0.05: 0.4} {
			t.Run(fmt.Sprintf("%d of %g", n, noise), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(n), uint64(1000*noise)))
				with, kinds := 0, map[Kind]int{}
				for range pages {
					found := foundIn(t, Options{}, cleanPage(r, n, noise)...)
					with += min(1, len(found))
					for _, f := range found {
						kinds[f.Code()]++
					}
				}
				t.Logf("%d launches, noise %g: %d of %d pages of 12 curves: %v", n, noise, with, pages, kinds)
				if float64(with) > most*float64(pages) {
					t.Errorf("%d of %d clean pages have findings", with, pages)
				}
			})
		}
	}
}
