package timeline

import (
	"math/rand/v2"
	"testing"

	"busbar/post/trace"
)

// gpu makes a device of what ran on it.
type gpu struct{ trace.Device }

func newGPU() *gpu {
	return &gpu{trace.Device{Rank: trace.Unknown, Process: trace.Unknown, Origin: trace.Unknown}}
}

// ran adds a kernel, whose launch is not known, and gives it back to be changed before the next is added.
func (g *gpu) ran(name string, stream int32, start, end int64) *trace.Activity {
	i := 0
	for i < len(g.Names) && g.Names[i] != name {
		i++
	}
	if i == len(g.Names) {
		g.Names = append(g.Names, name)
	}
	g.Activities = append(g.Activities, trace.Activity{
		Start: start, End: end, Launch: trace.NoTime, Bytes: trace.Unknown, Name: int32(i), Stream: stream,
		Call: trace.Unknown,
	})
	return &g.Activities[len(g.Activities)-1]
}

// copied adds a copy.
func (g *gpu) copied(kind trace.Kind, stream int32, start, end int64) *trace.Activity {
	a := g.ran("Memcpy", stream, start, end)
	a.Kind = kind
	return a
}

// call adds a collective, and gives its index.
func (g *gpu) call(c trace.Call) int32 {
	c.Parts = max(1, c.Parts)
	g.Calls = append(g.Calls, c)
	return int32(len(g.Calls) - 1)
}

// names of kernels for tests
const (
	gemm      = "ampere_sgemm_128x64_nn"
	allReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	allGather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
)

func (g *gpu) analysed(t *testing.T, o Options) Device {
	t.Helper()
	b := NewBuilder(o)
	b.Add(&trace.File{Path: "test.json", Format: trace.Kineto, Devices: []*trace.Device{&g.Device}})
	return b.Timeline().Devices[0]
}

// randomGPU has kernels, collectives and copies that nest, touch, repeat and are empty.
func randomGPU(r *rand.Rand, n int) *gpu {
	g := newGPU()
	line := int64(3*n + 10)
	for range 1 + r.IntN(n) {
		start := r.Int64N(line)
		end := start + r.Int64N(1+r.Int64N(line-start+1))
		stream := int32(r.IntN(3))
		var a *trace.Activity
		switch r.IntN(4) {
		case 0:
			a = g.ran(allReduce, stream, start, end)
		case 1:
			a = g.copied(trace.MemcpyHostToDevice, stream, start, end)
		default:
			a = g.ran(gemm, stream, start, end)
		}
		if r.IntN(5) > 0 {
			a.Launch = start - r.Int64N(20) + 3 // sometimes after it ran, as clocks that disagree make it
		}
		if r.IntN(6) == 0 {
			g.Activities = append(g.Activities, *a)
		}
	}
	return g
}
