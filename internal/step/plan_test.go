package step

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"busbar/internal/coll"
)

// randomModel has layers of all kinds: tiny, huge, without parameters, without time, matrices and vectors.
func randomModel(r *rand.Rand) *Model {
	m := &Model{Name: "random"}
	for i := range 1 + r.IntN(30) {
		l := Layer{Name: fmt.Sprintf("layer%d", i), Params: []int64{0, 1, 7, 1000, 1 << 18, 5 << 20}[r.IntN(6)], Forward: r.Float64(), Backward: r.Float64()}
		if r.IntN(2) == 0 {
			l.Shape = [2]int64{64, l.Params / 64}
			l.Params = l.Shape[0] * l.Shape[1]
		}
		m.Layers = append(m.Layers, l)
	}
	m.Layers[r.IntN(len(m.Layers))].Params = 1 + r.Int64N(1<<20)
	if r.IntN(2) == 0 {
		m.Optimizer = r.Float64()
	}
	return m
}

func randomPoint(r *rand.Rand) Point {
	p := Point{Strategy: Strategies()[r.IntN(2)], Type: []coll.DataType{coll.Float32, coll.BFloat16, coll.Float64, coll.Float8E4M3}[r.IntN(4)]}
	p.Bucket = append(Caps(), PerLayer, 1, 100)[r.IntN(10)]
	p.Compression = compressionsForTest()[r.IntN(len(compressionsForTest()))]
	if p.Impossible() != nil {
		p.Compression = Compression{Factor: 3}
	}
	return p
}

// Whatever the model and the point: no order of operations can wait for itself, nothing is lost, and no two buffers overlap.
func TestPlansHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		m, p, world := randomModel(r), randomPoint(r), 1+r.IntN(9)
		plan, err := NewPlan(m, p, world, Options{First: []int64{0, FirstBucket}[r.IntN(2)], CopyRate: 1e9})
		if err != nil {
			t.Fatalf("%v in a world of %d: %v", p, world, err)
		}
		links(t, plan)
		memory(t, plan)
		if t.Failed() {
			t.Fatalf("%v in a world of %d: %+v", p, world, plan)
		}
	}
}

// links: an operation that a segment waits for is behind none that begins with or after that segment, because operations
// begin in their order. And they begin in the order in which they may.
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
			t.Errorf("operation %d must be done before segment %d, and an earlier one begins behind segment %d", i, o.Before, latest)
		}
	}
}

// memory: buffers are inside of the plan's memory and apart, but for a unit that is gathered twice.
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
