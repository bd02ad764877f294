//go:build cgo

package gloo

import (
	"encoding/binary"
	"math"
	"sort"
)

// A plain Go reference of what the operations compute. Values are float64, which holds every value used here exactly.

// half is a 16-bit format: for float16 5 bits of exponent, for bfloat16 8.
type half struct {
	exponent uint
	values   []float64 // finite and positive, by bit pattern
}

var halves = map[Type]*half{Float16: newHalf(5), BFloat16: newHalf(8)}

func newHalf(exponentBits uint) *half {
	h := &half{exponent: exponentBits}
	mantissaBits := 15 - exponentBits
	bias := 1<<(exponentBits-1) - 1
	for bits := 0; bits>>mantissaBits < 1<<exponentBits-1; bits++ {
		e, m := bits>>mantissaBits, float64(bits&(1<<mantissaBits-1))
		if e == 0 {
			h.values = append(h.values, math.Ldexp(m, 1-bias-int(mantissaBits)))
		} else {
			h.values = append(h.values, math.Ldexp(m+math.Ldexp(1, int(mantissaBits)), e-bias-int(mantissaBits)))
		}
	}
	return h
}

func (h *half) decode(bits uint16) float64 {
	sign := 1.0
	if bits&0x8000 != 0 {
		sign = -1
	}
	switch i := int(bits & 0x7fff); {
	case i < len(h.values):
		return math.Copysign(h.values[i], sign)
	case i == len(h.values):
		return math.Inf(int(sign))
	}
	return math.NaN()
}

// encode finds the nearest value by search, and of two equally near ones the one with an even pattern.
func (h *half) encode(x float64) uint16 {
	var sign uint16
	if math.Signbit(x) {
		sign = 0x8000
	}
	x = math.Abs(x)
	n := len(h.values)
	if math.IsNaN(x) {
		return uint16(n) + 1
	}
	last := h.values[n-1]
	if x >= last+(last-h.values[n-2])/2 {
		return uint16(n) | sign
	}
	i := sort.SearchFloat64s(h.values, x)
	if i == n {
		i--
	} else if i > 0 {
		below, above := x-h.values[i-1], h.values[i]-x
		if below < above || below == above && (i-1)%2 == 0 {
			i--
		}
	}
	return uint16(i) | sign
}

func (t Type) float() bool  { return t >= Float16 }
func (t Type) signed() bool { return t.float() || t == Int8 || t == Int32 || t == Int64 }

func put(t Type, b []byte, x float64) {
	switch t {
	case Int8:
		b[0] = byte(int8(x))
	case UInt8:
		b[0] = byte(x)
	case Int32:
		binary.NativeEndian.PutUint32(b, uint32(int32(x)))
	case UInt32:
		binary.NativeEndian.PutUint32(b, uint32(x))
	case Int64:
		binary.NativeEndian.PutUint64(b, uint64(int64(x)))
	case UInt64:
		binary.NativeEndian.PutUint64(b, uint64(x))
	case Float16, BFloat16:
		binary.NativeEndian.PutUint16(b, halves[t].encode(x))
	case Float32:
		binary.NativeEndian.PutUint32(b, math.Float32bits(float32(x)))
	case Float64:
		binary.NativeEndian.PutUint64(b, math.Float64bits(x))
	}
}

// encode makes the bytes of a vector.
func encode(t Type, values []float64) []byte {
	b := make([]byte, int(t.Size())*len(values))
	for i, x := range values {
		put(t, b[i*int(t.Size()):], x)
	}
	return b
}

// combine reduces the values of all ranks at one place. They are small whole numbers, so that only the division of
// an average rounds: float32 and the halves once more when they are stored.
func combine(t Type, op Op, values []float64) float64 {
	r := values[0]
	for _, x := range values[1:] {
		switch op {
		case Sum, Avg:
			r += x
		case Prod:
			r *= x
		case Min:
			r = min(r, x)
		case Max:
			r = max(r, x)
		}
	}
	if op != Avg {
		return r
	}
	switch n := float64(len(values)); {
	case t == Float64:
		return r / n
	case t.float():
		return float64(float32(r) / float32(n))
	default:
		return math.Trunc(r / n)
	}
}

// value is the number at place i of the whole vector of a rank: small, so that sums, and products of four, fit int8.
// Further ranks multiply by one.
func value(t Type, op Op, rank, i, salt int) float64 {
	if op == Prod && rank >= 4 {
		return 1
	}
	v := float64((rank*5 + i*3 + i/7 + salt) % 7)
	if t.signed() {
		v -= 3
	}
	return v
}
