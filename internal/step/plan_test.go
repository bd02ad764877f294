package step

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// randomModel has layers of all kinds: tiny, huge, without parameters, without time.
func randomModel(r *rand.Rand) *Model {
	m := &Model{Name: "random"}
	for i := range 1 + r.IntN(30) {
		l := Layer{Name: fmt.Sprintf("layer%d", i), Params: []int64{0, 1, 7, 1000, 1 << 18, 5 << 20}[r.IntN(6)],
			Forward: r.Float64(), Backward: r.Float64()}
		m.Layers = append(m.Layers, l)
	}
	m.Layers[r.IntN(len(m.Layers))].Params = 1 + r.Int64N(1<<20)
	if r.IntN(2) == 0 {
		m.Optimizer = r.Float64()
	}
	return m
}

func randomPoint(r *rand.Rand) Point {
	p := Point{Strategy: []Strategy{DDP, FSDP}[r.IntN(2)],
		Type: []coll.DataType{coll.Float32, coll.BFloat16, coll.Float64,
			coll.Float8E4M3}[r.IntN(4)]}
	p.Bucket = append(Caps(), PerLayer, 1, 100)[r.IntN(10)]
	return p
}

// For every model and point: no dependency cycle, no lost operation, and no overlapping buffers.
func TestPlanProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		m, p, world := randomModel(r), randomPoint(r), 1+r.IntN(9)
		plan, err := NewPlan(m, p, world, Options{First: []int64{0, FirstBucket}[r.IntN(2)]})
		if err != nil {
			t.Fatalf("%v in a world of %d: %v", p, world, err)
		}
		links(t, plan)
		memory(t, plan)
		complete(t, m, plan)
		if t.Failed() {
			t.Fatalf("%v in a world of %d: %+v", p, world, plan)
		}
	}
}

// links: an operation that a segment waits for is not issued after one that starts with or after that segment, because
// operations start in order.
func links(t *testing.T, p *Plan) {
	t.Helper()
	latest := -1
	for i, o := range p.Ops {
		if o.After < -1 || o.Before > len(p.Segments) || o.After >= o.Before {
			t.Errorf("operation %d is tied to %d and %d", i, o.After, o.Before)
		}
		if o.After < latest {
			t.Errorf("operation %d could begin before the one before it", i)
		}
		if latest = max(latest, o.After); latest >= o.Before {
			t.Errorf(
				"operation %d must be done before segment %d, and an earlier one begins behind segment %d",
				i,
				o.Before,
				latest,
			)
		}
	}
}

// memory: buffers are inside the plan's memory and disjoint, except a unit that is gathered twice.
func memory(t *testing.T, p *Plan) {
	t.Helper()
	end := int64(0)
	gathered := map[int64]int64{}
	for i, o := range p.Ops {
		c, err := p.Case(i)
		if err != nil || o.Count < 1 {
			t.Fatalf("operation %d of %d elements: %v", i, o.Count, err)
		}
		if o.At%256 != 0 {
			t.Errorf("operation %d is at %d", i, o.At)
		}
		if n, again := gathered[o.At]; again && o.Collective == coll.AllGather && n == o.Count {
			continue
		}
		if o.At < end {
			t.Errorf("operation %d is at %d, in memory of an operation up to %d", i, o.At, end)
		}
		if o.Collective == coll.AllGather {
			gathered[o.At] = o.Count
		}
		end = o.At + c.MemoryBytes(0)
	}
	if end > p.Bytes || p.Bytes-end >= 256 {
		t.Errorf("memory ends at %d, and %d are asked for", end, p.Bytes)
	}
}

// complete: computation and summed elements do not depend on buckets.
func complete(t *testing.T, m *Model, p *Plan) {
	t.Helper()
	seconds, elements, layers, padding := 0.0, int64(0), 0, int64(0)
	for _, s := range p.Segments {
		seconds += s.Seconds()
	}
	for _, o := range p.Ops {
		switch o.Collective {
		case coll.AllReduce:
			elements += o.Count
			layers += o.Layers
		case coll.ReduceScatter:
			elements += o.Count * int64(p.World)
			layers += o.Layers
			padding += 16 * int64(p.World)
		}
	}
	want := 0
	for _, l := range m.Layers {
		want += min(1, int(l.Params))
	}
	if s, n := m.Forward()+m.Backward()+m.Optimizer, m.Params(); math.Abs(seconds-s) > 1e-9 || elements < n ||
		elements > n+padding || layers != want {
		t.Errorf("%g s, want %g; %d elements of %d layers, want %d of %d", seconds, s, elements, layers, n, want)
	}
}

// planOf makes a plan that must be possible.
func planOf(t *testing.T, m *Model, p Point, world int, o Options) *Plan {
	t.Helper()
	plan, err := NewPlan(m, p, world, o)
	must.NoError(t, err)
	return plan
}

// drawn is a plan in lines: segments with their pieces, then operations with the segments that they are tied to.
func drawn(p *Plan) (lines []string) {
	for i, s := range p.Segments {
		lines = append(lines, fmt.Sprintf("%d %s: %s %.3g", i, s.Work, s.Name, s.Pieces))
	}
	for _, o := range p.Ops {
		lines = append(
			lines,
			fmt.Sprintf("%s: %s %d at %d of %d, %d to %d", o.Name, o.Collective, o.Count, o.At, o.Layers,
				o.After, o.Before),
		)
	}
	return append(lines, fmt.Sprintf("%d bytes", p.Bytes))
}

