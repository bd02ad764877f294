package bench

import (
	"math/rand/v2"
	"testing"

	"busbar/internal/coll"
)

func TestWaysOf(t *testing.T) {
	for _, c := range []struct {
		ranks [ways]int
		want  string
	}{{[ways]int{4, 0, 0}, "in place"}, {[ways]int{0, 0, 1}, "pinned host memory"}, {[ways]int{0, 3, 1}, "kernels (3 ranks), pinned host memory (1 rank)"}} {
		if got := waysOf(c.ranks); got != c.want {
			t.Errorf("%v: %q, want %q", c.ranks, got, c.want)
		}
	}
}

// Memory of the host takes what ulps says is near, and finds the first element that is not.
func TestHostIsNear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, kind := range []coll.DataType{coll.Float8E4M3, coll.Float8E5M2, coll.Float16, coll.BFloat16, coll.Float32, coll.Float64} {
		n := near(coll.Case{Op: coll.Avg, Type: kind, World: 24})
		size := kind.Size()
		table := make([]byte, 31*size)
		for i := range 31 {
			encodeBits(kind, r.Uint64N(n.Greatest+1)>>r.IntN(8*size)|r.Uint64N(2)<<(8*size-1), table[i*size:])
		}
		for range 2000 {
			got := make([]byte, 100*size)
			_ = Host(got).Fill(table, int64(size))
			first := -1
			for _, i := range []int{70 + r.IntN(30), r.IntN(70)} {
				one, want := got[i*size:(i+1)*size], table[(i+1)%31*size:][:size]
				encodeBits(kind, bitsOf(kind, one)+r.Uint64N(2*n.ULPs+1)-n.ULPs+r.Uint64N(2)<<(8*size-1), one)
				if ulps(kind, one, want) > n.ULPs {
					first = i * size
				}
			}
			if at, err := Host(got).Differs(0, int64(len(got)), table, int64(size), n); at != int64(first) || err != nil {
				t.Fatalf("%s: found %d (error %v), want %d", kind, at, err, first)
			}
		}
	}
}

// Only averages of floats may be off at all.
func TestNearIsForAverages(t *testing.T) {
	for _, c := range []coll.Case{{Op: coll.Sum, Type: coll.Float32}, {Op: coll.Avg, Type: coll.Int32}, {Type: coll.Float64}} {
		if n := near(c); n != (Near{}) {
			t.Errorf("%s: %+v", c, n)
		}
	}
}
