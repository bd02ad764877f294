package stats

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

// curvesEach is the number of curves per shape; BUSBAR_STATS_CURVES overrides it.
func curvesEach(t *testing.T) int {
	given := os.Getenv("BUSBAR_STATS_CURVES")
	if given == "" {
		return 40
	}
	n, err := strconv.Atoi(given)
	must.NoError(t, err)
	return n
}

// quality counts, by name, what FindTrend makes of curves whose lines and drops are known.
type quality map[string]percent

const (
	sizesOfCurve = 31 // 8 B to 8 GiB
	dropDepth    = 0.15
)

func (q quality) add(what string, yes bool) {
	p := q[what]
	p.add(yes)
	q[what] = p
}

func (q quality) addCurve(c curve, seed uint64) {
	r := seeded(seed)
	rough, times := c.noisy(r, 0.05), c.noisy(r, 0.02)
	found := FindTrend(c.sizes, times, nil)
	q.add("clean curves with an anomaly", len(FindTrend(c.sizes, rough, nil).Anomalies) > 0)
	q.add("clean curves with an anomaly", len(found.Anomalies) > 0)
	for _, s := range c.switches {
		q.add("switches within one size", slices.ContainsFunc(found.Switches(c.sizes), func(f Switch) bool {
			return f.After >= s-1 && f.After <= s+1
		}))
	}
	for _, length := range []int{1, 2 + r.IntN(3)} {
		at := 1 + r.IntN(len(c.sizes)-1-length)
		drop := dropFound(c, times, at, length)
		q.add(fmt.Sprintf("drops of length %d anywhere", length), drop)
		if c.insideAt(at, length) {
			q.add("drops away from switches and ends", drop)
		}
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

// insideAt reports whether a drop has three sizes of its own model on both sides.
func (c curve) insideAt(at, length int) bool {
	in := at >= 3 && at+length <= len(c.sizes)-3
	for _, s := range c.switches {
		in = in && (s < at-3 || s >= at+length+2)
	}
	return in
}

// The detection rates of drops and switches are those in docs/analysis.md.
func TestTrendQuality(t *testing.T) {
	needs.TestAll(t)
	n := curvesEach(t)
	var each [5]quality
	t.Run("curves", func(t *testing.T) {
		for k, name := range slices.Sorted(maps.Keys(courses)) {
			each[k] = quality{}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for i := range n {
					seed := uint64(100000*k + i)
					each[k].addCurve(courses[name](seeded(seed), sizesOfCurve), seed+1<<32)
				}
				t.Logf("%v", each[k])
			})
		}
	})
	all := quality{}
	for _, q := range each {
		for what, p := range q {
			all[what] = percent{all[what].yes + p.yes, all[what].all + p.all}
		}
	}
	for what, bounds := range map[string][2]float64{
		"clean curves with an anomaly": {0, 2}, "switches within one size": {95, 100},
		"drops away from switches and ends": {95, 100}, "drops of length 1 anywhere": {90, 100},
	} {
		wantPercent(t, what, all[what], bounds[0], bounds[1])
	}
}
