package bench

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"busbar/internal/coll"
)

// layout is how a type of floats places its bits: a sign, the exponent, the mantissa.
type layout struct {
	mantissa int    // bits
	bias     int    // of the exponent
	greatest uint64 // bits of the maximum; larger ones, without the sign, are infinity and NaN
	infinity bool   // the greatest value is infinity
}

// layouts are IEEE 754's, bfloat16, and the 8-bit types of the OCP specification of 2023.
var layouts = [...]layout{
	coll.Float8E4M3: {3, 7, 0x7E, false},
	coll.Float8E5M2: {2, 15, 0x7C, true},
	coll.Float16:    {10, 15, 0x7C00, true},
	coll.BFloat16:   {7, 127, 0x7F80, true},
	coll.Float32:    {23, 127, 0x7F800000, true},
	coll.Float64:    {52, 1023, 0x7FF << 52, true},
}

// value is the number that bits encode.
func (l layout) value(bits, sign uint64) float64 {
	magnitude := bits &^ sign
	exponent, mantissa := int(magnitude>>l.mantissa), float64(magnitude&(1<<l.mantissa-1))
	var x float64
	switch {
	case magnitude > l.greatest:
		return math.NaN()
	case magnitude == l.greatest && l.infinity:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(mantissa, 1-l.bias-l.mantissa)
	default:
		x = math.Ldexp(mantissa+float64(uint64(1)<<l.mantissa), exponent-l.bias-l.mantissa)
	}
	if bits != magnitude {
		return math.Copysign(x, -1)
	}
	return x
}

// bits rounds x to nearest even; overflow becomes the greatest value.
func (l layout) bits(x float64, sign uint64) uint64 {
	if !math.Signbit(x) {
		sign = 0
	}
	x = math.Abs(x)
	exponent := max(math.Ilogb(x), 1-l.bias)
	switch {
	case x != x:
		return l.greatest + 1
	case exponent > l.bias+1:
		return sign | l.greatest
	}
	// A mantissa that is rounded up to the next power of two carries into the exponent.
	steps := uint64(math.RoundToEven(math.Ldexp(x, l.mantissa-exponent)))
	return sign | min(uint64(exponent+l.bias-1)<<l.mantissa+steps, l.greatest)
}

// signBit is the bit of the sign of a type.
func signBit(t coll.DataType) uint64 { return 1 << (8*t.Size() - 1) }

// Encode writes x, which t can hold (an average is rounded to nearest even), in the machine's byte order.
func Encode(t coll.DataType, x float64, out []byte) {
	if t.Float() {
		encodeBits(t, layouts[t].bits(x, signBit(t)), out)
		return
	}
	encodeBits(t, uint64(int64(x)), out)
}

// Decode is the value of an element.
func Decode(t coll.DataType, b []byte) float64 {
	u := bitsOf(t, b)
	switch {
	case t.Float():
		return layouts[t].value(u, signBit(t))
	case signed(t):
		return float64(extended(t, u))
	}
	return float64(u)
}

// extended is the value of the bits of a signed integer.
func extended(t coll.DataType, u uint64) int64 {
	unused := 64 - 8*t.Size()
	return int64(u<<unused) >> unused
}

func encodeBits(t coll.DataType, b uint64, out []byte) {
	switch t.Size() {
	case 1:
		out[0] = byte(b)
	case 2:
		binary.NativeEndian.PutUint16(out, uint16(b))
	case 4:
		binary.NativeEndian.PutUint32(out, uint32(b))
	case 8:
		binary.NativeEndian.PutUint64(out, b)
	}
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

// show formats one element, with its bits where the value alone is ambiguous.
func show(t coll.DataType, b []byte) string {
	u := bitsOf(t, b)
	switch {
	case t.Float():
		text := strconv.FormatFloat(Decode(t, b), 'g', -1, max(32, 8*t.Size()))
		return fmt.Sprintf("%s (0x%0*x)", text, 2*t.Size(), u)
	case signed(t):
		return fmt.Sprint(extended(t, u))
	}
	return fmt.Sprint(u)
}
