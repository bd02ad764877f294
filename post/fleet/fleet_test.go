package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/compare"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// sample is a launch's time at one size as a factor; night 0 is tonight, 1 the night before.
type sample func(night, node, curve, size int) float64

// made is a fleet of made-up times at 12 sizes of some curves.
func made(nodes, nights, curves int, factor sample) *Fleet {
	f := &Fleet{Options: &compare.Options{Limits: compare.Limits{Margin: 0.03, FailAbove: 0.05}},
		curves: map[curve]*times{}, nodes: map[string]map[string]bool{}, fails: map[string]int{}, last: date(0)}
	for c := range curves {
		key := curve{analysis.Contender{Backend: "nccl"}, analysis.Condition{Nodes: 1, PerNode: 8,
			Case: coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, World: 8, Root: c}}}
		t := &times{curve: key, seconds: map[cell][]float64{}, failed: map[cell]bool{}}
		f.curves[key] = t
		for night := range nights + 1 {
			name := tonight
			if night > 0 {
				name = date(night)
			}
			if f.nodes[name] == nil {
				f.nodes[name] = map[string]bool{}
			}
			for node := range nodes {
				for size := range 12 {
					if v := factor(night, node, c, size); v > 0 {
						at := cell{1 << (10 + 2*size), name, fmt.Sprint("node", node)}
						t.seconds[at], f.nodes[name][at.node] = []float64{1e-5 * v}, true
					}
				}
			}
		}
	}
	f.judge()
	return f
}

