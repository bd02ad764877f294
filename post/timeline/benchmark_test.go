package timeline

import (
	"reflect"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

// measured is a curve of all_reduce float32 whose bus bandwidth over two ranks is given, in GB/s by size in MiB.
func measured(id string, change func(*analysis.Curve), points ...[2]float64) *analysis.Curve {
	c := &analysis.Curve{Who: "nccl", Runs: []*result.Run{{ID: id}}}
	c.Backend = "nccl"
	c.Condition = analysis.Condition{Case: coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum,
		World: 2, Placement: coll.InPlace, Mode: coll.Throughput}, Nodes: 1, PerNode: 2}
	for _, p := range points {
		bytes := int64(p[0] * (1 << 20))
		c.Points = append(c.Points,
			analysis.Point{SizeBytes: bytes, Time: stats.Estimate{Value: float64(bytes) / (p[1] * 1e9)}})
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
	for name, c := range map[string]struct {
		curves    []*analysis.Curve
		rehearsed bool
		reached   float64
		run       string
	}{
		"at a size of the curve": {curves: []*analysis.Curve{
			measured("a", nil, [2]float64{8, 10}, [2]float64{16, 33}, [2]float64{32, 40})}, reached: 33, run: "a"},
		"between two sizes, along the logarithm": {curves: []*analysis.Curve{
			measured("a", nil, [2]float64{8, 20}, [2]float64{64, 50})}, reached: 30, run: "a"},
		"beside a size that is nearly its own": {curves: []*analysis.Curve{measured("a", nil, [2]float64{16.2, 33})},
			reached: 33, run: "a"},
		"in place before out of place, though slower": {curves: []*analysis.Curve{
			measured("a", outOfPlace, [2]float64{16, 50}), measured("b", nil, [2]float64{16, 40})}, reached: 40,
			run: "b"},
		"out of place where nothing else is": {curves: []*analysis.Curve{measured("a", outOfPlace, [2]float64{16, 50})},
			reached: 50, run: "a"},
		"of several the fastest": {curves: []*analysis.Curve{measured("a", nil, [2]float64{16, 30}),
			measured("b", nil, [2]float64{16, 60})}, reached: 60, run: "b"},
		"a simulated one that is let in": {curves: []*analysis.Curve{
			measured("a", func(c *analysis.Curve) { c.Rehearsed = true }, [2]float64{16, 30})}, rehearsed: true,
			reached: 30,
			run:     "a"},
		"slower than the training": {curves: []*analysis.Curve{measured("a", nil, [2]float64{16, 10})}, reached: 10,
			run: "a"},
	} {
		tl := trainedWith(16)
		tl.Join(c.curves, c.rehearsed)
		if len(tl.Against) != 1 {
			t.Errorf("%s: %+v, %+v", name, tl.Against, tl.Notes)
			continue
		}
		j := tl.Against[0]
		isNear(t, name+": reached", j.Reached, c.reached)
		isNear(t, name+": busbw", j.Busbw, 16.777216)
		isNear(t, name+": percent", float64(j.Found.Percent), 1677.7216/c.reached)
		if f := j.Found; j.Run != c.run || f.Run != c.run || bool(f.Simulated) != c.rehearsed ||
			bool(f.More) != (j.Percent > 100) || f.Waiting {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

func TestWhatIsNotJoined(t *testing.T) {
	lacks := notice.MissingCurve{Collective: "all_reduce", Type: "float32", Ranks: 2}
	for name, change := range map[string]func(*analysis.Curve){
		"past the end":      func(c *analysis.Curve) { c.Points[0].SizeBytes = 8 << 20 },
		"another world":     func(c *analysis.Curve) { c.World = 4 },
		"another type":      func(c *analysis.Curve) { c.Type = coll.BFloat16 },
		"another operation": func(c *analysis.Curve) { c.Collective = coll.AllGather },
		"latency":           func(c *analysis.Curve) { c.Mode = coll.Latency },
		"of CPUs":           func(c *analysis.Curve) { c.Backend = "mpi" },
		"simulated":         func(c *analysis.Curve) { c.Rehearsed = true },
		"crowded": func(c *analysis.Curve) {
			c.Crowded = notice.Oversubscribed{Ranks: 4, Cores: 2,
				Host: "a"}
		},
	} {
		tl := trainedWith(16)
		// what lets simulated curves in lets nothing else in
		tl.Join([]*analysis.Curve{measured("r", change, [2]float64{16, 30})}, name == "crowded")
		want := lacks
		if name == "past the end" {
			want.Size, want.From, want.To = 16<<20, 8<<20, 8<<20
		}
		if note := (Note{notice.NotInBenchmark{Missing: []notice.MissingCurve{want}}, -1}); len(tl.Against) != 0 ||
			!reflect.DeepEqual(tl.Notes, []Note{note}) {
			t.Errorf("%s: %+v, %+v", name, tl.Against, tl.Notes)
		}
	}
}

// The same ranks on one node or on two are not the same machine.
func TestTheNumberOfNodesDecides(t *testing.T) {
	for _, c := range []struct {
		hosts    [2]string
		world    int
		one, two float64 // GB/s on one node and on two
		want     string
	}{
		{hosts: [2]string{"a", "a"}, one: 20, two: 60, want: "one"},
		{hosts: [2]string{"a", "b"}, one: 60, two: 20, want: "two"},
		{one: 60, two: 20, want: "one"},                            // unknown: the fastest
		{hosts: [2]string{"a", ""}, one: 20, two: 60, want: "two"}, // half known is unknown
		{hosts: [2]string{"a", "a"}, world: 4, one: 20, two: 60, want: "two"},
		// two of four ranks: which two is unknown
	} {
		tl := trainedWith(16)
		for i, host := range c.hosts {
			tl.Devices[i].Host, tl.Devices[i].World = host, max(2, c.world)
		}
		tl.Join([]*analysis.Curve{
			measured("one", nil, [2]float64{16, c.one}),
			measured("two", func(c *analysis.Curve) { c.Nodes, c.PerNode = 2, 1 }, [2]float64{16, c.two}),
		}, false)
		if len(tl.Against) != 1 || tl.Against[0].Run != c.want {
			t.Errorf("%+v: %+v", c, tl.Against)
		}
	}
}

// Where ranks could not be matched, the time of a call has waiting in it; and the benchmark may be of another GPU.
func TestJoinOfOneRank(t *testing.T) {
	tl := healthy()
	tl.Devices, tl.Across = tl.Devices[:1], nil
	tl.Devices[0].GPU = "A100"
	tl.Join([]*analysis.Curve{measured("r", func(c *analysis.Curve) { c.Device = "H100" }, [2]float64{25, 200})}, false)
	if len(tl.Against) != 1 || tl.Against[0].Busbw != 180 || !tl.Against[0].Found.Waiting ||
		tl.Against[0].Found.Machine != (notice.OtherGPU{Benchmark: "H100", Training: "A100"}) {
		t.Errorf("%+v", tl.Against)
	}
}