func sameLines(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	test.SliceEqOp(t, want, got, test.Sprint(name, strings.Join(got, "\n"), strings.Join(want, "\n")))
}

func TestPlansOfDDP(t *testing.T) {
	m := layersOf(100, 0, 10, 10)
	p := Point{Strategy: DDP, Bucket: 80, Type: coll.Float32}
	sameLines(t, "two buckets", drawn(planOf(t, m, p, 4, Options{})),
		"0 forward: forward [1 1 1 1]",
		"1 backward: backward bucket 1 [4 3]",
		"2 backward: backward bucket 2 [2 1]",
		"bucket 1: all_reduce 20 at 0 of 2, 1 to 3",
		"bucket 2: all_reduce 100 at 256 of 1, 2 to 3",
		"768 bytes")
	m.Optimizer = 0.5
	sameLines(t, "with an optimizer, in one bucket",
		drawn(planOf(t, m, Point{Strategy: DDP, Bucket: All, Type: coll.BFloat16}, 1, Options{First: 1})),
		"0 forward: forward [1 1 1 1]",
		"1 backward: backward bucket 1 [4 3 2 1]",
		"2 optimizer: optimizer [0.5]",
		"bucket 1: all_reduce 120 at 0 of 3, 1 to 2",
		"256 bytes")
}

func TestPlansOfFSDP(t *testing.T) {
	m := layersOf(100, 10, 6)
	p := Point{Strategy: FSDP, Bucket: PerLayer, Type: coll.Float32}
	sameLines(t, "each layer", drawn(planOf(t, m, p, 3, Options{First: 1})),
		"0 forward: forward layer1 [1]",
		"1 forward: forward layer2 [1]",
		"2 forward: forward layer3 [1]",
		"3 backward: backward layer3 [3]",
		"4 backward: backward layer2 [2]",
		"5 backward: backward layer1 [1]",
		"gather layer1: all_gather 36 at 0 of 1, -1 to 0",
		"gather layer2: all_gather 4 at 512 of 1, -1 to 1",
		"gather layer3: all_gather 4 at 768 of 1, 0 to 2",
		"gather layer2 again: all_gather 4 at 512 of 1, 2 to 4",
		"reduce layer3: reduce_scatter 4 at 1024 of 1, 3 to 6",
		"gather layer1 again: all_gather 36 at 0 of 1, 3 to 5",
		"reduce layer2: reduce_scatter 4 at 1280 of 1, 4 to 6",
		"reduce layer1: reduce_scatter 36 at 1536 of 1, 5 to 6",
		"2048 bytes")
	m.Optimizer = 0.5
	p.Bucket = 440
	m.Layers = append(m.Layers, Layer{Name: "head", Forward: 1, Backward: 9})
	sameLines(t, "units, with a layer that only computes", drawn(planOf(t, m, p, 1, Options{})),
		"0 forward: forward unit 1 [1 1]",
		"1 forward: forward unit 2 [1 1]",
		"2 backward: backward unit 2 [9 3]",
		"3 backward: backward unit 1 [2 1]",
		"4 optimizer: optimizer [0.5]",
		"gather unit 1: all_gather 112 at 0 of 2, -1 to 0",
		"gather unit 2: all_gather 8 at 512 of 1, -1 to 1",
		"gather unit 1 again: all_gather 112 at 0 of 2, 1 to 3",
		"reduce unit 2: reduce_scatter 8 at 768 of 1, 2 to 4",
		"reduce unit 1: reduce_scatter 112 at 1024 of 2, 3 to 4",
		"1536 bytes")
}

// Two caps can give the same step; other times do not.
func TestSame(t *testing.T) {
	m, scaled := layersOf(100, 10, 6), layersOf(100, 10, 6)
	scaled.Scale(1)
	p := Point{Strategy: DDP, Bucket: 1 << 20, Type: coll.Float32}
	all, each := p, p
	all.Bucket, each.Bucket = All, PerLayer
	plan := planOf(t, m, p, 2, Options{})
	if !plan.Same(planOf(t, m, all, 2, Options{})) {
		t.Error("the same buckets are another step")
	}
	if plan.Same(planOf(t, m, each, 2, Options{})) || plan.Same(planOf(t, scaled, p, 2, Options{})) {
		t.Error("smaller buckets or other times are the same step")
	}
}

func TestImpossiblePlans(t *testing.T) {
	m := layersOf(100)
	good := Point{Strategy: DDP, Bucket: 1, Type: coll.Float32}
	for want, k := range map[string]struct {
		m     *Model
		p     Point
		world int
	}{
		"world size of at least 1":  {m, good, 0},
		"the type of its gradient":  {m, Point{Strategy: DDP}, 2},
		"unknown strategy":          {m, Point{Type: coll.Float32}, 2},
		"no parameters":             {layersOf(0, 0), good, 2},
		"more than 281474976710656": {layersOf(maxParams, 1), good, 2},
	} {
		if p, err := NewPlan(k.m, k.p, k.world, Options{}); p != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", want, p, err)
		}
	}
}