func date(nightsAgo int) string {
	return time.Date(2026, 11, 28-nightsAgo, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

// steady are nodes of 0.5 %, launches of 0.5 % and points of 1 % scatter.
func steady(seed uint64) sample { return scattered(seed, (*rand.Rand).NormFloat64) }

func scattered(seed uint64, draw func(*rand.Rand) float64) sample {
	of := func(key ...any) float64 {
		h := uint64(14695981039346656037)
		for _, b := range fmt.Appendln(nil, key...) {
			h = (h ^ uint64(b)) * 1099511628211
		}
		return draw(rand.New(rand.NewPCG(seed, h)))
	}
	return func(night, node, curve, size int) float64 {
		return math.Exp(0.005*of(node) + 0.005*of(night, node) + 0.01*of(night, node, curve, size))
	}
}

// Node 3 of 16 is what each case makes of it, in 5 nights and tonight.
func TestVerdicts(t *testing.T) {
	noise := steady(1)
	for name, c := range map[string]struct {
		factor  sample // of node 3
		nodes   int
		verdict Verdict
		since   string
		reason  notice.Code
	}{
		"slow tonight": {func(night, _, _, _ int) float64 { return step(night < 1, 1.1) }, 16, Below, tonight, "nodes-slower"},
		"for 3 nights": {func(night, _, _, _ int) float64 { return step(night < 3, 1.1) }, 16, Below, date(2), "nodes-slower"},
		"always":       {func(_, _, _, _ int) float64 { return 1.1 }, 16, Below, date(5), "nodes-slower"},
		"large sizes":  {func(_, _, _, size int) float64 { return step(size > 9, 1.1) }, 16, Below, date(5), "nodes-slower"},
		"was fast":     {func(night, _, _, _ int) float64 { return step(night > 1, 0.9) }, 16, Slower, date(1), "nodes-slower"},
		"one size":     {func(_, _, _, size int) float64 { return step(size == 6, 1.5) }, 16, Within, "", "fleet-basis"},
		"in margin":    {func(_, _, _, _ int) float64 { return 1.02 }, 16, Within, "", "fleet-basis"},
		"7 nodes":      {func(_, _, _, _ int) float64 { return 2 }, 7, NoVerdict, "", "nodes-without-verdict"},
	} {
		t.Run(name, func(t *testing.T) {
			f := made(c.nodes, 5, 2, func(night, node, curve, size int) float64 {
				v := noise(night, node, curve, size) * step(night == 0, 1.2) // the whole fleet is slower tonight
				if node == 3 {
					v *= c.factor(night, node, curve, size)
				}
				return v
			})
			for _, of := range f.byNode() {
				if r := of[0]; r.Node == "node3" {
					test.EqOp(t, c.verdict, r.Verdict)
					test.EqOp(t, c.since, r.Since)
				} else {
					test.False(t, r.Verdict == Below || r.Verdict == Slower, test.Sprintf("%+v", r))
				}
			}
			all := f.notices(func(all []notice.Notice) []notice.Notice { return all })
			must.SliceNotEmpty(t, all)
			test.EqOp(t, c.reason, all[0].Code())
			test.EqOp(t, c.since != "", f.Exceeded() != nil)
		})
	}
}

func step(is bool, factor float64) float64 {
	if is {
		return factor
	}
	return 1
}

// A node that is measured alone tonight is compared with the newest results of the others.
func TestBaselineCompletesFleet(t *testing.T) {
	noise := steady(2)
	f := made(16, 1, 1, func(night, node, curve, size int) float64 {
		if night == 0 && node != 3 {
			return 0
		}
		return noise(night, node, curve, size) * step(night == 0, 1.1)
	})
	must.Len(t, 1, f.byNode())
	test.EqOp(t, Below, f.results[0].Verdict)
	var basis notice.FleetBasis
	for _, n := range f.notices(func(all []notice.Notice) []notice.Notice { return all }) {
		if b, is := n.Fact.(notice.FleetBasis); is {
			basis = b
		}
	}
	test.Eq(t, notice.FleetBasis{Alpha: 0.05, Tests: 12, Nodes: 1, Nights: 1, Borrowed: 15}, basis)
}

// The rates of docs/compare.md: of fleets without a slow node with any accusation, and of slow nodes found.
func TestRates(t *testing.T) {
	fleets := 100
	if needs.Shortened(t) {
		fleets = 20
	}
	student := func(r *rand.Rand) float64 { // with 5 degrees of freedom, of variance 1
		chi := 0.0
		for range 5 {
			v := r.NormFloat64()
			chi += v * v
		}
		return r.NormFloat64() / math.Sqrt(chi/3)
	}
	for i, c := range []struct {
		nodes, nights int
		draw          func(*rand.Rand) float64
		slow          float64
		lo, hi        float64 // %
	}{
		{8, 0, (*rand.Rand).NormFloat64, 1, 0, 5}, {8, 5, (*rand.Rand).NormFloat64, 1, 0, 5},
		{64, 5, (*rand.Rand).NormFloat64, 1, 0, 5}, {64, 5, student, 1, 0, 5},
		{8, 5, (*rand.Rand).NormFloat64, 1.1, 0, 100}, {16, 5, (*rand.Rand).NormFloat64, 1.05, 0, 100},
		{16, 5, (*rand.Rand).NormFloat64, 1.1, 0, 100},
		{64, 5, (*rand.Rand).NormFloat64, 1.05, 0, 100}, {64, 5, (*rand.Rand).NormFloat64, 1.1, 99, 100},
	} {
		accused, found := 0, 0
		for seed := range fleets {
			noise := scattered(uint64(1000*i+seed), c.draw)
			f := made(c.nodes, c.nights, 2, func(night, node, curve, size int) float64 {
				return noise(night, node, curve, size) * step(node == 0 && night == 0, c.slow)
			})
			wrong := false
			for _, of := range f.byNode() {
				if r := of[0]; r.Since != "" && (r.Node != "node0" || c.slow == 1) {
					wrong = true
				} else if r.Since != "" {
					found++
				}
			}
			if wrong {
				accused++
			}
		}
		rate := func(n int) float64 { return 100 * float64(n) / float64(fleets) }
		t.Logf("%d nodes, %d nights, %g: accused %.1f %%, found %.1f %%", c.nodes, c.nights, c.slow, rate(accused), rate(found))
		if c.slow == 1 {
			test.Between(t, c.lo, rate(accused), c.hi)
		} else {
			test.Between(t, c.lo, rate(found), c.hi)
			test.LessEq(t, 5, rate(accused))
		}
	}
}

// save writes a result of a node with 6 sizes.
func save(t testing.TB, dir, night string, hosts []string, edit func(*result.Record)) {
	t.Helper()
	id := night + strings.Join(hosts, "")
	start, err := time.Parse(time.DateOnly, night)
	must.NoError(t, err)
	must.NoError(t, os.MkdirAll(dir, 0o755))
	file, err := os.Create(filepath.Join(dir, "run_"+id+".jsonl"))
	must.NoError(t, err)
	defer file.Close()
	var ranks []result.Rank
	for i, host := range hosts {
		ranks = append(ranks, result.Rank{Rank: i, Host: host})
	}
	b, err := result.NewBulk(file, result.Run{ID: id, Launch: id, Start: start, Backend: result.Backend{Name: "nccl"},
		World: 8, Nodes: len(hosts), RanksPerNode: 8}, ranks)
	must.NoError(t, err)
	for i := range 6 {
		c := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, World: 8,
			Placement: coll.OutOfPlace, Mode: coll.Throughput}.WithSize(1 << (10 + 2*i))
		r := &result.Record{Case: c, Status: result.OK, Time: &result.Time{Seconds: 1e-5 + float64(c.SizeBytes)/3e11}}
		if edit != nil {
			edit(r)
		}
		must.NoError(t, b.Append(r))
	}
	must.NoError(t, b.End(result.End{Outcome: result.Complete}))
}

// Tonight may lie in the baseline; sets of nodes are apart from single nodes, and failures count where others succeed.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	night := filepath.Join(dir, date(0))
	for i := range 10 {
		for ago := range 2 {
			save(t, filepath.Join(dir, date(ago)), date(ago), []string{fmt.Sprint("n", i)}, func(r *result.Record) {
				if ago == 0 && i == 4 && r.SizeBytes > 1<<18 {
					r.Status, r.Time = result.Failed, nil
				}
			})
		}
	}
	save(t, night, date(0), []string{"b", "a", "a"}, nil)
	save(t, filepath.Join(dir, date(1)), date(1), []string{"gone"}, nil)
	o := &compare.Options{Args: []string{night}, Limits: compare.Limits{Margin: 0.03, FailAbove: 0.05}}
	f, err := Compare(t.Context(), o, dir)
	must.NoError(t, err)
	test.Eq(t, map[string]int{"n4": 1}, f.fails)
	test.Eq(t, []string{"gone"}, f.missing())
	test.EqOp(t, 10*6-1, f.tests)
	last := f.byNode()[10][0]
	test.EqOp(t, "a+b", last.Node)
	test.EqOp(t, NoVerdict, last.Verdict)
	test.EqError(t, f.Exceeded(), "1 node failed more often")
	test.Len(t, 2, f.Charts())
}

