package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"

	"github.com/shoenig/test/must"
)

var firstNight = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

// made is a fleet with made-up times at 24 sizes, as factors; night 0 is the first, nights is tonight.
func made(nodes, nights int, factor func(night, node, size int) float64) *Fleet {
	f := &Fleet{Options: &Options{Limits: Limits{Margin: 0.03, FailAbove: 0.05}}, judged: map[string]bool{}}
	var points []point
	for night := range nights + 1 {
		var all []*side
		for node := range nodes {
			s := &side{letter: dateOf(night), name: fmt.Sprint("node", node), entries: map[point][]entry{},
				runs: []*result.Run{{Start: firstNight.AddDate(0, 0, night)}}}
			if night == nights {
				s.letter, f.judged[s.name] = tonight, factor(night, node, 0) > 0
			}
			for size := range 24 {
				p := collective{Condition: analysis.Condition{Case: coll.Case{SizeBytes: 8 << size}}}
				if v := factor(night, node, size); v > 0 {
					s.entries[p] = []entry{{status: result.OK, seconds: v}}
				}
				if night+node == 0 {
					points = append(points, p)
				}
			}
			all = append(all, s)
		}
		f.nights = append(f.nights, all)
	}
	f.judge(points)
	return f
}

func dateOf(night int) string { return firstNight.AddDate(0, 0, night).Format(time.DateOnly) }

// scatter is that of nodes of 0.5 %, of launches of 0.5 % and of single times of 1 %: normal, or heavy, which is
// Student's with 5 degrees of freedom, at the same variance.
func scatter(seed int, heavy bool) func(night, node, size int) float64 {
	of := func(night, node, size int) float64 {
		r, chi := rand.New(rand.NewPCG(uint64(seed), uint64(night<<40|node<<20|size))), 0.0
		for range 5 {
			if !heavy {
				return r.NormFloat64()
			}
			chi += math.Pow(r.NormFloat64(), 2) / 3
		}
		return r.NormFloat64() / math.Sqrt(chi)
	}
	return func(night, node, size int) float64 {
		return math.Exp(0.005*of(99, node, 0) + 0.005*of(night, node, 99) + 0.01*of(night, node, size))
	}
}

// times is the factor where a condition holds, else 1.
func times(is bool, factor float64) float64 {
	if is {
		return factor
	}
	return 1
}

// Each case slows one node of several, in 5 nights and tonight; in "fleet", the whole fleet is slower tonight.
func TestFleetVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		nodes  int
		factor func(night, size int) float64
		want   notice.FleetVerdict
		since  string
	}{
		"tonight":      {16, func(n, _ int) float64 { return times(n == 5, 1.1) }, notice.BelowFleet, tonight},
		"three nights": {16, func(n, _ int) float64 { return times(n > 2, 1.1) }, notice.BelowFleet, dateOf(3)},
		"always":       {16, func(int, int) float64 { return 1.1 }, notice.BelowFleet, dateOf(0)},
		"large sizes":  {16, func(_, s int) float64 { return times(s > 20, 1.1) }, notice.BelowFleet, dateOf(0)},
		"was faster":   {16, func(n, _ int) float64 { return times(n < 4, 0.9) }, notice.SlowerThanBefore, dateOf(4)},
		"one size":     {16, func(_, s int) float64 { return times(s == 7, 1.5) }, notice.WithinFleet, ""},
		"in margin":    {16, func(int, int) float64 { return 1.01 }, notice.WithinFleet, ""},
		"few nodes":    {7, func(int, int) float64 { return 2 }, notice.WithoutVerdict, ""},
		"alone":        {16, func(n, _ int) float64 { return times(n == 5, 1.1) }, notice.BelowFleet, tonight},
		"missing":      {16, func(n, _ int) float64 { return times(n == 5, 0) }, notice.MissingTonight, ""},
		"fleet":        {16, func(int, int) float64 { return 1 }, notice.WithinFleet, ""},
	} {
		noise := scatter(1, false)
		f := made(c.nodes, 5, func(night, node, size int) float64 {
			v := noise(night, node, size) * times(night == 5 && name == "fleet", 1.2)
			switch {
			case node == 3:
				return v * c.factor(night, size)
			case night == 5 && name == "alone": // the baseline has the fleet
				return 0
			}
			return v
		})
		for _, r := range f.nodes {
			if r.Node == "node3" && (r.Verdict != c.want || r.Since != c.since) ||
				r.Node != "node3" && (r.Since != "") != (r.Node == wholeFleet && name == "fleet") {
				t.Errorf("%s: %s %s since %s", name, r.Node, r.Verdict, r.Since)
			}
		}
		if slow := f.Exceeded() != nil; slow != (c.since != "" || name == "fleet") {
			t.Errorf("%s: exceeded %v", name, slow)
		}
	}
}

