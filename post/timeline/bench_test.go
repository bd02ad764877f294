package timeline

import (
	"fmt"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

// longTraining is a device with many activities in a hundred steps, most of them computation, each launched before it
// runs.
func longTraining(activities int) *gpu {
	g := newGPU()
	g.Groups = []trace.Group{{Name: "0", Size: 8}}
	for i := range 3000 {
		g.Names = append(g.Names, fmt.Sprintf(
			"void at::native::vectorized_elementwise_kernel<%d, at::native::CUDAFunctor_add<float>>(int)", i))
	}
	g.Names = append(g.Names, allReduce)
	for i := range activities {
		at := int64(i) * 1000
		if i%(activities/100) == 0 {
			g.Ranges = append(g.Ranges, hostRange(fmt.Sprintf("ProfilerStep#%d", i), at, at+int64(activities)*10))
		}
		a := trace.Activity{Start: at, End: at + 900, Launch: at - 5000, Bytes: trace.Unknown, Name: int32(i % 3000),
			Stream: 7, Call: trace.Unknown}
		if i%10 == 0 {
			a.Name, a.Stream, a.End = 3000, 20, at+1900
			a.Call = g.call(trace.Call{What: coll.AllReduce, Bytes: int64(1 + i%50), Type: "float32", Seq: int64(i)})
		}
		g.Activities = append(g.Activities, a)
	}
	return g
}

func BenchmarkAnalyse(b *testing.B) {
	g := longTraining(500000)
	b.ReportAllocs()
	for b.Loop() {
		analyse(&g.Device, Options{})
	}
}
