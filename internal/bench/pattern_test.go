package bench

import (
	"math"
	"math/big"
	"testing"

	"busbar/internal/coll"
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
		encode(typ, f, b)
		if back := decodeForTest(typ, b); back != f {
			t.Fatalf("%s %s, world of %d, element %d: after rank %d the result is %g, which %s holds as %g", typ, op, n,
				j, r, f,
				typ, back)
		}
	}
}

func decodeForTest(typ coll.DataType, b []byte) float64 {
	u := bitsOf(typ, b)
	switch typ {
	case coll.Float16:
		return Float16Value(uint16(u))
	case coll.BFloat16:
		return float64(math.Float32frombits(uint32(u) << 16))
	case coll.Float8E4M3, coll.Float8E5M2:
		return Float8Value(typ, byte(u))
	case coll.Float32:
		return float64(math.Float32frombits(uint32(u)))
	case coll.Float64:
		return math.Float64frombits(u)
	case coll.Int8:
		return float64(int8(u))
	case coll.Int32:
		return float64(int32(u))
	case coll.Int64:
		return float64(int64(u))
	}
	return float64(u)
}

func TestFloat8(t *testing.T) {
	for _, typ := range []coll.DataType{coll.Float8E4M3, coll.Float8E5M2} {
		for b := range 256 {
			if v := Float8Value(typ, byte(b)); !math.IsNaN(v) && !math.IsInf(v, 0) && Float8Bits(typ, v) != byte(b) {
				t.Errorf("%s 0x%02x reads as %g, which is written as 0x%02x", typ, b, v, Float8Bits(typ, v))
			}
		}
	}
	for _, k := range []struct {
		typ  coll.DataType
		x    float64
		want byte
	}{
		{coll.Float8E4M3, 1, 0x38}, {coll.Float8E4M3, 448, 0x7E}, {coll.Float8E4M3, -0.5, 0xB0},
		{coll.Float8E4M3, 0x1p-9, 0x01},
		{coll.Float8E4M3, 17, 0x58}, {coll.Float8E4M3, 19, 0x5A}, // ties go to even
		{coll.Float8E5M2, 1, 0x3C}, {coll.Float8E5M2, 57344, 0x7B}, {coll.Float8E5M2, 9, 0x48},
		{coll.Float8E5M2, 11, 0x4A},
	} {
		if got := Float8Bits(k.typ, k.x); got != k.want {
			t.Errorf("%s of %g is 0x%02x, wanted 0x%02x", k.typ, k.x, got, k.want)
		}
	}
}

// Every rank must count in many elements, or a lost contribution would go unseen.
func TestEveryRankCounts(t *testing.T) {
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

func TestNoResultLooksLikePoison(t *testing.T) {
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

func TestSixteenBitFloats(t *testing.T) {
	for u := range 1 << 16 {
		b := uint16(u)
		if notANumber(coll.Float16, uint64(b)) {
			continue
		}
		if back := Float16Bits(Float16Value(b)); back != b {
			t.Fatalf("float16 0x%04x reads as %g, which is written as 0x%04x", b, Float16Value(b), back)
		}
	}
	for x, want := range map[float64]uint16{1 + 0x1p-11: 0x3C00, 1 + 3*0x1p-11: 0x3C02, 65519: 0x7BFF, 65520: 0x7C00,
		0x1p-25: 0, 0x1.8p-25: 1, -2: 0xC000} {
		if got := Float16Bits(x); got != want {
			t.Errorf("float16 of %g is 0x%04x, wanted 0x%04x", x, got, want)
		}
	}
	for x, want := range map[float64]uint16{1 + 0x1p-8: 0x3F80, 1 + 3*0x1p-8: 0x3F82, -2: 0xC000} {
		if got := BFloat16Bits(x); got != want {
			t.Errorf("bfloat16 of %g is 0x%04x, wanted 0x%04x", x, got, want)
		}
	}
}

func TestULPs(t *testing.T) {
	bits := func(x float64) []byte { b := make([]byte, 4); encode(coll.Float32, x, b); return b }
	next := float64(math.Nextafter32(1, 2))
	for _, k := range []struct {
		a, b float64
		want uint64
	}{{1, 1, 0}, {1, next, 1}, {next, 1, 1}, {0, math.Copysign(0, -1), 0}, {-0x1p-149, 0x1p-149, 2},
		{1, math.NaN(), math.MaxUint64}} {
		if got := ulps(coll.Float32, bits(k.a), bits(k.b)); got != k.want {
			t.Errorf("%g and %g are %d ULP apart, wanted %d", k.a, k.b, got, k.want)
		}
	}
}

// A floating average over three ranks may be three units off, and no more; a sum not one.
func TestAverageTolerance(t *testing.T) {
	c := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Avg, Root: -1, World: 3}.WithSize(64)
	for _, k := range []struct {
		op    coll.RedOp
		off   byte
		wrong int64
	}{{coll.Avg, 3, 0}, {coll.Avg, 4, 1}, {coll.Sum, 1, 1}} {
		c.Op = k.op
		recv := make(Host, 64)
		b := []Buffers{{Send: make(Host, 64), Recv: recv}}
		if err := load(c, 0, b); err != nil {
			t.Fatal(err)
		}
		if err := recv.Fill(table(tableKey{c.Type, c.Op, c.World, -1}), 0); err != nil {
			t.Fatal(err)
		}
		if recv[4] > 250 {
			t.Fatal("choose another element")
		}
		recv[4] += k.off
		if m, err := verify(c, 0, b); err != nil || m.wrong != k.wrong || m.elements != 16 {
			t.Errorf("%s off by %d: %+v", k.op, k.off, m)
		}
	}
}

// A reduction in place feeds on its own result; the data of the timed part must not grow or decay.
func TestTimedDataInPlaceIsStable(t *testing.T) {
	for _, op := range coll.RedOps() {
		for _, typ := range coll.DataTypes() {
			c := coll.Case{Collective: coll.AllReduce, Type: typ, Op: op, Root: -1, Placement: coll.InPlace,
				World: 4}.WithSize(4096)
			whole := make(Host, 4096)
			if _, err := loadTimed(c, 1, []Buffers{{Send: whole, Recv: whole}}, false); err != nil {
				t.Fatal(err)
			}
			x := decodeForTest(typ, whole)
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
