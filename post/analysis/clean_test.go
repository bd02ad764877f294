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
)

// page is results in which there is nothing to find: curves of one law, and times that scatter about it from case to
// case and from launch to launch. An interval of one launch is that of its samples, and far narrower.
type page struct {
	launches int
	noise    float64 // standard deviation of log t between cases; half as much between launches
}

func (p page) fill(r *rand.Rand, c *Collector) {
	for _, of := range []coll.Collective{coll.AllReduce, coll.AllGather, coll.Broadcast} {
		for _, placement := range []coll.Placement{coll.OutOfPlace, coll.InPlace} {
			for _, world := range []int{2, 16} {
				for l := range p.launches {
					shift := p.noise / 2 * r.NormFloat64()
					run := &result.Run{ID: fmt.Sprint(world, l), Launch: fmt.Sprint("launch-", l),
						Backend: result.Backend{Name: "nccl", Library: "NCCL 2.27"}, World: world, Nodes: 2,
						RanksPerNode: world / 2}
					for k := 4; k <= 30; k++ {
						at := coll.Case{Collective: of, Type: coll.Float32, Op: coll.Sum, Root: -1,
							Placement: placement,
							Mode:      coll.Throughput, World: world}.WithSize(1 << k)
						if at.Count == 0 {
							continue
						}
						s := (20e-6 + float64(at.SizeBytes)*of.BusFactor(world)/100e9) * math.Exp(shift+
							p.noise*r.NormFloat64())
						c.Add(result.Row{Run: run, Record: &result.Record{Case: at, Status: result.OK,
							Time: &result.Time{Seconds: s, Lo: s * (1 - p.noise/4), Hi: s * (1 + p.noise/4)},
							Ranks: &result.Ranks{Slowest: r.IntN(world), SlowestS: 1.2 * s,
								Median: []float64{s, s, 1.2 * s},
								Latest: r.IntN(world), Lateness: s / 5, Uncertainty: 1e-9}}})
					}
				}
			}
		}
	}
}

// cleanPages is how many pages of each sort are drawn; BUSBAR_CLEAN_PAGES says otherwise.
func cleanPages(t *testing.T) int {
	given := os.Getenv("BUSBAR_CLEAN_PAGES")
	if given == "" {
		return 12
	}
	n, err := strconv.Atoi(given)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What docs/analysis.md says of how much is found where nothing is.
func TestCleanPages(t *testing.T) {
	needs.TestAll(t)
	pages := cleanPages(t)
	for _, launches := range []int{1, 3, 5, 8} {
		for noise, most := range map[float64]float64{0.02: 0.1, 0.05: 0.4} {
			t.Run(fmt.Sprintf("%d of %g", launches, noise), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(launches), uint64(1000*noise)))
				with, kinds := 0, map[Kind]int{}
				for range pages {
					c := NewCollector()
					page{launches, noise}.fill(r, c)
					found, _ := Find(c.Curves(), Options{})
					with += min(1, len(found))
					for _, f := range found {
						kinds[f.Code()]++
					}
				}
				t.Logf("%d launches, noise %g: %d of %d pages of 12 curves: %v", launches, noise, with, pages, kinds)
				if float64(with) > most*float64(pages) {
					t.Errorf("%d of %d clean pages have findings", with, pages)
				}
			})
		}
	}
}
