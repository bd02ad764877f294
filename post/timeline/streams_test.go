package timeline

import (
	"strings"
	"testing"

	"busbar/post/trace"
)

func TestStreamsAndThoseOnWhichNothingCanHide(t *testing.T) {
	g := newGPU()
	g.ran(gemm, 7, 0, 6e6)
	g.ran(gemm, 7, 3e6, 4e6) // graphs run beside themselves on a stream: counted once
	g.ran(allReduce, 7, 6e6, 8e6)
	g.copied(trace.MemcpyHostToDevice, 9, 2e6, 3e6)
	g.ran(gemm, 20, 8e6, 8.5e6) // casts before what it gathers
	g.ran(allGather, 20, 9e6, 12e6)
	g.ran(gemm, 7, 11e6, 14e6)
	d := g.analysed(t, Options{})
	want := []Stream{{ID: 7, Compute: 9, Comm: 2, Exposed: 2, Kernels: 4}, {ID: 9, Memcpy: 1},
		{ID: 20, Compute: 0.5, Comm: 3, Exposed: 2, Kernels: 2}}
	if len(d.Streams) != 3 || d.Streams[0] != want[0] || d.Streams[1] != want[1] || d.Streams[2] != want[2] {
		t.Errorf("streams are %+v", d.Streams)
	}
	if len(d.Shared) != 1 || d.Shared[0].ID != 7 || d.Shared[0].Comm != 2 || !near(d.Shared[0].OfComm, 40) ||
		!near(d.Shared[0].OfCompute, 100*9/9.5) {
		t.Errorf("shared are %+v", d.Shared)
	}
	if d.Kernels != 6 || !near(d.Busy, 10.5) {
		t.Errorf("%d kernels, %g ms of those that compute, want 6 and 10.5", d.Kernels, d.Busy)
	}
}

func TestWhatMayBeCommunicationIsListed(t *testing.T) {
	g := newGPU()
	g.ran("void dlslime::intranode_alltoall_kernel<float>(int)", 7, 0, 3e6)
	g.ran("void dlslime::intranode_alltoall_kernel<__half>(int)", 7, 3e6, 4e6)
	g.ran("triton_poi_fused_add_all_reduce_4", 7, 4e6, 6e6)
	g.ran("void my_comm::copy_peers(int)", 7, 6e6, 7e6)
	g.ran("void common_command_kernel(int)", 7, 7e6, 8e6)
	g.ran("void f<ncclDevKernel_Generic>(int)", 7, 8e6, 9e6)
	g.ran(withinNames[0], 7, 9e6, 10e6)
	g.ran(allReduce, 7, 10e6, 20e6)
	d := g.analysed(t, Options{})
	want := []Unclassified{
		{"dlslime::intranode_alltoall_kernel", 2, 4, 20, "alltoall"},
		{"triton_poi_fused_add_all_reduce_4", 1, 2, 10, "all_reduce"},
		{"my_comm::copy_peers", 1, 1, 5, "_comm"},
	}
	if len(d.Unknown) != len(want) {
		t.Fatalf("listed are %+v", d.Unknown)
	}
	for i, w := range want {
		if d.Unknown[i] != w {
			t.Errorf("listed is %+v, want %+v", d.Unknown[i], w)
		}
	}
	if d.Compute != 10 {
		t.Errorf("%g ms compute, want 10", d.Compute)
	}
}

func TestNotesSayWhatFiguresDoNotShow(t *testing.T) {
	g := newGPU()
	g.ran("graph", 7, 0, 2e6).Kind = trace.GraphTrace
	g.copied(trace.MemcpyPeer, 7, 2e6, 3e6)
	g.ran(gemm, 7, 4e6, 5e6).Launch = 4.5e6
	d := g.analysed(t, Options{})
	for i, part := range []string{"CUDA graphs", "copies between GPUs", "before the host launched"} {
		if i >= len(d.Notes) || !strings.Contains(d.Notes[i].Text(), part) {
			t.Errorf("note %d is not of %s: %+v", i, part, d.Notes)
		}
	}
	if d.Compute != 3 {
		t.Errorf("%g ms compute, want 3", d.Compute)
	}
}
