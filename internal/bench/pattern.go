package bench

import (
	"math"
	"sync"

	"busbar/internal/coll"
)

// The test data. Element j of a rank's input is value(rank, j mod period). The result of every reduction is exact in
// the data type, in any order of ranks. (nccl-tests does the same with a partition of the mantissa. Here inputs are
// small integers, and so few ranks are not zero at one element that the sum still fits the mantissa.) The period is a
// prime, which detects a chunk in the wrong place. It is short, so that filling and comparing cost no more than the
// memory they touch.
const period = 4093

// poison fills outputs before an operation: not a number for floats, and no expected value for integers.
const poison = 0xFF

// exactBits is the number of bits in which whole numbers are exact.
func exactBits(t coll.DataType) uint {
	switch t {
	case coll.Float8E5M2:
		return 3
	case coll.Float8E4M3:
		return 4
	case coll.Int8, coll.UInt8:
		return 7
	case coll.BFloat16:
		return 8
	case coll.Float16:
		return 11
	case coll.Float32:
		return 24
	}
	return 30
}

func signed(t coll.DataType) bool {
	return t.Float() || t == coll.Int8 || t == coll.Int32 || t == coll.Int64
}

// mix is a small hash of a rank and an element (the finaliser of splitmix64).
func mix(rank, j int) uint64 {
	x := uint64(rank)*0x9E3779B97F4A7C15 + uint64(j)*0xBF58476D1CE4E5B9 + 1
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// value is element j (0 ≤ j < period) of the input of a rank in a world of n. Every value and every result of a
// reduction over all ranks is exact in t; no result looks like poison.
func value(t coll.DataType, op coll.RedOp, n, rank, j int) float64 {
	limit := 1<<exactBits(t) - 1 // largest whole number used; below the poison of the one-byte types
	switch op {
	case coll.Sum, coll.Avg, coll.MulSum:
		if op == coll.MulSum {
			limit /= coll.MulFactor
		}
		contributors := min(n, max(1, limit/4))
		stride := (n + contributors - 1) / contributors
		if (rank+j)%stride != 0 {
			return 0
		}
		most := min(limit/contributors, 1<<16)
		return float64(1 + mix(rank, j)%uint64(most))
	case coll.Prod:
		return factor(t, n, rank, j, limit)
	}
	return float64(mix(rank, j) % uint64(min(limit, 1<<16)))
}

// factor is value for products: one rank an element brings a mantissa, the others signs, and for floats two of them
// a 2 and a ½, so that no order of multiplication rounds.
func factor(t coll.DataType, n, rank, j, limit int) float64 {
	h := mix(rank, j)
	switch place := (rank - j%n + n) % n; {
	case place == 0:
		return float64(2 + h%uint64(min(limit, 1<<10)-2))
	case place == 1 && n > 3 && t.Float():
		return 2
	case place == 2 && n > 3 && t.Float():
		return 0.5
	case signed(t) && h&1 == 1:
		return -1
	case t == coll.UInt32 || t == coll.UInt64:
		return float64(1 + 2*(h>>1&1)) // 1 or 3: unsigned products wrap, exactly
	}
	return 1
}

// reduced is element j of the result over all n ranks, encoded in t.
func reduced(t coll.DataType, op coll.RedOp, n, j int, out []byte) {
	if t == coll.UInt32 || t == coll.UInt64 {
		if op == coll.Prod {
			p := uint64(1)
			for r := range n {
				p *= uint64(value(t, op, n, r, j))
			}
			encodeBits(t, p, out)
			return
		}
	}
	x := value(t, op, n, 0, j)
	for r := 1; r < n; r++ {
		v := value(t, op, n, r, j)
		switch op {
		case coll.Sum, coll.Avg, coll.MulSum:
			x += v
		case coll.Prod:
			x *= v
		case coll.Min:
			x = min(x, v)
		case coll.Max:
			x = max(x, v)
		}
	}
	if op == coll.MulSum {
		x *= coll.MulFactor
	}
	if op == coll.Avg {
		if x /= float64(n); !t.Float() {
			x = math.Trunc(x)
		}
	}
	Encode(t, x, out)
}

// tableKey names a table: rank -1 is the result of a reduction.
type tableKey struct {
	t       coll.DataType
	op      coll.RedOp
	n, rank int
}

// tables keeps the tables of the case in hand; a world of thousands of ranks needs thousands for all_gather.
var tables = struct {
	sync.Mutex
	m map[tableKey][]byte
}{m: map[tableKey][]byte{}}

// table is one period of a rank's input, or of the result.
func table(key tableKey) []byte {
	tables.Lock()
	defer tables.Unlock()
	if t, ok := tables.m[key]; ok {
		return t
	}
	if len(tables.m) >= 256 {
		clear(tables.m)
	}
	s := key.t.Size()
	b := make([]byte, period*s)
	for j := range period {
		at := b[j*s : (j+1)*s]
		if key.rank < 0 {
			reduced(key.t, key.op, key.n, j, at)
		} else {
			Encode(key.t, value(key.t, key.op, key.n, key.rank, j), at)
		}
	}
	tables.m[key] = b
	return b
}
