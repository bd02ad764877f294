package bench

import (
	"math"
	"math/big"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// Every partial result of a reduction, in any order, must be exact in the data type: then the order in which a library
// combines ranks cannot matter. Checked with exact arithmetic for the worst orders: all in turn, and the largest first.
func TestPatternIsExact(t *testing.T) {
	for _, typ := range coll.DataTypes() {
		for _, op := range []coll.RedOp{coll.Sum, coll.Prod, coll.Min, coll.Max} {
			for _, n := range []int{1, 2, 3, 7, 64, 1000} {
				for j := 0; j < period; j += 101 {
					checkExact(t, typ, op, n, j)
				}
			}
		}
	}
}

func checkExact(t *testing.T, typ coll.DataType, op coll.RedOp, n, j int) {
	t.Helper()
	acc := new(big.Rat)
	for r := range n {
		v := value(typ, op, n, r, j)
		rat := new(big.Rat).SetFloat64(v)
		switch {
		case r == 0:
			acc.Set(rat)
		case op == coll.Sum, op == coll.MulSum:
			acc.Add(acc, rat)
		case op == coll.Prod:
			acc.Mul(acc, rat)
		default:
			return // a minimum is one of the values
		}
		if (typ == coll.UInt32 || typ == coll.UInt64) && op == coll.Prod {
			continue // wraps, exactly
		}
		f, _ := acc.Float64()
		b := make([]byte, typ.Size())
		Encode(typ, f, b)
		must.EqOp(t, f, Decode(typ, b), must.Sprint(typ, op, n, j, r))
	}
}

// Every value of a short type reads back, and ties round to even.
func TestFloats(t *testing.T) {
	b := make([]byte, 8)
	for _, typ := range []coll.DataType{coll.Float8E4M3, coll.Float8E5M2, coll.Float16, coll.BFloat16} {
		for u := range uint64(1) << (8 * typ.Size()) {
			encodeBits(typ, u, b)
			x := Decode(typ, b)
			if Encode(typ, x, b); !math.IsNaN(x) && bitsOf(typ, b) != u {
				t.Fatalf("%s 0x%x reads as %g, which is written as 0x%x", typ, u, x, bitsOf(typ, b))
			}
		}
	}
	for _, k := range []struct {
		typ  coll.DataType
		x    float64
		want uint64
	}{
		{coll.Float8E4M3, 1, 0x38}, {coll.Float8E4M3, 448, 0x7E}, {coll.Float8E4M3, -0.5, 0xB0},
		{coll.Float8E4M3, 0x1p-9, 0x01}, {coll.Float8E4M3, 17, 0x58}, {coll.Float8E4M3, 19, 0x5A},
		{coll.Float8E5M2, 1, 0x3C}, {coll.Float8E5M2, 57344, 0x7B}, {coll.Float8E5M2, 9, 0x48},
		{coll.Float8E5M2, 11, 0x4A},
		{coll.Float16, 1 + 0x1p-11, 0x3C00}, {coll.Float16, 1 + 3*0x1p-11, 0x3C02}, {coll.Float16, 65519, 0x7BFF},
		{coll.Float16, 65520, 0x7C00}, {coll.Float16, 0x1p-25, 0}, {coll.Float16, 0x1.8p-25, 1},
		{coll.Float16, 1e9, 0x7C00}, {coll.Float16, -2, 0xC000},
		{coll.BFloat16, 1 + 0x1p-8, 0x3F80}, {coll.BFloat16, 1 + 3*0x1p-8, 0x3F82}, {coll.BFloat16, -2, 0xC000},
		{coll.Float32, 0.1, uint64(math.Float32bits(0.1))}, {coll.Float32, 0x1p-149, 1},
		{coll.Float64, 0.1, math.Float64bits(0.1)}, {coll.Float64, 0x1p-1074, 1},
		{coll.Float64, -math.MaxFloat64, math.Float64bits(-math.MaxFloat64)},
	} {
		Encode(k.typ, k.x, b)
		test.EqOp(t, k.want, bitsOf(k.typ, b), test.Sprint(k.typ, k.x))
	}
}

func TestShow(t *testing.T) {
	for want, k := range map[string]struct {
		typ  coll.DataType
		bits uint64
	}{
		"-1": {coll.Int8, 0xFF}, "255": {coll.UInt8, 0xFF}, "-9223372036854775807": {coll.Int64, 1<<63 + 1},
		"0.1 (0x3dcccccd)": {coll.Float32, 0x3dcccccd}, "-2 (0xc000)": {coll.Float16, 0xC000},
		"+Inf (0x7c)": {coll.Float8E5M2, 0x7C}, "NaN (0x7f)": {coll.Float8E4M3, 0x7F},
	} {
		b := make([]byte, k.typ.Size())
		if encodeBits(k.typ, k.bits, b); show(k.typ, b) != want {
			t.Errorf("%s, want %s", show(k.typ, b), want)
		}
	}
}

// Every rank must affect many elements, or a lost contribution would be undetected.
func TestPatternDependsOnEveryRank(t *testing.T) {
	// The shorter the mantissa, the fewer ranks at one element.
	for typ, share := range map[coll.DataType]int{coll.Int8: 7, coll.BFloat16: 7, coll.Float8E4M3: 2,
		coll.Float8E5M2: 1,
		coll.Float32:    7} {
		for _, n := range []int{2, 16, 300} {
			for r := range n {
				counts := 0
				for j := range period {
					if value(typ, coll.Sum, n, r, j) != 0 {
						counts++
					}
				}
				if counts < period/(n/share+8) {
					t.Fatalf("%s: rank %d of %d counts in %d of %d elements of a sum", typ, r, n, counts, period)
				}
			}
		}
	}
}

func TestResultsDifferFromPoison(t *testing.T) {
	for _, typ := range coll.DataTypes() {
		for _, op := range append(coll.RedOps(), 0) {
			key := tableKey{typ, op, 5, -1}
			if op == 0 {
				key.rank = 2
			}
			b := table(key)
			for j := range period {
				e := b[j*typ.Size() : (j+1)*typ.Size()]
				bad := true
				for _, x := range e {
					bad = bad && x == poison
				}
				if bad {
					t.Fatalf("%s %s: element %d of the expected result is the poison", typ, op, j)
				}
			}
		}
	}
}

func TestNear(t *testing.T) {
	bits := func(x float64) []byte { b := make([]byte, 4); Encode(coll.Float32, x, b); return b }
	next := float64(math.Nextafter32(1, 2))
	zero := math.Copysign(0, -1)
	for _, k := range []struct {
		a, b float64
		want uint64 // units in the last place
	}{{1, 1, 0}, {1, next, 1}, {next, 1, 1}, {0, zero, 0}, {-0x1p-149, 0x1p-149, 2}, {1, math.NaN(), 1 << 32}} {
		for _, tolerance := range []uint64{k.want, k.want - 1} {
			far := firstFar(bits(k.b), bits(k.a), Near{4, tolerance, layouts[coll.Float32].greatest}) >= 0
			if far != (tolerance < k.want || k.want == 1<<32) {
				t.Errorf("%g and %g within %d: far %t", k.a, k.b, tolerance, far)
			}
		}
	}
}

// A floating-point average over three ranks may differ by three units; a sum must be exact.
func TestAverageTolerance(t *testing.T) {
	c := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Avg, Root: -1, World: 3}.WithSize(64)
	for _, k := range []struct {
		op    coll.RedOp
		off   byte
		wrong int64
	}{{coll.Avg, 3, 0}, {coll.Avg, 4, 1}, {coll.Sum, 1, 1}} {
		c.Op = k.op
		recv := make(Host, 64)
		b := Buffers{Send: make(Host, 64), Recv: recv}
		must.NoError(t, load(c, 0, b))
		must.NoError(t, recv.Fill(table(tableKey{c.Type, c.Op, c.World, -1}), 0))
		if recv[4] > 250 {
			t.Fatal("choose another element")
		}
		recv[4] += k.off
		if m, err := verify(c, 0, b); err != nil || m.wrong != k.wrong || m.elements != 16 {
			t.Errorf("%s off by %d: %+v", k.op, k.off, m)
		}
	}
}

// An in-place reduction uses its own result as input; the data of the timed part must not grow or decay.
func TestInPlaceDataStableOverIterations(t *testing.T) {
	for _, op := range coll.RedOps() {
		for _, typ := range coll.DataTypes() {
			c := coll.Case{Collective: coll.AllReduce, Type: typ, Op: op, Root: -1, Placement: coll.InPlace,
				World: 4}.WithSize(4096)
			whole := make(Host, 4096)
			if _, err := loadTimed(c, 1, Buffers{Send: whole, Recv: whole}, false); err != nil {
				t.Fatal(err)
			}
			x := Decode(typ, whole)
			y := x
			switch op {
			case coll.Sum, coll.Avg, coll.MulSum:
				y = x + x
			case coll.Prod:
				y = x * x
			}
			if x != y {
				t.Errorf("%s %s in place starts with %g, and the next operation makes %g of it", typ, op, x, y)
			}
		}
	}
}
