package timeline

import (
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
