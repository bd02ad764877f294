package timeline

import (
	"regexp"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/post/trace"
)

func TestClassifyCommunication(t *testing.T) {
	alone := []trace.Group{{Name: "1", Size: 1}}
	// Each device runs one activity for 1 ms and later a compute kernel for 2 ms.
	for what, c := range map[string]struct {
		kernel       string // "": a copy
		kind         trace.Kind
		call         bool // of a collective
		groups       []trace.Group
		world        int
		pattern      string
		comm, memcpy float64
	}{
		"a kernel known by name":                      {kernel: allReduce, comm: 1},
		"a kernel that nobody knows, of a collective": {kernel: "tomorrows_kernel", call: true, comm: 1},
		"a kernel that nobody knows":                  {kernel: "tomorrows_kernel"},
		"a kernel that the user knows": {kernel: "void tomorrows_kernel<4>(int)", pattern: "^void tomorrows",
			comm: 1},
		"a copy":                      {kind: trace.MemcpyPeer, memcpy: 1},
		"a copy of a collective":      {kind: trace.MemcpyDeviceToDevice, call: true, comm: 1},
		"a memset of a collective":    {kind: trace.Memset, call: true, memcpy: 1},
		"NCCL in a group of one rank": {kernel: allReduce, call: true, groups: alone},
		"a copy in a group whose only rank is listed": {kind: trace.MemcpyDeviceToDevice, call: true,
			groups: []trace.Group{{Name: "1", Ranks: []int{3}}}, memcpy: 1},
		"NCCL in a world of one rank":         {kernel: allReduce, world: 1},
		"a collective in a world of one rank": {kernel: "tomorrows_kernel", call: true, world: 1},
		"the reduction of one rank":           {kernel: kernelNames["within"][0], call: true},
	} {
		g := newGPU()
		g.Groups, g.World = c.groups, c.world
		a := g.ran(c.kernel, 7, 0, 1e6)
		if c.kernel == "" {
			a.Kind = c.kind
		}
		if c.call {
			a.Call = g.call(trace.Call{What: coll.AllReduce, Group: int32(len(c.groups)) - 1})
		}
		g.ran(gemm, 9, 4e6, 6e6)
		o := Options{}
		if c.pattern != "" {
			o.CommPattern = regexp.MustCompile(c.pattern)
		}
		d := g.analysed(o)
		must.Eq(t, [2]float64{c.comm, c.memcpy}, [2]float64{d.Comm, d.Memcpy}, must.Sprint(what))
	}
}

// Kernels that prepare data for a communication kernel are computation.
func TestClassifyOtherKernelsOfCollective(t *testing.T) {
	g := newGPU()
	call := g.call(trace.Call{What: coll.AllReduce, Group: trace.Unknown})
	g.ran(allReduce, 8, 8e6, 9e6).Call = call
	g.ran("void at::native::scale(float*)", 7, 0, 1e6).Call = call
	d := g.analysed(Options{})
	must.Eq(t, [2]float64{1, 1}, [2]float64{d.Comm, d.Compute})
}
