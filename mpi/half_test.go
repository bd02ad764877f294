//go:build cgo

package mpi

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
)

// decodeHalf and encodeHalf convert a 16-bit type as internal/bench does; the shim has its own conversions in C.
func decodeHalf(t coll.DataType, bits uint16) float64 {
	return bench.Decode(t, binary.NativeEndian.AppendUint16(nil, bits))
}

func encodeHalf(t coll.DataType, x float64) uint16 {
	var b [2]byte
	bench.Encode(t, x, b[:])
	return binary.NativeEndian.Uint16(b[:])
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
	for i, bits := range got {
		p, q := decodeHalf(t, pattern(0, uint32(i), factor)), decodeHalf(t, pattern(1, uint32(i), factor))
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
		want := encodeHalf(t, r)
		if op == coll.Avg {
			want = encodeHalf(t, decodeHalf(t, want)/2)
		}
		// All NaNs are as good, and minimum and maximum may take either zero.
		x := decodeHalf(t, bits)
		if bits != want && !(math.IsNaN(x) && math.IsNaN(r)) && !(x == 0 && r == 0 && extreme) {
			return fmt.Errorf("%s %s of %g and %g: %g (%#04x), expected %g (%#04x)", t, op, p, q, x, bits,
				decodeHalf(t, want), want)
		}
	}
	return nil
}
