package step

import (
	"math"
	"testing"

	"busbar/internal/coll"
)

func TestVolume(t *testing.T) {
	matrix := Layer{Params: 512 * 4608, Shape: [2]int64{512, 4608}}
	vector := Layer{Params: 512}
	for _, c := range []struct {
		c      Compression
		layers []Layer
		want   int64
	}{
		{Compression{}, []Layer{matrix, vector}, 512*4608 + 512},
		{Compression{Factor: 8}, []Layer{vector}, 64},
		// what is left over goes too
		{Compression{Factor: 1.5}, []Layer{{Params: 100}}, 67},
		// never nothing
		{Compression{Factor: 1e9}, []Layer{vector}, 1},
		// of nothing
		{Compression{Factor: 8}, []Layer{{}}, 0},
		// two factors
		{Compression{Rank: 4}, []Layer{matrix}, (512 + 4608) * 4},
		// vectors as they are
		{Compression{Rank: 4}, []Layer{matrix, vector}, 5120*4 + 512},
		// they would be more than half
		{Compression{Rank: 115}, []Layer{{Params: 230 * 920, Shape: [2]int64{230, 920}}}, 230 * 920},
		// just less than half
		{Compression{Rank: 91}, []Layer{{Params: 230 * 920, Shape: [2]int64{230, 920}}}, 1150 * 91},
		// half
		{Compression{Rank: 92}, []Layer{{Params: 230 * 920, Shape: [2]int64{230, 920}}}, 230 * 920},
		// no overflow
		{Compression{Rank: maxRank}, []Layer{{Params: maxParams, Shape: [2]int64{1 << 40, maxParams >> 40}}}, maxParams},
		{Compression{Rank: 1}, []Layer{{Params: maxParams, Shape: [2]int64{1 << 24, 1 << 24}}}, 1 << 25},
	} {
		if got := c.c.volume(c.layers); got != c.want {
			t.Errorf("%s of %v: %d elements, not %d", c.c, c.layers, got, c.want)
		}
	}
}

func TestCost(t *testing.T) {
	m := &Model{Layers: []Layer{{Params: 3000, Shape: [2]int64{100, 30}}, {Params: 1000},
		{Params: 6000, Shape: [2]int64{100, 60}}, {}}}
	for _, c := range []struct {
		name string
		c    Compression
		from int
		to   int
		rate float64
		want float64
	}{
		{"none", Compression{}, 0, 4, 1e9, 0},
		{"a factor, two passes over two bytes each", Compression{Factor: 8}, 0, 2, 1e9, 2 * 4000 * 2 / 1e9},
		{"PowerSGD, five passes over its matrices", Compression{Rank: 4}, 0, 3, 1e9, 5 * 9000 * 2 / 1e9},
		{"a vector in PowerSGD", Compression{Rank: 4}, 1, 2, 1e9, 0},
		{"a matrix that is too small for its rank", Compression{Rank: 16}, 0, 1, 1e9, 0},
		{"no rate", Compression{Factor: 8}, 0, 2, 0, 0},
		{"a given cost, by share", Compression{Factor: 8, Cost: 1}, 0, 2, 1e9, 0.4},
		{"a given cost without a rate", Compression{Factor: 8, Cost: 1}, 0, 3, 0, 1},
		{"a given cost, of its matrices", Compression{Rank: 4, Cost: 1}, 0, 2, 0, 1. / 3},
		{"a given cost, of a vector", Compression{Rank: 4, Cost: 1}, 1, 2, 0, 0},
		{"a layer without parameters", Compression{Factor: 4, Cost: 1}, 3, 4, 0, 0},
	} {
		if got := c.c.cost(c.c.compressed(m.Layers[c.from:c.to]), c.c.compressed(m.Layers), coll.BFloat16,
			c.rate); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %g s, not %g", c.name, got, c.want)
		}
	}
}
