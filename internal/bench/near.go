package bench

import (
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/notice"
)

// near is how far the results of a case may be from the exact ones: only averages of floats at all.
func near(c coll.Case) Near {
	if c.Op != coll.Avg || !c.Type.Float() {
		return Near{}
	}
	return Near{Bytes: int64(c.Type.Size()), ULPs: averageULP(c.World), Greatest: layouts[c.Type].greatest}
}

// LostAverage is why a library that multiplies every input with 1/n in the data type, as NCCL does, cannot have the
// average of a case: 1/n rounds to 0 there. It is nil if it can.
func LostAverage(c coll.Case) notice.Fact {
	if c.Op != coll.Avg || !c.Type.Float() {
		return nil
	}
	one := make([]byte, c.Type.Size())
	if Encode(c.Type, 1/float64(c.World), one); bitsOf(c.Type, one) != 0 {
		return nil
	}
	return notice.AverageUnderflows{Ranks: c.World, Type: c.Type.String()}
}

// firstFar is the offset of the first byte that differs, or of the first element that is not near, or -1.
func firstFar(got, want []byte, near Near) int {
	switch near.Bytes {
	case 0:
		for i := range got {
			if got[i] != want[i] {
				return i
			}
		}
		return -1
	case 1:
		return firstApart(got, want, near)
	case 2:
		return 2 * firstApart(elements[uint16](got), elements[uint16](want), near)
	case 4:
		return 4 * firstApart(elements[uint32](got), elements[uint32](want), near)
	}
	return 8 * firstApart(elements[uint64](got), elements[uint64](want), near)
}

type bits interface {
	uint8 | uint16 | uint32 | uint64
}

// elements views bytes as elements; they begin with a whole element and are aligned.
func elements[T bits](b []byte) []T {
	var one T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(one)))
}

// firstApart is the index of the first element that is not near, or -1. Bit patterns sort like their values when
// negative ones count downwards from zero.
func firstApart[T bits](got, want []T, near Near) int {
	sign := ^(^T(0) >> 1)
	ulps, greatest := T(min(near.ULPs, uint64(^T(0)))), T(near.Greatest)
	want = want[:len(got)]
	for i, bits := range got {
		g, w := bits&^sign, want[i]&^sign
		apart := max(g, w) - min(g, w)
		if (bits^want[i])&sign != 0 {
			apart = g + w
		}
		if apart > ulps || g > greatest {
			return i
		}
	}
	return -1
}
