package timeline

import (
	"fmt"
	"runtime"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

// longTraining is a device with a number of activities in a hundred steps, most of them computing, each launched a
// while before it runs.
func longTraining(activities int) *gpu {
	g := newGPU()
	g.Groups = []trace.Group{{Name: "0", Size: 8}}
	for i := range 3000 {
		g.Names = append(
			g.Names,
			fmt.Sprintf(
				"void at::native::vectorized_elementwise_kernel<%d, at::native::CUDAFunctor_add<float>>(int)",
				i,
			),
		)
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
			a.Call = g.call(
				trace.Call{What: coll.AllReduce, Bytes: int64(1 + i%50), Type: "float32", Group: 0, Seq: int64(i),
					Peer: trace.Unknown},
			)
		}
		g.Activities = append(g.Activities, a)
	}
	return g
}

func BenchmarkAnalyse(b *testing.B) {
	g := longTraining(500000)
	b.ReportAllocs()
	for b.Loop() {
		analyse(&g.Device, 0, Options{})
	}
}

// What an analysis takes besides the activities is bounded: files of many ranks are read one after the other.
func TestAnalysisOfManyActivitiesKeepsLittle(t *testing.T) {
	g := longTraining(200000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	d := analyse(&g.Device, 0, Options{})
	g = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	if most := int64(4 << 20); kept > most {
		t.Errorf("%d bytes are kept of a device with %d kernels, want at most %d", kept, d.Kernels, most)
	}
	runtime.KeepAlive(d)
}
