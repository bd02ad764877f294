package sweeps

import (
	"errors"
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
	var text string
	size := func(n int64) string { return coll.FormatSize(n, false) }
	switch {
	case len(s.List) > 0:
		words := make([]string, len(s.List))
		for i, n := range s.List {
			words[i] = size(n)
		}
		text = strings.Join(words, ", ")
	case s.Step > 0:
		text = fmt.Sprintf("%s to %s by step %s", size(s.Begin), size(s.End), size(s.Step))
	default:
		text = fmt.Sprintf("%s to %s by factor %d", size(s.Begin), size(s.End), s.Factor)
	}
	if s.Elements {
		text += " elements"
	}
	return text
}

// check reports why a range is none.
func (s Sizes) check() error {
	switch {
	case s.Begin < 1:
		return fmt.Errorf("a range begins at 1 or more, not %d", s.Begin)
	case s.Begin > s.End:
		return fmt.Errorf("the range is empty: begin %s is larger than end %s", coll.FormatSize(s.Begin, false),
			coll.FormatSize(s.End, false))
	case s.Factor < 2 && s.Step < 1:
		return errors.New("a range grows by a factor of 2 or more, or by a step of 1 or more")
	case s.Step > 0 && (s.End-s.Begin)/s.Step >= maxPoints:
		return fmt.Errorf("the range has more than %d sizes; it needs a larger step, or a factor", maxPoints)
	}
	return nil
}

// listed makes the sizes of a list.
func listed(list []int64, elements bool) Sizes {
	return Sizes{Elements: elements, List: slices.Compact(slices.Sorted(slices.Values(list)))}
}
