package timeline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
)

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
		"the least size":                  {training{sizes: []int64{4096, 8000}, steps: 2}, []int64{4096, 8000}},
		"less than that":                  {training{sizes: []int64{4095, 8000}, steps: 2}, []int64{8000}},
		"a thousandth of the largest":     {training{sizes: []int64{8192, 8 * oneMiB}, steps: 2}, []int64{8192, 8 * oneMiB}},
		"less than that of the largest":   {training{sizes: []int64{8191, 8 * oneMiB}, steps: 2}, []int64{8 * oneMiB}},
		"two of one size":                 {training{sizes: eight[:2], steps: 2}, eight[:2]},
		"three of one size":               {training{sizes: eight, steps: 2}, nil},
		"three of one size and two kinds": {training{sizes: eight, steps: 2, typ: "float32", change: mixed}, eight},
		"as much sharded":                 {training{sizes: three, steps: 2, change: sharded(38 * oneMiB)}, three[:2]},
		"more sharded":                    {training{sizes: three, steps: 2, change: sharded(38*oneMiB + 1)}, nil},
		"two orders, as often": {training{sizes: three[:2], steps: 4, change: func(_ *gpu, step int, call *trace.Call,
			place int) {
			if step%2 == 1 {
				call.Bytes = three[1-place]
			}
		}}, []int64{30 * oneMiB, 8 * oneMiB}},
		"in fewer steps than have none": {training{sizes: three[:2], steps: 5,
			change: func(_ *gpu, step int, call *trace.Call, _ int) {
				if step > 1 {
					call.What = coll.Broadcast
				}
			}}, three[:2]},
	} {
		d := c.device().analysed(t, Options{})
		if got := sizesOf(d.Buckets); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: buckets are %v, want %v", what, got, c.want)
		}
	}
}

// A period is the least distance at which all of a sequence is like itself.
func TestPeriodIsTheLeastOne(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		sequence := make([]placed, 1+r.IntN(12))
		for i := range sequence {
			sequence[i].bytes = r.Int64N(2)
		}
		want := 1
		for i := want; i < len(sequence); i++ {
			if !sequence[i].same(sequence[i-want]) {
				want++
				i = want - 1
			}
		}
		if got := period(sequence); got != want {
			t.Fatalf("period of %+v is %d, want %d", sequence, got, want)
		}
	}
}

// A sequence repeats itself when it came twice as a whole.
func TestRepeatsWithoutStepsAreWhole(t *testing.T) {
	at := func(bytes ...int64) (sequence []placed) {
		for i, b := range bytes {
			start := int64(i) * 10
			sequence = append(sequence, placed{h: &happening{Span: trace.Span{Start: start, End: start + 5}}, bytes: b})
		}
		return sequence
	}
	if got := byPeriod(at(1, 2, 1)); got != nil {
		t.Errorf("one and a half are %d repeats", len(got))
	}
	if got := byPeriod(at(1, 2, 1, 2)); len(got) != 2 || len(got[0]) != 2 || got[1][0].bytes != 1 {
		t.Errorf("two are %+v", got)
	}
}

// Every moment of a window is in the cell between whose edges it lies, and what is in a cell is what a count of its
// moments gives.
func TestCellsHoldTheirMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 300 {
		start, length := r.Int64N(1000)-500, 1+r.Int64N(60)
		c := cells{trace.Span{Start: start, End: start + length}, 1 + r.IntN(int(length))}
		if c.edge(0) != c.Start || c.edge(c.n) != c.End {
			t.Fatalf("cells of %+v go from %d to %d", c, c.edge(0), c.edge(c.n))
		}
		a := trace.Span{Start: start - 5 + r.Int64N(length+5)}
		a.End = a.Start + 1 + r.Int64N(length)
		want := make([]int64, c.n)
		for moment := c.Start; moment < c.End; moment++ {
			i := c.at(moment)
			if moment < c.edge(i) || moment >= c.edge(i+1) {
				t.Fatalf("%d is in cell %d of %+v, which goes from %d to %d", moment, i, c, c.edge(i), c.edge(i+1))
			}
			if moment >= a.Start && moment < a.End {
				want[i]++
			}
		}
		if got := c.fill(spans{a}); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("cells of %+v hold %v of %+v, want %v", c, got, a, want)
		}
	}
}

func TestWindowsBeginWhereTheyDo(t *testing.T) {
	g := newGPU()
	g.Ranges = []trace.Range{hostRange("ProfilerStep#1", 100e6, 105e6), hostRange("ProfilerStep#2", 105e6, 120e6)}
	g.ran(gemm, 7, 100e6, 104e6)
	g.ran(gemm, 7, 106e6, 110e6)
	strips := g.strips(t)
	if strips[0].Start != 0 || strips[2].Start != 6 {
		t.Errorf("the whole begins at %g and the second step at %g, want 0 and 6", strips[0].Start, strips[2].Start)
	}
	empty := newGPU()
	empty.ran(gemm, 7, 5, 5)
	if s := empty.strips(t)[0]; s.Cells != 0 || len(s.Runs) != 0 {
		t.Errorf("a window without length is %+v", s)
	}
}
