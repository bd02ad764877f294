package timeline

import (
	"regexp"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

func TestWhatCountsAsCommunication(t *testing.T) {
	// Each device runs one thing for 1 ms beside a kernel that computes for 2 ms, later.
	for what, c := range map[string]struct {
		make   func(g *gpu) *trace.Activity
		o      Options
		comm   float64
		memcpy float64
	}{
		"a kernel known by name": {make: func(g *gpu) *trace.Activity { return g.ran(allReduce, 7, 0, 1e6) }, comm: 1},
		"a kernel that nobody knows, of a collective": {make: func(g *gpu) *trace.Activity {
			a := g.ran("tomorrows_kernel", 7, 0, 1e6)
			a.Call = g.call(trace.Call{What: coll.AllReduce, Group: trace.Unknown})
			return a
		}, comm: 1},
		"a kernel that nobody knows": {make: func(g *gpu) *trace.Activity { return g.ran("tomorrows_kernel", 7, 0, 1e6) }},
		"a kernel that the user knows": {make: func(g *gpu) *trace.Activity {
			return g.ran("void tomorrows_kernel<4>(int)", 7, 0, 1e6)
		},
			o: Options{CommPattern: regexp.MustCompile("^void tomorrows")}, comm: 1},
		"a copy": {make: func(g *gpu) *trace.Activity { return g.copied(trace.MemcpyPeer, 7, 0, 1e6) }, memcpy: 1},
		"a copy of a collective": {make: func(g *gpu) *trace.Activity {
			a := g.copied(trace.MemcpyDeviceToDevice, 7, 0, 1e6)
			a.Call = g.call(trace.Call{What: coll.AllGather, Group: trace.Unknown})
			return a
		}, comm: 1},
		"a memset of a collective": {make: func(g *gpu) *trace.Activity {
			a := g.copied(trace.Memset, 7, 0, 1e6)
			a.Call = g.call(trace.Call{What: coll.AllGather, Group: trace.Unknown})
			return a
		}, memcpy: 1},
		"NCCL in a group of one rank": {make: func(g *gpu) *trace.Activity {
			g.Groups = []trace.Group{{Name: "1", Size: 1}}
			a := g.ran(allReduce, 7, 0, 1e6)
			a.Call = g.call(trace.Call{What: coll.AllReduce, Group: 0})
			return a
		}},
		"a copy in a group whose only rank is listed": {make: func(g *gpu) *trace.Activity {
			g.Groups = []trace.Group{{Name: "1", Ranks: []int{3}}}
			a := g.copied(trace.MemcpyDeviceToDevice, 7, 0, 1e6)
			a.Call = g.call(trace.Call{What: coll.AllReduce, Group: 0})
			return a
		}, memcpy: 1},
		"NCCL in a world of one rank": {make: func(g *gpu) *trace.Activity {
			g.World = 1
			return g.ran(allReduce, 7, 0, 1e6)
		}},
		"a collective in a world of one rank": {make: func(g *gpu) *trace.Activity {
			g.World = 1
			a := g.ran("tomorrows_kernel", 7, 0, 1e6)
			a.Call = g.call(trace.Call{What: coll.AllReduce, Group: trace.Unknown})
			return a
		}},
		"the reduction of one rank": {make: func(g *gpu) *trace.Activity {
			a := g.ran(withinNames[0], 7, 0, 1e6)
			a.Call = g.call(trace.Call{What: coll.AllReduce, Group: trace.Unknown})
			return a
		}},
		"what prepares data for a kernel known by name": {make: func(g *gpu) *trace.Activity {
			call := g.call(trace.Call{What: coll.AllReduce, Group: trace.Unknown})
			g.ran(allReduce, 8, 8e6, 9e6).Call = call
			a := g.ran("void at::native::scale(float*)", 7, 0, 1e6)
			a.Call = call
			return a
		}, comm: 1},
	} {
		g := newGPU()
		c.make(g)
		g.ran(gemm, 9, 4e6, 6e6)
		d := g.analysed(t, c.o)
		if d.Comm != c.comm || d.Memcpy != c.memcpy {
			t.Errorf("%s: %g ms of communication and %g ms of copies, want %g and %g", what, d.Comm, d.Memcpy, c.comm, c.memcpy)
		}
	}
}