// The rates of docs/compare.md: fleets with an accused node that is not slow, and slow nodes found, in percent.
func TestFleetRates(t *testing.T) {
	fleets := 400
	if needs.Shortened(t) {
		fleets = 20
	}
	for i, c := range []struct {
		nodes       int
		heavy       bool
		slow, found float64 // found in percent, at least
	}{
		{8, false, 1, 0}, {64, false, 1, 0}, {64, true, 1, 0}, {8, false, 1.1, 80}, {16, false, 1.05, 60},
		{16, false, 1.1, 95}, {64, false, 1.05, 60}, {64, false, 1.1, 95},
	} {
		var accused, found int
		for seed := range fleets {
			noise := scatter(1000+1000*i+seed, c.heavy)
			wrong := 0
			for _, r := range made(c.nodes, 5, func(night, node, size int) float64 {
				return noise(night, node, size) * times(node == 0 && night == 5, c.slow)
			}).nodes {
				if slow := r.Since != ""; slow && r.Node == "node0" && c.slow > 1 {
					found++
				} else if slow {
					wrong = 1
				}
			}
			accused += wrong
		}
		percent := 100 / float64(fleets)
		t.Logf("%+v: accused %.2f, found %.2f", c, percent*float64(accused), percent*float64(found))
		if percent*float64(accused) > 5 || percent*float64(found) < c.found {
			t.Errorf("%+v: accused %d, found %d of %d", c, accused, found, fleets)
		}
	}
}

// BenchmarkFleet compares 1,000 nodes in 10 nights, 10,000 results of 48 points each.
func BenchmarkFleet(b *testing.B) {
	dir := b.TempDir()
	noise := scatter(1, false)
	for i := range 10000 {
		night, node := i/1000, i%1000
		path := filepath.Join(dir, dateOf(night), fmt.Sprintf("run%d.jsonl", node))
		must.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
		file, err := os.Create(path)
		must.NoError(b, err)
		w, err := result.NewBulk(file, result.Run{ID: path, Launch: path, Start: firstNight.AddDate(0, 0, night),
			World: 8, Nodes: 1, RanksPerNode: 8, Machine: result.Machine{Host: fmt.Sprint("node", node)}}, nil)
		must.NoError(b, err)
		for k := range 48 {
			must.NoError(b, w.Append(&result.Record{Status: result.OK, Case: coll.Case{Collective: coll.AllReduce,
				Type: coll.Float32, Op: coll.Sum, Root: -1, World: 8, Placement: coll.Placement(k/24 + 1),
				Mode: coll.Throughput}.WithSize(128 << (k % 24)),
				Time: &result.Time{Seconds: noise(night, node, k) * times(node == 7 && night > 6, 1.1)}}))
		}
		must.NoError(b, w.End(result.End{Outcome: result.Complete}))
		must.NoError(b, file.Close())
	}
	for b.Loop() {
		o := &Options{Args: []string{filepath.Join(dir, dateOf(9))}, Limits: Limits{Margin: 0.03}}
		f, _, err := NewFleet(b.Context(), o, dir)
		must.NoError(b, err)
		must.EqOp(b, dateOf(7), f.results[0].Since)
		must.NotNil(b, f.Document(slices.Clone[[]notice.Notice]))
	}
}
