package timeline

import (
	"fmt"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

const oneMiB = 1 << 20

// training is what an all-reduce of each size in every step makes, and what is done to it.
type training struct {
	sizes  []int64 // of a step
	steps  int
	typ    string
	about  string
	change func(g *gpu, step int, call *trace.Call, place int)
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
			call := trace.Call{What: coll.AllReduce, Bytes: size, Type: tr.typ, Group: 0, Seq: trace.Unknown,
				Peer: trace.Unknown}
			if tr.change != nil {
				tr.change(g, step, &call, place)
			}
			g.ran(allReduce, 8, at, at+int64(place+1)*1e6+int64(step)*1e5).Call = g.call(call)
		}
	}
	return g
}

func sizesOf(buckets []Bucket) (sizes []int64) {
	for _, b := range buckets {
		sizes = append(sizes, b.Bytes)
	}
	return sizes
}

func TestBucketsAreAllReducesThatComeAgainInEveryStep(t *testing.T) {
	ddp := []int64{8 * oneMiB, 30 * oneMiB, 25 * oneMiB}
	for what, c := range map[string]struct {
		training
		want []int64
	}{
		"buckets":            {training{sizes: ddp, steps: 3, typ: "float32"}, ddp},
		"of an unknown type": {training{sizes: ddp, steps: 3}, ddp},
		"one step":           {training{sizes: ddp, steps: 1, typ: "float32"}, nil},
		"of integers":        {training{sizes: ddp, steps: 3, typ: "int64"}, nil},
		"with a metric": {training{sizes: []int64{5000, 8 * oneMiB, 30 * oneMiB, 25 * oneMiB}, steps: 3,
			typ: "float32"}, ddp},
		"of tensor parallelism": {training{sizes: []int64{8 * oneMiB, 8 * oneMiB, 8 * oneMiB, 8 * oneMiB}, steps: 3,
			typ: "bfloat16"}, nil},
		"of a group that says": {training{sizes: ddp, steps: 3, typ: "bfloat16",
			about: "TENSOR_MODEL_PARALLEL_GROUP"}, nil},
		"of data and context": {training{sizes: ddp, steps: 3, typ: "bfloat16",
			about: "DATA_PARALLEL_GROUP_WITH_CP"}, ddp},
		"ordered anew after the first step": {training{sizes: ddp, steps: 3, typ: "float32",
			change: func(_ *gpu, step int, call *trace.Call, place int) {
				if step == 0 {
					call.Bytes = []int64{oneMiB, 31 * oneMiB, 31 * oneMiB}[place]
				}
			}}, ddp},
		"never the same": {training{sizes: ddp, steps: 3, typ: "float32", change: func(_ *gpu, step int,
			call *trace.Call,
			_ int) {
			call.Bytes += int64(step) * oneMiB
		}}, nil},
		"beside sharded parameters": {training{sizes: []int64{8 * oneMiB, 30 * oneMiB, 60 * oneMiB}, steps: 3,
			typ: "float32",
			change: func(_ *gpu, _ int, call *trace.Call, place int) {
				if place == 2 {
					call.What = coll.ReduceScatter
				}
			}}, nil},
	} {
		d := c.device().analysed(t, Options{})
		if got := sizesOf(d.Buckets); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: buckets are %v, want %v", what, got, c.want)
		}
	}
}

func TestBucketsSayHowLongTheyTake(t *testing.T) {
	d := training{sizes: []int64{8 * oneMiB, 30 * oneMiB}, steps: 3, typ: "float32"}.device().analysed(t, Options{})
	want := Bucket{Number: 2, Bytes: 30 * oneMiB, Type: "float32", Group: "0", Steps: 3, Median: 2.1, Exposed: 2.1}
	if d.Buckets[1] != want {
		t.Errorf("bucket is %+v, want %+v", d.Buckets[1], want)
	}
}

// At both sides of each limit of what a bucket may be.
func TestBucketsAtTheirLimits(t *testing.T) {
	mixed := func(_ *gpu, _ int, call *trace.Call, place int) {
		if place == 1 {
			call.Type = "bfloat16"
		}
	}
	sharded := func(bytes int64) func(*gpu, int, *trace.Call, int) {
		return func(_ *gpu, _ int, call *trace.Call, place int) {
			if place == 2 {
				call.What, call.Bytes = coll.AllGather, bytes
			}
		}
	}
	eight := []int64{8 * oneMiB, 8 * oneMiB, 8 * oneMiB}
	three := []int64{8 * oneMiB, 30 * oneMiB, oneMiB}
	for what, c := range map[string]struct {
		training
		want []int64
	}{
		"the least size": {training{sizes: []int64{4096, 8000}, steps: 2}, []int64{4096, 8000}},
		"a thousandth of the largest": {training{sizes: []int64{8192, 8 * oneMiB}, steps: 2}, []int64{8192,
			8 * oneMiB}},
		"less than that of the largest":   {training{sizes: []int64{8191, 8 * oneMiB}, steps: 2}, []int64{8 * oneMiB}},
		"two of one size":                 {training{sizes: eight[:2], steps: 2}, eight[:2]},
		"three of one size":               {training{sizes: eight, steps: 2}, nil},
		"three of one size and two kinds": {training{sizes: eight, steps: 2, typ: "float32", change: mixed}, eight},
		"as much sharded":                 {training{sizes: three, steps: 2, change: sharded(38 * oneMiB)}, three[:2]},
		"more sharded":                    {training{sizes: three, steps: 2, change: sharded(38*oneMiB + 1)}, nil},
	} {
		d := c.device().analysed(t, Options{})
		if got := sizesOf(d.Buckets); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: buckets are %v, want %v", what, got, c.want)
		}
	}
}
