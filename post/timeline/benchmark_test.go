package timeline

import (
	"strings"
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
	for _, c := range []struct {
		name      string
		size      int64 // MiB, in a millisecond: so many times 1.048576 GB/s
		curves    []*analysis.Curve
		rehearsed bool
		reached   float64
		says      string
	}{
		{"at a size of the curve", 16, []*analysis.Curve{measured("r1", nil, [2]float64{8, 10}, [2]float64{16, 33.554432},
			[2]float64{32, 40})}, false, 33.554432,
			"reaches 50 % of the benchmark (16.78 GB/s of 33.55 GB/s; run r1, nccl, 2 ranks, in-place)."},
		{"between two sizes, along the logarithm", 16,
			[]*analysis.Curve{measured("r1", nil, [2]float64{8, 20}, [2]float64{64, 50})}, false, 30, "56 %"},
		{"beside a size that is nearly its own", 16, []*analysis.Curve{measured("r1", nil, [2]float64{16.2, 33})}, false, 33,
			"51 %"},
		{"in place before out of place, though slower", 16, []*analysis.Curve{
			measured("out", func(c *analysis.Curve) {
				c.Placement = coll.OutOfPlace
			}, [2]float64{16, 50}), measured("in", nil, [2]float64{16, 40})}, false, 40, "run in,"},
		{"out of place where nothing else is", 16, []*analysis.Curve{measured("out", func(c *analysis.Curve) {
			c.Placement = coll.OutOfPlace
		}, [2]float64{16, 50})}, false, 50, "out-of-place"},
		{"of several the fastest", 16, []*analysis.Curve{measured("a", nil, [2]float64{16, 30}),
			measured("b", func(c *analysis.Curve) { c.Who = "nccl (tuned)" }, [2]float64{16, 60})}, false, 60,
			"run b, nccl (tuned)"},
		{"a rehearsal that is let in", 16, []*analysis.Curve{measured("a", func(c *analysis.Curve) {
			c.Rehearsed =
				true
		}, [2]float64{16, 30})}, true, 30, "That run was simulated"},
		{"faster than the benchmark", 16, []*analysis.Curve{measured("a", nil, [2]float64{16, 10})}, false, 10, "168 %"},
	} {
		tl := trainedWith(c.size)
		tl.Join(c.curves, c.rehearsed)
		if len(tl.Against) != 1 {
			t.Errorf("%s: %+v, %+v", c.name, tl.Against, tl.Notes)
			continue
		}
		isNear(t, c.name+": reached", tl.Against[0].Reached, c.reached)
		isNear(t, c.name+": busbw", tl.Against[0].Busbw, 16.777216)
		if !strings.Contains(tl.Against[0].Text(), c.says) {
			t.Errorf("%s: %q, want %q", c.name, tl.Against[0].Text(), c.says)
		}
	}
}

func TestWhatIsNotJoined(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*analysis.Curve)
		why    string
	}{
		{"past the end", func(c *analysis.Curve) {
			c.Points[0].SizeBytes = 8 << 20
		}, "the benchmark has 8 MiB to 8 MiB only"},
		{"another world", func(c *analysis.Curve) { c.World = 4 }, "no all_reduce float32 over 2 ranks"},
		{"another type", func(c *analysis.Curve) { c.Type = coll.BFloat16 }, "no all_reduce float32"},
		{"another operation", func(c *analysis.Curve) { c.Collective = coll.AllGather }, "no all_reduce float32"},
		{"latency", func(c *analysis.Curve) { c.Mode = coll.Latency }, "no all_reduce float32"},
		{"of CPUs", func(c *analysis.Curve) { c.Backend = "mpi" },
			"the benchmark has all_reduce float32 of mpi only, not of NCCL"},
		{"rehearsed", func(c *analysis.Curve) { c.Rehearsed = true }, "it is simulated"},
		{"crowded", func(c *analysis.Curve) {
			c.Crowded = notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "a"}
		}, "oversubscribed"},
	} {
		tl := trainedWith(16)
		notes := len(tl.Notes)
		// what lets rehearsals in lets nothing else in
		tl.Join([]*analysis.Curve{measured("r", c.change, [2]float64{16, 30})}, c.name == "crowded")
		if len(tl.Against) != 0 || len(tl.Notes) != notes+1 || !strings.Contains(tl.Notes[notes].Text(), c.why) {
			t.Errorf("%s: %+v, %+v", c.name, tl.Against, tl.Notes)
		} else if !strings.Contains(tl.Notes[notes].Do(), "--collective all_reduce -d float32 with 2 ranks.") &&
			c.name != "rehearsed" && c.name != "crowded" {
			t.Errorf("%s: do %q", c.name, tl.Notes[notes].Do())
		}
		tl.Join([]*analysis.Curve{measured("r", nil, [2]float64{16, 30})}, false)
		if len(tl.Against) != 1 || len(tl.Notes) != notes {
			t.Errorf("%s: joined again, notes are %+v", c.name, tl.Notes)
		}
	}
}

// The same eight ranks on one node or on two are not the same machine.
func TestTheNumberOfNodesDecides(t *testing.T) {
	for _, c := range []struct {
		hosts    [2]string
		oneFile  bool
		world    int
		read     int     // 0: both
		one, two float64 // GB/s on one node and on two
		want     string
	}{
		{hosts: [2]string{"a", "a"}, one: 20, two: 60, want: "one"},
		{hosts: [2]string{"a", "b"}, one: 60, two: 20, want: "two"},
		{one: 60, two: 20, want: "one"}, // not known: the fastest
		{one: 20, two: 60, want: "two"},
		{oneFile: true, one: 20, two: 60, want: "one"},                        // of several devices
		{hosts: [2]string{"a", ""}, one: 20, two: 60, want: "two"},            // half known is not known
		{hosts: [2]string{"a", "a"}, read: 1, one: 20, two: 60, want: "two"},  // of the other nothing is known
		{hosts: [2]string{"a", "a"}, world: 4, one: 20, two: 60, want: "two"}, // two of four ranks: which two is not known
	} {
		tl := trainedWith(16)
		for i, host := range c.hosts {
			tl.Devices[i].Host, tl.Devices[i].File = host, i
			if c.oneFile {
				tl.Devices[i].File = 0
			}
			if c.world > 0 {
				tl.Devices[i].World = c.world
			}
		}
		if c.read == 1 {
			tl.Devices, tl.Across.Ranks = tl.Devices[:1], nil
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

// Where ranks could not be matched, the time of a call has waiting in it, and that is said.
func TestJoinOfOneRank(t *testing.T) {
	tl := healthy()
	tl.Devices, tl.Across = tl.Devices[:1], nil
	tl.Join([]*analysis.Curve{measured("r", nil, [2]float64{25, 200})}, false)
	if len(tl.Against) != 1 || tl.Against[0].Busbw != 180 ||
		!strings.Contains(tl.Against[0].Text(), "90 % of the benchmark (180.0 GB/s of 200.0 GB/s; run r,") ||
		!strings.Contains(tl.Against[0].Text(), "may include waiting for other ranks") {
		t.Errorf("%+v", tl.Against)
	}
	tl.Devices[0].GPU = "NVIDIA A100-SXM4-80GB"
	other := measured("r", func(c *analysis.Curve) { c.Device = "NVIDIA H100 80GB HBM3" }, [2]float64{25, 200})
	if tl.Join([]*analysis.Curve{other}, false); !strings.Contains(tl.Against[0].Text(),
		"The benchmark ran on NVIDIA H100 80GB HBM3, the training on NVIDIA A100-SXM4-80GB.") {
		t.Errorf("%s", tl.Against[0].Text())
	}
}
