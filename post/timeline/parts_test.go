package timeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/post/trace"
)

// moments counts a device's activity nanosecond by nanosecond, by the definitions.
func moments(g *gpu) (p Parts) {
	var first, last int64 = math.MaxInt64, math.MinInt64
	for _, a := range g.Activities {
		first, last = min(first, a.Start), max(last, a.End)
	}
	p.Span = milliseconds(last - first)
	for t := first; t < last; t++ {
		var compute, comm, copies bool
		for _, a := range g.Activities {
			if a.Start <= t && t < a.End {
				copies = copies || a.Kind.Memcpy()
				comm = comm || g.Names[a.Name] == allReduce
				compute = compute || g.Names[a.Name] == gemm
			}
		}
		for on, of := range map[*float64]bool{
			&p.Compute: compute, &p.Comm: comm, &p.Overlap: compute && comm, &p.Exposed: comm && !compute,
			&p.Memcpy: copies, &p.MemcpyOnly: copies && !compute && !comm, &p.Idle: !compute && !comm && !copies,
		} {
			if of {
				*on += milliseconds(1)
			}
		}
	}
	return p
}

func TestPartsMatchBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		g := randomGPU(r, 20)
		want := moments(g)
		d := g.analysed(Options{})
		for what, pair := range map[string][2]float64{
			"span": {d.Span, want.Span}, "compute": {d.Compute, want.Compute}, "comm": {d.Comm, want.Comm},
			"overlap": {d.Overlap, want.Overlap}, "exposed": {d.Exposed, want.Exposed},
			"memcpy": {d.Memcpy, want.Memcpy}, "memcpy only": {d.MemcpyOnly, want.MemcpyOnly},
			"idle": {d.Idle, want.Idle}, "parts of idle": {d.HostBound + d.Waiting + d.Unexplained, want.Idle},
		} {
			if !near(pair[0], pair[1]) {
				t.Fatalf("%s is %g, want %g: %+v", what, pair[0], pair[1], g.Activities)
			}
		}
	}
}

// Times count from the device's first activity, not from the file's time 0; offsets align devices of one file.
func TestOriginIsFirstActivity(t *testing.T) {
	g := onGPU("7 gemm 5-6")
	must.EqOp(t, trace.Unknown, g.analysed(Options{}).origin)
	g.Origin = 1_700_000_000_000_000_000
	must.EqOp(t, 1_700_000_000_005_000_000, g.analysed(Options{}).origin)
}

// The worked example, as intervals: 100 ms of computation, 30 ms of communication, half of it hidden. Idle time
// affects only the wall-clock definition.
func TestOverlaps(t *testing.T) {
	for text, want := range map[string][2]float64{
		"7 gemm 0-100; 8 allReduce 85-115":                    {50, 50},
		"7 gemm 0-100; 8 allReduce 85-115; 7 gemm 160-160":    {50, -100},
		"7 gemm 0-100; 8 allReduce 85-85; 7 copy 100-110 @90": {-1, -1},
	} {
		p := onGPU(text).analysed(Options{}).Parts
		got := [2]float64{-1, -1}
		if p.Efficiency != nil {
			got = [2]float64{*p.Efficiency, *p.WallClock}
		}
		must.True(t, near(got[0], want[0]) && near(got[1], want[1]), must.Sprint(text, got))
	}
}

func TestIdleByNextLaunch(t *testing.T) {
	for text, want := range map[string][3]float64{ // host-bound, waiting, unexplained
		"7 gemm 5-6 @3": {2, 2, 0},
		"7 gemm 5-6 @0": {0, 4, 0},
		"7 gemm 5-6 @5": {4, 0, 0},
		"7 gemm 5-6 @7": {4, 0, 0}, // clocks that disagree
		"7 gemm 5-6":    {0, 0, 4},
		"7 gemm 5-7 @4; 8 gemm 5-6 @2; 9 gemm 5-5": {1, 3, 0},
		"8 gemm 3-3 @2; 7 gemm 5-6 @4":             {2, 2, 0},
		"8 copy 1-4; 7 gemm 5-6 @2":                {0, 1, 0},
		"9 gemm 0-5; 8 gemm 1-2; 7 gemm 6-6 @4":    {0, 1, 0},
	} {
		d := onGPU("7 gemm 0-1;" + text).analysed(Options{})
		must.Eq(t, want, [3]float64{d.HostBound, d.Waiting, d.Unexplained}, must.Sprint(text))
	}
}

func TestSharedStreams(t *testing.T) {
	// Graphs on a stream overlap themselves: counted once. Stream 20 casts before it gathers.
	d := onGPU(`7 gemm 0-6; 7 gemm 3-4; 7 allReduce 6-8; 9 copy 2-3; 20 gemm 8-8.5; 20 allGather 9-12;
7 gemm 11-14`).analysed(Options{})
	must.Eq(t, []Stream{{ID: 7, Compute: 9, Comm: 2, Exposed: 2, Kernels: 4}, {ID: 9, Memcpy: 1},
		{ID: 20, Compute: 0.5, Comm: 3, Exposed: 2, Kernels: 2}}, d.Streams)
	must.Len(t, 1, d.Shared)
	must.EqOp(t, 7, d.Shared[0].ID)
	must.EqOp(t, 2, d.Shared[0].Comm)
	must.True(t, near(d.Shared[0].OfComm, 40) && near(d.Shared[0].OfCompute, 100*9/9.5))
	must.EqOp(t, 6, d.Kernels)
	must.True(t, near(d.Busy, 10.5))
}
