package timeline

import (
	"math"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

// twoGroups has two communicators that overlap each other, and computing that hides some of one of them:
//
//	compute       0-2            8-10  12-14
//	group "tp"      1---4
//	group "dp"         3------7  8-9
func twoGroups() *gpu {
	g := newGPU()
	g.Groups = []trace.Group{{Name: "unused"}, {Name: "tp", Size: 2, Rank: 1},
		{Name: "dp", About: "data parallel", Size: 4, Ranks: []int{0, 2, 4, 6}, Rank: trace.Unknown}}
	tp := g.call(trace.Call{What: coll.AllReduce, Bytes: 3e6, Type: "bfloat16", Group: 1, Seq: 9, Peer: trace.Unknown})
	dp := g.call(trace.Call{What: coll.AllGather, Bytes: 8e6, Type: "float32", Group: 2, Seq: trace.Unknown,
		Peer: trace.Unknown})
	again := g.call(trace.Call{What: coll.AllGather, Bytes: 8e6, Type: "float32", Group: 2, Seq: trace.Unknown,
		Peer: trace.Unknown})
	g.ran("void first<float>(int)", 7, 0, 2e6)
	g.ran(allReduce, 8, 1e6, 4e6).Call = tp
	g.ran(allGather, 9, 3e6, 7e6).Call = dp
	g.ran("void second<float>(int)", 7, 8e6, 10e6)
	g.ran(allGather, 9, 8e6, 9e6).Call = again
	g.ran("void third<float>(int)", 7, 12e6, 14e6)
	return g
}

func TestCommunicationBesideCommunicationIsNotHidden(t *testing.T) {
	d := twoGroups().analysed(t, Options{})
	if d.Comm != 7 || d.Overlap != 2 || d.Exposed != 5 {
		t.Errorf("communication %g, overlap %g, exposed %g ms; want 7, 2 and 5", d.Comm, d.Overlap, d.Exposed)
	}
	if len(d.Groups) != 2 {
		t.Fatalf("communicators are %+v", d.Groups)
	}
	tp, dp := d.Groups[0], d.Groups[1]
	if tp.Name != "tp" || tp.Calls != 1 || tp.Comm != 3 || tp.Exposed != 2 || tp.Overlap != 1 || tp.Size != 2 ||
		*tp.Rank != 1 {
		t.Errorf("first communicator is %+v", tp)
	}
	if dp.Name != "dp" || dp.Calls != 2 || dp.Comm != 5 || dp.Exposed != 4 || dp.Overlap != 1 || dp.Rank != nil ||
		len(dp.Members) != 4 || dp.About != "data parallel" {
		t.Errorf("second communicator is %+v", dp)
	}
}

func TestCollectivesByWhatTheyAre(t *testing.T) {
	d := twoGroups().analysed(t, Options{})
	if len(d.Collectives) != 2 {
		t.Fatalf("collectives are %+v", d.Collectives)
	}
	ar, ag := d.Collectives[0], d.Collectives[1]
	if ar.Name != "all_reduce" || ar.Group != "tp" || *ar.Bytes != 3e6 || ar.Calls != 1 || ar.Median != 3 ||
		*ar.Busbw != 1 {
		t.Errorf("all-reduce is %+v", ar)
	}
	// 8 MB in 2.5 and in 1 ms, times 3/4
	if ag.Calls != 2 || ag.Sum != 5 || ag.Median != 2.5 || ag.Least != 1 || ag.Exposed != 4 ||
		math.Abs(*ag.Busbw-2.4) > 1e-9 || *ag.BusbwMax != 6 {
		t.Errorf("all-gather is %+v", ag)
	}
}

func TestBandwidthIsOnlySaidWhereItIsKnown(t *testing.T) {
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
		if got := g.analysed(t, Options{}).Collectives[0]; got.Busbw != nil || got.BusbwMax != nil {
			t.Errorf("%s: busbw is %g GB/s", what, *got.Busbw)
		}
	}
}

func TestActivitiesOfOneCallAreOneCollective(t *testing.T) {
	g := newGPU()
	g.Groups = []trace.Group{{Name: "0", Size: 4}}
	call := g.call(trace.Call{What: coll.AllGather, Bytes: 6e6, Group: 0, Seq: 3, Peer: trace.Unknown})
	g.copied(trace.MemcpyDeviceToDevice, 7, 0, 1e6).Call = call
	g.copied(trace.MemcpyPeer, 8, 0, 2e6).Call = call
	g.copied(trace.MemcpyPeer, 9, 4e6, 5e6).Call = call
	d := g.analysed(t, Options{})
	if len(d.seen) != 1 || d.seen[0].start != 0 || d.seen[0].end != 5e6 || d.seen[0].exposed != 3e6 ||
		d.seen[0].seq != 3 {
		t.Errorf("seen is %+v", d.seen)
	}
	if c := d.Collectives[0]; c.Calls != 1 || c.Median != 5 || c.Exposed != 3 ||
		d.Groups[0].Comm != 3 {
		t.Errorf("collective is %+v", c)
	}
}

func TestNamesOfWhatTheFileDoesNotTell(t *testing.T) {
	for want, c := range map[string]struct {
		kernel string
		call   *trace.Call
	}{
		"all_gather":            {allGather, nil},
		"ncclDevKernel_Generic": {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", nil},
		"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t": {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", nil},
		"send": {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", &trace.Call{Name: "send", What: coll.Other,
			Group: trace.Unknown}},
		"alltoall": {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
			&trace.Call{Name: "all_to_allv", What: coll.AllToAll, Group: trace.Unknown}},
	} {
		g := newGPU()
		a := g.ran(c.kernel, 7, 0, 1e6)
		if c.call != nil {
			i := g.call(*c.call)
			a.Call = i
		}
		if got := g.analysed(t, Options{}).Collectives[0].Name; got != want {
			t.Errorf("%s is called %q, want %q", c.kernel, got, want)
		}
	}
}

func TestLongestExposedFirst(t *testing.T) {
	g := twoGroups()
	g.Ranges = []trace.Range{hostRange("ProfilerStep#8", 0, 5e6), hostRange("ProfilerStep#9", 5e6, 20e6)}
	d := g.analysed(t, Options{})
	if len(d.Top) != 2 {
		t.Fatalf("exposed are %+v", d.Top)
	}
	first, second := d.Top[0], d.Top[1]
	if first.Name != "all_gather" || first.Group != "dp" || first.Exposed != 4 || first.Took != 4 || first.Start != 3 ||
		first.Stream != 9 || first.After != "first" || first.Before != "second" || first.Step != "ProfilerStep#8" ||
		*first.Bytes != 8e6 {
		t.Errorf("longest is %+v", first)
	}
	if second.Group != "tp" || second.Exposed != 2 || second.After != "first" || second.Before != "second" {
		t.Errorf("second is %+v", second)
	}
	if d := g.analysed(t, Options{Top: 1}); len(d.Top) != 1 {
		t.Errorf("%d where 1 was asked for", len(d.Top))
	}
}
