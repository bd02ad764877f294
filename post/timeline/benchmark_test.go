package timeline

import (
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

// point is a bus bandwidth at a size.
type point struct{ mib, gbps float64 }

// measured is a curve of all_reduce float32 over two ranks.
func measured(id string, change func(*analysis.Curve), points ...point) *analysis.Curve {
	c := &analysis.Curve{Who: "nccl", Runs: []*result.Run{{ID: id}}}
	c.Backend = "nccl"
	c.Condition = analysis.Condition{Case: coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum,
		World: 2, Placement: coll.InPlace, Mode: coll.Throughput}, Nodes: 1, PerNode: 2}
	for _, p := range points {
		bytes := int64(p.mib * (1 << 20))
		c.Points = append(c.Points,
			analysis.Point{SizeBytes: bytes, Time: stats.Estimate{Value: float64(bytes) / (p.gbps * 1e9)}})
	}
	if change != nil {
		change(c)
	}
	return c
}

// trainedWith is a run of two ranks whose all-reduces of these sizes, in MiB, take a millisecond.
func trainedWith(sizes ...int64) *Timeline {
	return compared(job{ranks: 2, steps: 3, sizes: mib(sizes...), pure: msec, work: late}.ranksOf()...)
}

func TestJoinWithABenchmark(t *testing.T) {
	outOfPlace := func(c *analysis.Curve) { c.Placement = coll.OutOfPlace }
	simulated := func(c *analysis.Curve) { c.Rehearsed = true }
	at := func(id string, change func(*analysis.Curve), gbps float64) *analysis.Curve {
		return measured(id, change, point{16, gbps})
	}
	for name, c := range map[string]struct {
		curves  []*analysis.Curve
		reached float64
		run     string
	}{
		"a size of the curve": {[]*analysis.Curve{measured("a", nil, point{8, 10}, point{16, 33}, point{32, 40})},
			33, "a"},
		"between two sizes":    {[]*analysis.Curve{measured("a", nil, point{8, 20}, point{64, 50})}, 30, "a"},
		"nearly its own size":  {[]*analysis.Curve{measured("a", nil, point{16.2, 33})}, 33, "a"},
		"in place first":       {[]*analysis.Curve{at("a", outOfPlace, 50), at("b", nil, 40)}, 40, "b"},
		"out of place alone":   {[]*analysis.Curve{at("a", outOfPlace, 50)}, 50, "a"},
		"of several, fastest":  {[]*analysis.Curve{at("a", nil, 30), at("b", nil, 60)}, 60, "b"},
		"simulated":            {[]*analysis.Curve{at("simulated", simulated, 30)}, 30, "simulated"},
		"slower than training": {[]*analysis.Curve{at("a", nil, 10)}, 10, "a"},
	} {
		tl := trainedWith(16)
		tl.Join(c.curves, c.run == "simulated")
		must.Len(t, 1, tl.Against, must.Sprint(name))
		j := tl.Against[0]
		isNear(t, name+": reached", float64(j.Reached)/1e9, c.reached)
		isNear(t, name+": busbw", float64(j.Busbw)/1e9, 16.777216)
		isNear(t, name+": percent", float64(j.Percent), 1677.7216/c.reached)
		must.EqOp(t, c.run, j.Run)
		must.Eq(t, []bool{c.run == "simulated", j.Percent > 100, false},
			[]bool{bool(j.Simulated), bool(j.More), bool(j.Waiting)})
	}
}

func TestJoinSkips(t *testing.T) {
	for name, change := range map[string]func(*analysis.Curve){
		"past the end":      func(c *analysis.Curve) { c.Points[0].SizeBytes = 8 << 20 },
		"another world":     func(c *analysis.Curve) { c.World = 4 },
		"another type":      func(c *analysis.Curve) { c.Type = coll.BFloat16 },
		"another operation": func(c *analysis.Curve) { c.Collective = coll.AllGather },
		"latency":           func(c *analysis.Curve) { c.Mode = coll.Latency },
		"of CPUs":           func(c *analysis.Curve) { c.Backend = "mpi" },
		"simulated":         func(c *analysis.Curve) { c.Rehearsed = true },
		"crowded": func(c *analysis.Curve) {
			c.Crowded = notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "a"}
		},
	} {
		tl := trainedWith(16)
		// the option allows simulated curves only
		tl.Join([]*analysis.Curve{measured("r", change, point{16, 30})}, name == "crowded")
		want := profiles.MissingCurve{Collective: "all_reduce", Type: "float32", Ranks: 2}
		if name == "past the end" {
			want.Size, want.From, want.To = 16<<20, 8<<20, 8<<20
		}
		must.Len(t, 0, tl.Against, must.Sprint(name))
		must.Eq(
			t,
			[]notice.Notice{notice.New(profiles.NotInBenchmark{Missing: []profiles.MissingCurve{want}})},
			tl.Notes,
		)
	}
}

// The same ranks on one node or on two are different machines.
func TestJoinByNodes(t *testing.T) {
	for _, c := range []struct {
		hosts    [2]string
		world    int
		one, two float64 // GB/s on one node and on two
		want     string
	}{
		{[2]string{"a", "a"}, 2, 20, 60, "one"},
		{[2]string{"a", "b"}, 2, 60, 20, "two"},
		{[2]string{"", ""}, 2, 60, 20, "one"},   // unknown: the fastest
		{[2]string{"a", ""}, 2, 20, 60, "two"},  // partly known is unknown
		{[2]string{"a", "a"}, 4, 20, 60, "two"}, // two of four ranks: unknown which
	} {
		tl := trainedWith(16)
		for i, host := range c.hosts {
			tl.Devices[i].Host, tl.Devices[i].World = host, c.world
		}
		tl.Join([]*analysis.Curve{
			measured("one", nil, point{16, c.one}),
			measured("two", func(c *analysis.Curve) { c.Nodes, c.PerNode = 2, 1 }, point{16, c.two}),
		}, false)
		must.Len(t, 1, tl.Against)
		must.EqOp(t, c.want, tl.Against[0].Run, must.Sprint(c))
	}
}

// Without matched ranks, the time of a call includes waiting. The benchmark may be of another GPU.
func TestJoinOfOneRank(t *testing.T) {
	tl := healthy()
	tl.Devices, tl.Across = tl.Devices[:1], nil
	tl.Devices[0].GPU = "A100"
	tl.Join([]*analysis.Curve{measured("r", func(c *analysis.Curve) { c.Device = "H100" }, point{25, 200})}, false)
	must.Len(t, 1, tl.Against)
	must.True(t, tl.Against[0].Busbw == 180e9 && bool(tl.Against[0].Waiting))
	must.EqOp(t, profiles.OtherGPU{Benchmark: "H100", Training: "A100"}, tl.Against[0].Machine)
}
