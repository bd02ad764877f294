package timeline

import (
	"fmt"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/post/trace"
)

const oneMiB = 1 << 20

// training makes an all-reduce of each size in every step.
type training struct {
	sizes  []int64 // of a step
	steps  int
	typ    string
	about  string
	change func(step int, call *trace.Call, place int)
}

func (tr training) device() *gpu {
	g := newGPU()
	g.Groups = []trace.Group{{Name: "0", About: tr.about, Size: 8}}
	for step := range tr.steps {
		at := int64(step) * 100e6
		g.Ranges = append(g.Ranges, hostRange(fmt.Sprintf("ProfilerStep#%d", step), at, at+100e6))
		g.ran(gemm, 7, at, at+10e6)
		for place, size := range tr.sizes {
			at := at + 10e6 + int64(place)*10e6
			call := trace.Call{What: coll.AllReduce, Bytes: size, Type: tr.typ, Seq: trace.Unknown, Peer: trace.Unknown}
			if tr.change != nil {
				tr.change(step, &call, place)
			}
			g.ran(allReduce, 8, at, at+int64(place+1)*1e6+int64(step)*1e5).Call = g.call(call)
		}
	}
	return g
}

// at changes the call at one place of a step.
func at(place int, change func(step int, call *trace.Call)) func(int, *trace.Call, int) {
	return func(step int, call *trace.Call, at int) {
		if at == place {
			change(step, call)
		}
	}
}

func TestBucketsRepeatEveryStep(t *testing.T) {
	ddp := []int64{8 * oneMiB, 30 * oneMiB, 25 * oneMiB}
	eight := []int64{8 * oneMiB, 8 * oneMiB, 8 * oneMiB}
	three := []int64{8 * oneMiB, 30 * oneMiB, oneMiB}
	gathered := func(bytes int64) func(int, *trace.Call, int) {
		return at(2, func(_ int, call *trace.Call) { call.What, call.Bytes = coll.AllGather, bytes })
	}
	for what, c := range map[string]struct {
		training
		want []int64
	}{
		"buckets":              {training{sizes: ddp, steps: 3, typ: "float32"}, ddp},
		"of an unknown type":   {training{sizes: ddp, steps: 3}, ddp},
		"one step":             {training{sizes: ddp, steps: 1, typ: "float32"}, nil},
		"of integers":          {training{sizes: ddp, steps: 3, typ: "int64"}, nil},
		"of a group that says": {training{sizes: ddp, steps: 3, about: "TENSOR_MODEL_PARALLEL_GROUP"}, nil},
		"of data and context":  {training{sizes: ddp, steps: 3, about: "DATA_PARALLEL_GROUP_WITH_CP"}, ddp},
		"the minimum size":     {training{sizes: []int64{4095, 4096, 8000}, steps: 2}, []int64{4096, 8000}},
		"a thousandth":         {training{sizes: []int64{8192, 8 * oneMiB}, steps: 2}, []int64{8192, 8 * oneMiB}},
		"less than that":       {training{sizes: []int64{8191, 8 * oneMiB}, steps: 2}, []int64{8 * oneMiB}},
		"two of one size":      {training{sizes: eight[:2], steps: 2}, eight[:2]},
		"three of one size":    {training{sizes: eight, steps: 2}, nil},
		"as much sharded":      {training{sizes: three, steps: 2, change: gathered(38 * oneMiB)}, three[:2]},
		"more sharded":         {training{sizes: three, steps: 2, change: gathered(38*oneMiB + 1)}, nil},
		"one size, two kinds": {training{sizes: eight, steps: 2, typ: "float32",
			change: at(1, func(_ int, call *trace.Call) { call.Type = "bfloat16" })}, eight},
		"ordered anew after the first step": {training{sizes: ddp, steps: 3,
			change: at(0, func(step int, call *trace.Call) { call.Bytes -= max(0, 1-int64(step)) * oneMiB })}, ddp},
		"never the same": {training{sizes: ddp, steps: 3,
			change: at(1, func(step int, call *trace.Call) { call.Bytes += int64(step) * oneMiB })}, nil},
	} {
		var got []int64
		for _, b := range c.device().analysed(Options{}).Buckets {
			got = append(got, b.Bytes)
		}
		must.Eq(t, c.want, got, must.Sprint(what))
	}
}

func TestBucketTimes(t *testing.T) {
	d := training{sizes: []int64{8 * oneMiB, 30 * oneMiB}, steps: 3, typ: "float32"}.device().analysed(Options{})
	must.Eq(t, Bucket{Number: 2, Bytes: 30 * oneMiB, Type: "float32", Group: "0", Steps: 3, Median: 2.1, Exposed: 2.1},
		d.Buckets[1])
}
