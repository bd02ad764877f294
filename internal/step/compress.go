package step

import (
	"math"

	"busbar/internal/coll"
)

// Passes over the memory of the gradients that compressing and decompressing take, by estimate: quantising and back
// reads and writes them once each; PowerSGD adds the error of the last step, multiplies by each of its two factors,
// multiplies the factors, and keeps the new error.
const (
	factorPasses   = 2
	powerSGDPasses = 5
)

// volume is how many elements stand for the gradients of layers.
func (c Compression) volume(layers []Layer) (elements int64) {
	for _, l := range layers {
		elements += c.lowRank(l)
	}
	if c.Factor > 0 {
		elements = int64(math.Ceil(float64(elements) / c.Factor))
	}
	return elements
}

// lowRank is how many elements PowerSGD sends for a layer: two thin matrices, where they are less than half of the
// layer itself (PyTorch's hook has that limit too), or the layer.
func (c Compression) lowRank(l Layer) int64 {
	rows, columns := l.Shape[0], l.Shape[1]
	if c.Rank == 0 || rows == 0 || columns == 0 || 2*float64(rows+columns)*float64(c.Rank) >= float64(l.Params) {
		return l.Params
	}
	return (rows + columns) * int64(c.Rank)
}

// cost is what compressing so many of all the gradients that do not go as they are takes, in seconds.
func (c Compression) cost(compressed, all int64, t coll.DataType, copyRate float64) float64 {
	switch {
	case compressed == 0:
		return 0
	case c.Cost > 0:
		return c.Cost * float64(compressed) / float64(all)
	case copyRate <= 0:
		return 0
	}
	passes := factorPasses
	if c.Rank > 0 {
		passes = powerSGDPasses
	}
	return float64(passes) * float64(compressed) * float64(t.Size()) / copyRate
}

// ByCopies says whether compressing is priced by the rate at which memory is copied.
func (c Compression) ByCopies() bool { return c.Cost == 0 && (c.Factor > 0 || c.Rank > 0) }

// compressed is how many parameters do not go as they are.
func (c Compression) compressed(layers []Layer) (elements int64) {
	for _, l := range layers {
		if c.Factor > 0 || c.lowRank(l) < l.Params {
			elements += l.Params
		}
	}
	return elements
}