func TestNothingToCompare(t *testing.T) {
	dir := t.TempDir()
	a, b, empty := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "empty")
	save(t, a, date(0), []string{"n1"}, nil)
	save(t, b, date(1), []string{""}, nil)
	must.NoError(t, os.Mkdir(empty, 0o755))
	for baseline, c := range map[string]struct{ tonight, want string }{
		a: {a, "has the same runs"}, b: {b, "results need a host"}, empty: {a, "empty"},
	} {
		_, err := Compare(t.Context(), &compare.Options{Args: []string{c.tonight}}, baseline)
		must.ErrorContains(t, err, c.want)
	}
	_, err := Compare(t.Context(), &compare.Options{Args: []string{a}, By: "host", Divide: true}, b)
	must.ErrorContains(t, err, "excludes --by")
}

// 1,000 nodes in 10 nights with 6 sizes each: 10,000 results.
func BenchmarkTenThousandResults(b *testing.B) {
	dir, noise := b.TempDir(), steady(3)
	for ago := range 10 {
		for node := range 1000 {
			size := 0
			save(b, filepath.Join(dir, date(ago)), date(ago), []string{fmt.Sprint("node", node)},
				func(r *result.Record) {
					r.Time.Seconds *= noise(ago, node, 0, size) * step(node == 7 && ago < 3, 1.1)
					size++
				})
		}
	}
	b.ResetTimer()
	for b.Loop() {
		f, err := Compare(b.Context(), &compare.Options{Args: []string{filepath.Join(dir, date(0))},
			Limits: compare.Limits{Margin: 0.03}}, dir)
		must.NoError(b, err)
		must.EqOp(b, date(2), f.results[0].Since)
		f.Document(func(all []notice.Notice) []notice.Notice { return all })
	}
}
