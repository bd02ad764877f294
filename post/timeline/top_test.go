package timeline

import (
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

// A long kernel with a short one within it ends last, and is what ran before the call; what begins as the call ends
// comes after it.
func TestNeighboursOfACallAmongNestedKernels(t *testing.T) {
	g := newGPU()
	g.ran("long", 7, 100e6, 110e6)
	g.ran("short", 9, 102e6, 103e6)
	g.copied(trace.MemcpyHostToDevice, 10, 103e6, 104e6)
	call := trace.Call{What: coll.AllReduce, Bytes: 0, Group: trace.Unknown, Seq: trace.Unknown, Peer: trace.Unknown}
	g.ran(allReduce, 8, 109e6, 112e6).Call = g.call(call)
	g.ran("next", 7, 112e6, 113e6)
	call.Bytes = trace.Unknown
	g.ran(allReduce, 8, 113e6, 114e6).Call = g.call(call)
	g.ran("last", 7, 114e6, 120e6)
	g.ran(allReduce, 8, 115e6, 116e6)
	top := g.analysed(t, Options{}).Top
	if len(top) != 2 {
		t.Fatalf("exposed are %+v, want the two that are not hidden", top)
	}
	if e := top[0]; e.After != "long" || e.Before != "next" || e.Start != 9 || e.Took != 3 || e.Exposed != 2 ||
		e.Bytes == nil || *e.Bytes != 0 {
		t.Errorf("first is %+v", e)
	}
	if e := top[1]; e.After != "next" || e.Before != "last" || e.Start != 13 || e.Bytes != nil {
		t.Errorf("second is %+v", e)
	}
}

// What may be communication is told by function, the longest first; what is known to be none, or to be some, is not.
func TestUnclassifiedAreInOrder(t *testing.T) {
	g := newGPU()
	g.World = 1 // so that NCCL's kernels compute
	g.ran(allReduce, 7, 0, 1e6)
	g.ran(withinNames[3], 7, 1e6, 2e6)
	g.ran("my_p2p_push", 7, 2e6, 3e6)
	g.ran("void my_ipc_pull<float>(int)", 7, 3e6, 4e6)
	g.ran("void my_ipc_pull<half>(int)", 7, 4e6, 6e6)
	g.ran("a_p2p_push", 7, 6e6, 7e6)
	g.copied(trace.MemcpyHostToDevice, 7, 7e6, 17e6)
	var names []string
	list := g.analysed(t, Options{}).Unknown
	for _, u := range list {
		names = append(names, u.Name)
	}
	if want := []string{"my_ipc_pull", "a_p2p_push", "my_p2p_push"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	if u := list[0]; u.Calls != 2 || u.Sum != 3 || !near(u.Share, 100*3/7.0) {
		t.Errorf("longest is %+v, want 2 calls of 3 ms, 3/7 of the kernels", u)
	}
}
