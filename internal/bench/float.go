package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"busbar/internal/coll"
)

// Float16Bits rounds x to IEEE 754 binary16, to nearest even.
func Float16Bits(x float64) uint16 {
	sign := uint16(math.Float64bits(x)>>48) & 0x8000
	x = math.Abs(x)
	switch {
	case x != x:
		return sign | 0x7E00
	case x >= 65520:
		return sign | 0x7C00
	case x < 0x1p-14: // subnormal: steps of 2^-24
		return sign | uint16(math.RoundToEven(x*0x1p24))
	}
	exponent := math.Ilogb(x)
	mantissa := math.RoundToEven(math.Ldexp(x, 10-exponent)) // 1024 … 2048
	return sign | (uint16(exponent+15)<<10 + uint16(mantissa) - 1024)
}

// Float16Value is the value of IEEE 754 binary16 bits.
func Float16Value(b uint16) float64 {
	sign := 1.0
	if b&0x8000 != 0 {
		sign = -1
	}
	exponent, mantissa := int(b>>10&0x1F), float64(b&0x3FF)
	switch exponent {
	case 0:
		return sign * math.Ldexp(mantissa, -24)
	case 0x1F:
		if mantissa != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(mantissa+1024, exponent-25)
}

// BFloat16Bits rounds x to bfloat16, the upper half of a float32, to nearest even.
func BFloat16Bits(x float64) uint16 {
	if x != x {
		return 0x7FC0
	}
	b := math.Float32bits(float32(x))
	return uint16((b + 0x7FFF + b>>16&1) >> 16)
}

// Float8Value is the value of the bits of an 8-bit type, as the OCP specification of 2023 gives it (FP8 E4M3 and E5M2).
func Float8Value(t coll.DataType, b byte) float64 {
	mantissaBits, bias := 3, 7
	if t == coll.Float8E5M2 {
		mantissaBits, bias = 2, 15
	}
	sign := 1.0
	if b&0x80 != 0 {
		sign = -1
	}
	rest := int(b & 0x7F)
	exponent, mantissa := rest>>mantissaBits, float64(rest&(1<<mantissaBits-1))
	switch {
	case t == coll.Float8E4M3 && rest == 0x7F, t == coll.Float8E5M2 && rest > 0x7C:
		return math.NaN()
	case t == coll.Float8E5M2 && rest == 0x7C:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(mantissa, 1-bias-mantissaBits)
	}
	return sign * math.Ldexp(mantissa+float64(int(1)<<mantissaBits), exponent-bias-mantissaBits)
}

// Float8Bits rounds x, which must lie within the finite values of the 8-bit type, to nearest even.
func Float8Bits(t coll.DataType, x float64) byte {
	sign := byte(math.Float64bits(x) >> 56 & 0x80)
	x = math.Abs(x)
	values := float8s[t]
	i := sort.SearchFloat64s(values, x)
	switch {
	case i == len(values):
		i--
	case i > 0:
		if below, above := x-values[i-1], values[i]-x; below < above || below == above && i&1 == 1 {
			i--
		}
	}
	return sign | byte(i)
}

// float8s are the finite values of an 8-bit type from 0 up; the bits are their places.
var float8s = map[coll.DataType][]float64{coll.Float8E4M3: finite8(coll.Float8E4M3),
	coll.Float8E5M2: finite8(coll.Float8E5M2)}

func finite8(t coll.DataType) (all []float64) {
	for b := byte(0); b < 0x80; b++ {
		if v := Float8Value(t, b); v == v && !math.IsInf(v, 0) {
			all = append(all, v)
		}
	}
	return all
}

// bitsOf reads one element's bits.
func bitsOf(t coll.DataType, b []byte) uint64 {
	switch t.Size() {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}

// show writes one element for people, with its bits where they say more than the value.
func show(t coll.DataType, b []byte) string {
	u := bitsOf(t, b)
	switch t {
	case coll.Int8:
		return fmt.Sprint(int8(u))
	case coll.Int32:
		return fmt.Sprint(int32(u))
	case coll.Int64:
		return fmt.Sprint(int64(u))
	case coll.Float16:
		return fmt.Sprintf("%g (0x%04x)", Float16Value(uint16(u)), u)
	case coll.BFloat16:
		return fmt.Sprintf("%g (0x%04x)", math.Float32frombits(uint32(u)<<16), u)
	case coll.Float8E4M3, coll.Float8E5M2:
		return fmt.Sprintf("%g (0x%02x)", Float8Value(t, byte(u)), u)
	case coll.Float32:
		return fmt.Sprintf("%g (0x%08x)", math.Float32frombits(uint32(u)), u)
	case coll.Float64:
		return fmt.Sprintf("%g (0x%016x)", math.Float64frombits(u), u)
	}
	return fmt.Sprint(u)
}

// ulps is the distance between two floating-point values of t in units in the last place; not-a-number is infinitely
// far.
func ulps(t coll.DataType, a, b []byte) uint64 {
	x, y := bitsOf(t, a), bitsOf(t, b)
	width := uint(8 * t.Size())
	if notANumber(t, x) || notANumber(t, y) {
		return math.MaxUint64
	}
	// Order the bit patterns as the values are ordered: negative ones count downwards from zero.
	key := func(u uint64) int64 {
		if sign := uint64(1) << (width - 1); u&sign != 0 {
			return -int64(u &^ sign)
		}
		return int64(u)
	}
	d := key(x) - key(y)
	if d < 0 {
		d = -d
	}
	return uint64(d)
}

func notANumber(t coll.DataType, u uint64) bool {
	sign := uint64(1) << (8*t.Size() - 1)
	return u&^sign > greatest(t)
}
