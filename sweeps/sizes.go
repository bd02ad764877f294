package sweeps

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"busbar/internal/coll"
)

// maxPoints is the most sizes that a range and the most cases that a plan may have.
const maxPoints = 1_000_000

// Sizes is a list or a range of message sizes: bytes, or elements in the tensor of one rank.
type Sizes struct {
	Elements bool    // elements, not bytes
	List     []int64 // ascending, each once; empty for a range

	// A range grows by a factor (2 or more) or by a step (1 or more); the other is 0. As in nccl-tests, End itself
	// is a size only when the growth meets it.
	Begin, End, Factor, Step int64
}

// All yields the sizes in ascending order.
func (s Sizes) All() iter.Seq[int64] {
	if len(s.List) > 0 {
		return slices.Values(s.List)
	}
	return func(yield func(int64) bool) {
		for n := s.Begin; n <= s.End; {
			if !yield(n) {
				return
			}
			switch {
			case s.Factor > 1 && n <= math.MaxInt64/s.Factor:
				n *= s.Factor
			case s.Step > 0 && n <= math.MaxInt64-s.Step:
				n += s.Step
			default:
				return
			}
		}
	}
}

// String writes the sizes as a user would: "8 to 32M by factor 2", "1M, 16M elements".
func (s Sizes) String() string {
	text := ""
	switch {
	case len(s.List) > 0:
		words := make([]string, len(s.List))
		for i, n := range s.List {
			words[i] = coll.FormatSize(n, false)
		}
		text = strings.Join(words, ", ")
	case s.Step > 0:
		text = fmt.Sprintf("%s to %s by step %s", coll.FormatSize(s.Begin, false), coll.FormatSize(s.End, false),
			coll.FormatSize(s.Step, false))
	default:
		text = fmt.Sprintf("%s to %s by factor %d", coll.FormatSize(s.Begin, false), coll.FormatSize(s.End, false),
			s.Factor)
	}
	if s.Elements {
		text += " elements"
	}
	return text
}

// tooMany says that a range has more points than maxPoints; one that grows by a factor never has.
func (s Sizes) tooMany() bool {
	return s.Step > 0 && (s.End-s.Begin)/s.Step >= maxPoints
}

func (s Sizes) isByteRange() bool { return !s.Elements && len(s.List) == 0 }

// listed makes the sizes of a list.
func listed(list []int64, elements bool) Sizes {
	return Sizes{Elements: elements, List: slices.Compact(slices.Sorted(slices.Values(list)))}
}
