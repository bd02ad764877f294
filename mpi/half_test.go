//go:build cgo

package mpi

import (
	"fmt"
	"math"
	"sort"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
)

// half is a 16-bit format, defined by its finite positive values in the order of their bit patterns.
type half []float64

var halves = map[coll.DataType]half{coll.Float16: newHalf(5), coll.BFloat16: newHalf(8)}

func newHalf(exponentBits uint) half {
	var h half
	mantissaBits := 15 - exponentBits
	bias := 1<<(exponentBits-1) - 1
	for bits := 0; bits>>mantissaBits < 1<<exponentBits-1; bits++ {
		e, m := bits>>mantissaBits, float64(bits&(1<<mantissaBits-1))
		if e == 0 {
			h = append(h, math.Ldexp(m, 1-bias-int(mantissaBits)))
		} else {
			h = append(h, math.Ldexp(m+math.Ldexp(1, int(mantissaBits)), e-bias-int(mantissaBits)))
		}
	}
	return h
}

func (h half) decode(bits uint16) float64 {
	sign := 1.0
	if bits&0x8000 != 0 {
		sign = -1
	}
	switch i := int(bits & 0x7fff); {
	case i < len(h):
		return math.Copysign(h[i], sign)
	case i == len(h):
		return math.Inf(int(sign))
	}
	return math.NaN()
}

// encode finds the nearest value by search, and of two equally near ones the one with an even pattern.
func (h half) encode(x float64) uint16 {
	var sign uint16
	if math.Signbit(x) {
		sign = 0x8000
	}
	x = math.Abs(x)
	n := len(h)
	if math.IsNaN(x) {
		return uint16(n) + 1
	}
	last := h[n-1]
	if x >= last+(last-h[n-2])/2 {
		return uint16(n) | sign
	}
	i := sort.SearchFloat64s(h, x)
	if i == n {
		i--
	} else if i > 0 {
		below, above := x-h[i-1], h[i]-x
		if below < above || below == above && (i-1)%2 == 0 {
			i--
		}
	}
	return uint16(i) | sign
}

// patterns is how many bit patterns a 16-bit type has.
const patterns = 1 << 16

// pattern is element i of one of two ranks: every pattern of a 16-bit type meets another one, which the odd factor
// chooses.
func pattern(rank int, i, factor uint32) uint16 {
	if rank == 0 {
		return uint16(i)
	}
	return uint16(i*factor + 12345)
}

// combineHalves has two ranks combine every bit pattern of float16 and bfloat16 with others, by every reduction, and
// compares what comes out. The function does an all_reduce in place of count elements at that address.
func combineHalves(rank int,
	allReduce func(t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) error) error {
	b, err := loop.AllocBuffer(2 * patterns)
	if err != nil {
		return err
	}
	defer func() { _ = b.Free() }()
	x := unsafe.Slice((*uint16)(b.Pointer()), patterns)
	for _, t := range []coll.DataType{coll.Float16, coll.BFloat16} {
		for _, op := range []coll.RedOp{coll.Sum, coll.Prod, coll.Min, coll.Max, coll.Avg} {
			for _, factor := range []uint32{1, 40503} {
				for i := range x {
					x[i] = pattern(rank, uint32(i), factor)
				}
				if err := allReduce(t, op, b.Pointer(), patterns); err != nil {
					return fmt.Errorf("%s %s: %w", t, op, err)
				}
				if err := checkPatterns(x, t, op, factor); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkPatterns compares the result of patterns of both ranks. An average halves the sum.
func checkPatterns(got []uint16, t coll.DataType, op coll.RedOp, factor uint32) error {
	h := halves[t]
	for i, bits := range got {
		p, q := h.decode(pattern(0, uint32(i), factor)), h.decode(pattern(1, uint32(i), factor))
		r := p + q
		switch op {
		case coll.Prod:
			r = p * q
		case coll.Min:
			r = math.Min(p, q)
		case coll.Max:
			r = math.Max(p, q)
		}
		extreme := op == coll.Min || op == coll.Max
		if extreme && (math.IsNaN(p) || math.IsNaN(q)) {
			r = math.NaN()
		}
		want := h.encode(r)
		if op == coll.Avg {
			want = h.encode(h.decode(want) / 2)
		}
		// All NaNs are as good, and minimum and maximum may take either zero.
		x := h.decode(bits)
		if bits != want && !(math.IsNaN(x) && math.IsNaN(r)) && !(x == 0 && r == 0 && extreme) {
			return fmt.Errorf("%s %s of %g and %g: %g (%#04x), expected %g (%#04x)", t, op, p, q, x, bits,
				h.decode(want), want)
		}
	}
	return nil
}
