package step

import (
	"fmt"
	"slices"

	"busbar/internal/coll"
)

// unit is some neighbouring layers whose parameters are gathered together.
type unit struct {
	Bucket
	name string

	forward, backward int   // segments
	parameters        int64 // where their memory begins
}

// fsdp is fully sharded training as in PyTorch's FSDP, with one prefetch: while a unit computes, the next one's
// parameters are gathered. The last unit of the forward pass is the first of the backward pass, and stays gathered in
// between.
//
// Operations are in the order of one queue: the next unit's gather is issued before the reduction of this one's
// gradients.
func (b *builder) fsdp() {
	units := b.units()
	for i := range units {
		u := &units[i]
		u.forward = b.segment(Forward, "forward "+u.name, pieces(u.layers(b.model), Layer.forward))
	}
	for i := range slices.Backward(units) {
		u := &units[i]
		layers := u.layers(b.model)
		slices.Reverse(layers)
		u.backward = b.segment(Backward, "backward "+u.name, pieces(layers, Layer.backward))
	}
	for i := range units {
		u := &units[i]
		u.parameters = b.memory(b.whole(b.share(u.Params)))
		begins := 0 // the unit before, or the step
		if i > 0 {
			begins = units[i-1].forward
		}
		b.gather(*u, "gather "+u.name, begins, u.forward)
	}
	for i, u := range slices.Backward(units) {
		if i > 0 {
			next := units[i-1]
			b.gather(next, "gather "+next.name+" again", u.backward, next.backward)
		}
		b.reduce(u)
	}
	b.finish()
}

// units are neighbouring layers up to the cap, in the order of the forward pass.
func (b *builder) units() []unit {
	buckets := group(b.model.Layers, b.plan.Point.Type, b.plan.Point.Bucket, b.plan.Point.Bucket)
	if n := len(buckets) - 1; buckets[n].Params == 0 { // left over: nothing is gathered for them
		buckets[n-1].To = buckets[n].To
		buckets = buckets[:n]
	}
	units := make([]unit, len(buckets))
	for i, k := range buckets {
		units[i] = unit{Bucket: k, name: fmt.Sprintf("unit %d", i+1)}
		if k.To-k.From == 1 && b.model.Layers[k.From].Name != "" {
			units[i].name = b.model.Layers[k.From].Name
		}
	}
	return units
}

// share is how many of some elements each rank keeps: the same on all, and a whole number of 16 bytes.
func (b *builder) share(elements int64) int64 {
	world, step := int64(b.plan.World), 16/int64(b.plan.Point.Type.Size())
	share := (elements + world - 1) / world
	return (share + step - 1) / step * step
}

// whole is what all ranks' shares take, in bytes.
func (b *builder) whole(share int64) int64 {
	return share * int64(b.plan.World) * int64(b.plan.Point.Type.Size())
}

// gather adds the gathering of a unit's parameters, which may begin when segment begins does, and must be done before
// another. Both gatherings of a unit fill the same memory: its parameters do not change within a step.
func (b *builder) gather(u unit, name string, begins, before int) {
	b.plan.Ops = append(
		b.plan.Ops,
		Op{Name: name, Collective: coll.AllGather, Count: b.share(u.Params), At: u.parameters, Layers: u.Layers,
			After: begins - 1, Before: before},
	)
}

// reduce adds the summing of a unit's gradients, of which each rank keeps a share.
func (b *builder) reduce(u unit) {
	share := b.share(u.Params)
	b.plan.Ops = append(
		b.plan.Ops,
		Op{Name: "reduce " + u.name, Collective: coll.ReduceScatter, Count: share, At: b.memory(b.whole(share)),
			Layers: u.Layers, After: u.backward, Before: atEnd},
	)
}
