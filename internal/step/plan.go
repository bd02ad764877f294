package step

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"busbar/internal/coll"
)

// FirstBucket is DDP's default for Options.First, in bytes.
const FirstBucket = 1 << 20

// Options are what a plan depends on beside the point.
type Options struct {
	// bytes at which DDP's first bucket is full, where the cap is not smaller; 0: the cap, as for the others
	First int64
}

// NewPlan makes the plan of a point: which segments a rank computes, and which operations it issues between them.
func NewPlan(m *Model, p Point, world int, o Options) (*Plan, error) {
	switch params := m.Params(); {
	case p.Type.Size() == 0:
		return nil, errors.New("a step requires the type of its gradients")
	case world < 1:
		return nil, fmt.Errorf("a step requires a world size of at least 1, not %d", world)
	case params < 1:
		return nil, fmt.Errorf("model %s has no parameters: there is nothing to communicate", m.Name)
	case params > maxParams:
		return nil, fmt.Errorf("model %s: %d parameters are more than %d", m.Name, params, int64(maxParams))
	}
	b := builder{model: m, options: o, plan: &Plan{Model: m.Name, Point: p, World: world}}
	switch p.Strategy {
	case DDP:
		b.ddp()
	case FSDP:
		b.fsdp()
	default:
		return nil, fmt.Errorf("unknown strategy %q", p.Strategy)
	}
	return b.plan, nil
}

// Same reports whether two plans have the same segments and operations, as two caps can have.
func (p *Plan) Same(other *Plan) bool {
	a, b := *p, *other
	a.Point, b.Point = a.Point.Group(), b.Point.Group()
	return reflect.DeepEqual(a, b)
}

// builder puts a plan together.
type builder struct {
	model   *Model
	options Options
	plan    *Plan
}

// segment adds computing and returns its index.
func (b *builder) segment(w Work, name string, pieces []float64) int {
	b.plan.Segments = append(b.plan.Segments, Segment{Name: name, Work: w, Pieces: pieces})
	return len(b.plan.Segments) - 1
}

// memory sets bytes aside, aligned to what allocators of devices give, so that each operation has a buffer as an
// allocator would give it, and returns where they begin.
func (b *builder) memory(bytes int64) int64 {
	const alignment = 256
	at := b.plan.Bytes
	b.plan.Bytes += (bytes + alignment - 1) / alignment * alignment
	return at
}

// finish adds the optimizer, which waits for all communication; so does the end of a step without one.
func (b *builder) finish() {
	end := len(b.plan.Segments)
	if b.model.Optimizer > 0 {
		end = b.segment(Optimizer, "optimizer", []float64{b.model.Optimizer})
	}
	for i := range b.plan.Ops {
		if o := &b.plan.Ops[i]; o.Before == atEnd {
			o.Before = end
		}
	}
}

// atEnd marks the segment after all communication until its index is known.
const atEnd = -1

// ddp is data-parallel training as PyTorch's DistributedDataParallel does it: gradients are ready from the last layer
// to the first.
func (b *builder) ddp() {
	m, p := b.model, b.plan.Point
	b.segment(Forward, "forward", pieces(m.Layers, Layer.forward))
	for i, bucket := range Buckets(m, p.Type, p.Bucket, b.options.First) {
		layers := bucket.layers(m)
		slices.Reverse(layers)
		if bucket.Params == 0 {
			b.segment(Backward, "backward rest", pieces(layers, Layer.backward))
			continue
		}
		name := fmt.Sprintf("bucket %d", i+1)
		last := b.segment(Backward, "backward "+name, pieces(layers, Layer.backward))
		b.plan.Ops = append(
			b.plan.Ops,
			Op{Name: name, Collective: coll.AllReduce, Count: bucket.Params, Layers: bucket.Layers,
				At: b.memory(bucket.Params * int64(p.Type.Size())), After: last, Before: atEnd},
		)
	}
	b.finish()
}

func pieces(layers []Layer, seconds func(Layer) float64) []float64 {
	all := make([]float64, len(layers))
	for i, l := range layers {
		all[i] = seconds(l)
	}
	return all
}

func (l Layer) forward() float64  { return l.Forward }
func (l Layer) backward() float64 { return l.Backward }
