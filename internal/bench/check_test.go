package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
)

func TestWaysOf(t *testing.T) {
	for _, c := range []struct {
		ranks [ways]int
		want  string
	}{{[ways]int{4, 0, 0}, "in place"}, {[ways]int{0, 0, 1}, "pinned host memory"},
		{[ways]int{0, 3, 1}, "kernels (3 ranks), pinned host memory (1 rank)"}} {
		test.EqOp(t, c.want, waysOf(c.ranks), test.Sprint(c.ranks))
	}
}

// Memory of the host finds the first element that is too far from the table.
func TestHostNear(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, kind := range []coll.DataType{coll.Float8E4M3, coll.Float8E5M2, coll.Float16, coll.BFloat16, coll.Float32,
		coll.Float64} {
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
				if firstFar(one, want, n) >= 0 {
					first = i * size
				}
			}
			if at, err := Host(got).Differs(0, int64(len(got)), table, int64(size), n); at != int64(first) ||
				err != nil {
				t.Fatalf("%s: found %d (error %v), want %d", kind, at, err, first)
			}
		}
	}
}

// Only averages of floats may be off at all.
func TestToleranceOnlyForAverages(t *testing.T) {
	for _, c := range []coll.Case{{Op: coll.Sum, Type: coll.Float32}, {Op: coll.Avg, Type: coll.Int32},
		{Type: coll.Float64}} {
		test.EqOp(t, (Near{}), near(c), test.Sprint(c))
	}
}

// An average as NCCL computes it, each input times the rounded 1/n and rounded after every addition, is within the
// tolerance in all worlds but those where 1/n rounds to 0, and these are refused.
func TestAverageOfRoundedScalar(t *testing.T) {
	for _, k := range []struct {
		kind coll.DataType
		lost int // the first world whose 1/n rounds to 0
	}{{coll.Float8E4M3, 1024}, {coll.Float8E5M2, 1 << 17}, {coll.Float16, 1 << 25}, {coll.BFloat16, math.MaxInt}} {
		for _, n := range []int{2, 3, 8, 64, 72, 96, 100, 128, 192, 256, 320, 341, 342, 512, 768, 1000, 1023, 1024,
			1025,
			2048, 3000, 4096, 1 << 17, 1 << 25} {
			c := coll.Case{Collective: coll.AllReduce, Op: coll.Avg, Type: k.kind, World: n}
			if lost := LostAverage(c) != nil; lost != (n >= k.lost) {
				t.Errorf("%s over %d ranks: refused: %t", k.kind, n, lost)
			}
			if n >= k.lost || n > 1<<12 {
				continue
			}
			for j := range 40 {
				want := make([]byte, k.kind.Size())
				reduced(k.kind, coll.Avg, n, j, want)
				if got := scaledSum(k.kind, n, j); firstFar(got, want, near(c)) >= 0 {
					t.Errorf("%s over %d ranks, element %d: %s, wanted %s", k.kind, n, j, show(k.kind, got),
						show(k.kind, want))
				}
			}
		}
	}
	for _, c := range []coll.Case{{Op: coll.Sum, Type: coll.Float8E4M3, World: 4096},
		{Op: coll.Avg, Type: coll.Int8, World: 4096}} {
		if why := LostAverage(c); why != nil {
			t.Errorf("%s: %v", c, why)
		}
	}
}

// scaledSum is element j of the average over n ranks, added in the order of the ranks.
func scaledSum(kind coll.DataType, n, j int) []byte {
	round := func(x float64) float64 {
		b := make([]byte, kind.Size())
		Encode(kind, x, b)
		return Decode(kind, b)
	}
	scalar, sum := round(1/float64(n)), 0.0
	for r := range n {
		sum = round(sum + round(value(kind, coll.Avg, n, r, j)*scalar))
	}
	out := make([]byte, kind.Size())
	Encode(kind, sum, out)
	return out
}
