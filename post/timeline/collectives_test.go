package timeline

import (
	"fmt"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/post/trace"
)

// twoGroups has two communicators that overlap each other, and computing that hides some of one of them:
//
//	compute       0-2            8-10  12-14
//	group "tp"      1---4
//	group "dp"         3------7  8-9
func twoGroups() *gpu {
	g := onGPU("7 first 0-2; 8 allReduce 1-4; 9 allGather 3-7; 7 second 8-10; 9 allGather 8-9; 7 third 12-14")
	g.Groups = []trace.Group{{Name: "unused"}, {Name: "tp", Size: 2, Rank: 1},
		{Name: "dp", About: "data parallel", Size: 4, Ranks: []int{0, 2, 4, 6}, Rank: trace.Unknown}}
	g.Activities[1].Call = g.call(trace.Call{What: coll.AllReduce, Bytes: 3e6, Type: "bfloat16", Group: 1, Seq: 9})
	for _, i := range []int{2, 4} {
		g.Activities[i].Call = g.call(trace.Call{What: coll.AllGather, Bytes: 8e6, Type: "float32", Group: 2})
	}
	return g
}

func TestConcurrentCommunicationNotHidden(t *testing.T) {
	d := twoGroups().analysed(Options{})
	must.Eq(t, []float64{7, 2, 5}, []float64{d.Comm, d.Overlap, d.Exposed})
	rank := 1
	must.Eq(t, []Group{{Name: "tp", Size: 2, Rank: &rank, Calls: 1, Comm: 3},
		{Name: "dp", About: "data parallel", Size: 4, Members: []int{0, 2, 4, 6}, Calls: 2, Comm: 5}}, d.Groups)
}

func TestCollectiveRows(t *testing.T) {
	d := twoGroups().analysed(Options{})
	reduced, gathered, one, best := int64(3e6), int64(8e6), 1.0, 6.0
	busbw := 8e6 / 2.5e-3 * 3 / 4 / 1e9
	must.Eq(t, []Collective{
		{Name: "all_reduce", Group: "tp", Ranks: 2, Bytes: &reduced, Type: "bfloat16", Parts: 1, Calls: 1, Sum: 3,
			Median: 3, Min: 3, Exposed: 2, Busbw: &one, BusbwMax: &one},
		{Name: "all_gather", Group: "dp", Ranks: 4, Bytes: &gathered, Type: "float32", Parts: 1, Calls: 2, Sum: 5,
			Median: 2.5, Min: 1, Exposed: 4, Busbw: &busbw, BusbwMax: &best},
	}, d.Collectives)
}

func TestBandwidthUnknown(t *testing.T) {
	for what, c := range map[string]struct {
		call trace.Call
		size int
		took int64
	}{
		"no size":      {trace.Call{What: coll.AllReduce, Bytes: trace.Unknown}, 8, 1e6},
		"no ranks":     {trace.Call{What: coll.AllReduce, Bytes: 1e6}, 0, 1e6},
		"no operation": {trace.Call{What: coll.Other, Name: "barrier", Bytes: 1e6}, 8, 1e6},
		"no time":      {trace.Call{What: coll.AllReduce, Bytes: 1e6}, 8, 0},
		"nothing sent": {trace.Call{What: coll.AllReduce, Bytes: 0}, 8, 1e6},
	} {
		g := newGPU()
		g.Groups = []trace.Group{{Name: "0", Size: c.size}}
		g.ran("ncclDevKernel_Generic", 7, 0, c.took).Call = g.call(c.call)
		got := g.analysed(Options{}).Collectives[0]
		must.True(t, got.Busbw == nil && got.BusbwMax == nil, must.Sprint(what))
	}
}

func TestActivitiesOfOneCall(t *testing.T) {
	g := onGPU("7 copy 0-1; 8 copy 0-2; 9 copy 4-5")
	g.Groups = []trace.Group{{Name: "0", Size: 4}}
	g.call(trace.Call{What: coll.AllGather, Bytes: 6e6, Seq: 3})
	for i := range g.Activities {
		g.Activities[i].Call = 0
	}
	d := g.analysed(Options{})
	must.Len(t, 1, d.seen)
	must.Eq(t, []int64{0, 5e6, 3e6, 3}, []int64{d.seen[0].start, d.seen[0].end, d.seen[0].exposed, d.seen[0].seq})
	c := d.Collectives[0]
	must.Eq(t, []float64{1, 5, 3, 3}, []float64{float64(c.Calls), c.Median, c.Exposed, d.Groups[0].Comm})
}

func TestNamesOfCalls(t *testing.T) {
	const sendRecv = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"
	for want, c := range map[string]struct {
		kernel string
		call   *trace.Call
	}{
		"all_gather":            {allGather, nil},
		"ncclDevKernel_Generic": {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", nil},
		"send":                  {sendRecv, &trace.Call{Name: "send", What: coll.Other, Group: trace.Unknown}},
		"alltoall": {sendRecv, &trace.Call{Name: "all_to_allv", What: coll.AllToAll,
			Group: trace.Unknown}},
	} {
		g := newGPU()
		a := g.ran(c.kernel, 7, 0, 1e6)
		if c.call != nil {
			a.Call = g.call(*c.call)
		}
		must.EqOp(t, want, g.analysed(Options{}).Collectives[0].Name)
	}
}

func TestLongestExposedFirst(t *testing.T) {
	g := twoGroups()
	g.Ranges = []trace.Range{hostRange("ProfilerStep#8", 0, 5e6), hostRange("ProfilerStep#9", 5e6, 20e6)}
	d := g.analysed(Options{})
	bytes, reduced := int64(8e6), int64(3e6)
	must.Eq(t, []Exposed{
		{Name: "all_gather", Group: "dp", Bytes: &bytes, Step: "ProfilerStep#8", Stream: 9, Start: 3,
			Took: 4, Exposed: 4},
		{Name: "all_reduce", Group: "tp", Bytes: &reduced, Step: "ProfilerStep#8", Stream: 8, Start: 1,
			Took: 3, Exposed: 2},
	}, d.Top)
	must.Len(t, 1, g.analysed(Options{Top: 1}).Top)
}

// Possible communication is listed by function, the longest first; recognised kernels are not.
func TestUnclassifiedOrder(t *testing.T) {
	g := onGPU(`7 allReduce 0-1; 7 oneRankReduce 1-2; 7 my_p2p_push 2-3; 7 my_ipc_pull<float> 3-4;
7 my_ipc_pull<half> 4-6; 7 a_p2p_push 6-7; 7 copy 7-17`)
	g.World = 1 // so that NCCL's kernels count as computation
	got := ""
	for _, u := range g.analysed(Options{}).Unknown {
		got += fmt.Sprintf("%s %d %.0f ms %.1f %%; ", u.Name, u.Calls, u.Sum, u.Share)
	}
	must.EqOp(t, "my_ipc_pull 2 3 ms 42.9 %; a_p2p_push 1 1 ms 14.3 %; my_p2p_push 1 1 ms 14.3 %; ", got)
}
