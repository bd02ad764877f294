package step

import (
	"slices"

	"busbar/internal/coll"
)

// Bucket is some neighbouring layers of a model whose gradients (or parameters) are communicated together.
type Bucket struct {
	From, To int   // layers of the model, in the order of its forward pass: From ≤ layer < To
	Params   int64 // elements; 0: layers without parameters that are left over, which communicate nothing
	Layers   int   // with parameters
}

func (k Bucket) layers(m *Model) []Layer { return slices.Clone(m.Layers[k.From:k.To]) }

// Buckets are the buckets of DDP in the order in which they become ready, from the last layer to the first. A bucket
// takes layers until its bytes reach the cap, so that it exceeds the cap by up to a layer; the first is full at first
// bytes, if that is less (0: at the cap). A bucket without parameters can only be the last.
func Buckets(m *Model, t coll.DataType, limit Cap, first int64) []Bucket {
	reverse := slices.Clone(m.Layers)
	slices.Reverse(reverse)
	if limit == All || first == 0 {
		first = int64(limit)
	}
	buckets := group(reverse, t, min(Cap(first), limit), limit)
	for i, k := range buckets {
		buckets[i].From, buckets[i].To = len(reverse)-k.To, len(reverse)-k.From
	}
	return buckets
}

// group fills buckets in the order of the layers.
func group(layers []Layer, t coll.DataType, first, limit Cap) []Bucket {
	var all []Bucket
	k, full := Bucket{}, int64(first)
	for i, l := range layers {
		k.Params += l.Params
		if l.Params > 0 {
			k.Layers++
		}
		k.To = i + 1
		if k.Params > 0 && k.Params*int64(t.Size()) >= full {
			all = append(all, k)
			k, full = Bucket{From: i + 1}, int64(limit)
		}
	}
	if k.From < len(layers) {
		all = append(all, k)
	}
	return all
}
