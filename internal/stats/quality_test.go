package stats

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"busbar/internal/needs"
)

// curvesEach is how many curves of each course are drawn; BUSBAR_STATS_CURVES says otherwise.
func curvesEach(t *testing.T) int {
	given := os.Getenv("BUSBAR_STATS_CURVES")
	if given == "" {
		return 40
	}
	n, err := strconv.Atoi(given)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// quality counts what FindTrend makes of curves whose laws and drops are known.
type quality struct {
	sync.Mutex
	false2, false5 percent    // anomalies where there are none, with 2 % and with 5 % of noise
	switches       percent    // within one size, with 2 %
	length         [5]percent // drops found, by sizes that are in it
	inside         percent    // drops found of those that begin and end three sizes from switches and ends
	longer         percent    // the same, of two sizes and more
}

const (
	sizesOfCurve = 31 // 8 B to 8 GiB
	dropDepth    = 0.15
)

func (q *quality) add(c curve, seed uint64) {
	r := seeded(seed)
	rough, times := c.noisy(r, 0.05), c.noisy(r, 0.02)
	found5, found2 := FindTrend(c.sizes, rough, nil), FindTrend(c.sizes, times, nil)
	lengths := []int{1, 2 + r.IntN(3)}
	drops, places := make([]bool, 2), make([]int, 2)
	for k, length := range lengths {
		places[k] = 1 + r.IntN(len(c.sizes)-1-length)
		drops[k] = dropFound(c, times, places[k], length)
	}
	q.false5.add(len(found5.Anomalies) > 0)
	q.false2.add(len(found2.Anomalies) > 0)
	for _, s := range c.switches {
		q.switches.add(slices.ContainsFunc(found2.Switches(c.sizes), func(f Switch) bool {
			return f.After >= s-1 && f.After <= s+1
		}))
	}
	for k, length := range lengths {
		q.length[length].add(drops[k])
		if c.insideAt(places[k], length) {
			q.inside.add(drops[k])
			if length > 1 {
				q.longer.add(drops[k])
			}
		}
	}
}

func (q *quality) join(o *quality) {
	q.Lock()
	defer q.Unlock()
	for _, p := range []struct{ to, from *percent }{{&q.false2, &o.false2}, {&q.false5, &o.false5},
		{&q.switches, &o.switches}, {&q.inside, &o.inside}, {&q.longer, &o.longer},
		{&q.length[1], &o.length[1]}, {&q.length[2], &o.length[2]}, {&q.length[3], &o.length[3]},
		{&q.length[4], &o.length[4]}} {
		p.to.yes += p.from.yes
		p.to.all += p.from.all
	}
}

func dropFound(c curve, times []float64, at, length int) bool {
	times = slices.Clone(times)
	for i := at; i < at+length; i++ {
		times[i] /= 1 - dropDepth
	}
	return slices.ContainsFunc(FindTrend(c.sizes, times, nil).Anomalies, func(a Anomaly) bool {
		return a.Drop() && a.From < at+length && at <= a.To
	})
}

// insideAt says whether a drop has three sizes of its own law on either side.
func (c curve) insideAt(at, length int) bool {
	in := at >= 3 && at+length <= len(c.sizes)-3
	for _, s := range c.switches {
		in = in && (s < at-3 || s >= at+length+2)
	}
	return in
}

func (q *quality) String() string {
	return fmt.Sprintf(
		"false %.1f %% (2 %% noise) %.1f %% (5 %%), switches %.1f %%, drops inside %.1f %% (longer ones %.1f %%), "+
			"anywhere by length %.1f %.1f %.1f %.1f %%", q.false2.value(), q.false5.value(),
		q.switches.value(), q.inside.value(), q.longer.value(), q.length[1].value(), q.length[2].value(),
		q.length[3].value(),
		q.length[4].value())
}

// What docs/analysis.md says of how well drops and switches are found.
func TestTrendQuality(t *testing.T) {
	needs.TestAll(t)
	var q quality
	n := curvesEach(t)
	t.Run("curves", func(t *testing.T) {
		for k, name := range slices.Sorted(maps.Keys(courses)) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				var one quality
				for i := range n {
					seed := uint64(100000*k + i)
					one.add(courses[name](seeded(seed), sizesOfCurve), seed+1<<32)
				}
				t.Logf("%s", one.String())
				q.join(&one)
			})
		}
	})
	t.Logf("all: %s", q.String())
	clean := percent{q.false2.yes + q.false5.yes, q.false2.all + q.false5.all}
	wantPercent(t, "clean curves with an anomaly", clean, 0, 2)
	wantPercent(t, "switches within one size", q.switches, 95, 100)
	wantPercent(t, "drops found away from switches and ends", q.inside, 95, 100)
	wantPercent(t, "drops of one size found anywhere", q.length[1], 90, 100)
}
