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

// maxPoints is the maximum number of sizes of a range and of cases of a plan.
const maxPoints = 1_000_000

// Sizes is a list or a range of message sizes: bytes, or elements in the tensor of one rank.
type Sizes struct {
	Elements bool    // elements, not bytes
	List     []int64 // ascending, each once; empty for a range

	// A range grows by a factor (at least 2) or by a step (at least 1); the other is 0. As in nccl-tests, End is only a
	// size if the growth meets it.
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

// Unmet returns a note for each range whose growth does not meet its end.
func (s *Sweep) Unmet() (notes []string) {
	for _, p := range s.Parts {
		largest := p.Sizes.Begin
		for n := range p.Sizes.All() {
			largest = n
		}
		note := fmt.Sprintf("largest size is %s: %v does not include %s", coll.FormatSize(largest, false), p.Sizes,
			coll.FormatSize(p.Sizes.End, false))
		if len(p.Sizes.List) == 0 && largest < p.Sizes.End && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// LeftOut returns a note for each part of a training's sweep that a world cannot replay, and on sizes that are scaled.
func (s *Sweep) LeftOut(world int) (notes []string) {
	if s.World == 0 || s.World == world {
		return nil
	}
	for i, p := range s.Parts {
		if why := s.misfit(&p, world); why != "" {
			notes = append(notes, fmt.Sprintf("part %d (%s) is left out: %s, but the world has %d ranks", i+1,
				p.Collectives[0], why, world))
		}
	}
	how := "sizes are those of the training; --fit scales them to this world"
	if s.Fit {
		how = "--fit scales sizes to this world, and keeps the bytes of a rank"
	}
	return append(notes, fmt.Sprintf("the training had %d ranks: %s", s.World, how))
}

// Notes marks a case whose size --fit scaled.
func (s *Sweep) Notes(c coll.Case) []string {
	if !s.Fit || s.World == c.World || c.Groups.Divided() || !divides(c.Collective) {
		return nil
	}
	return []string{fmt.Sprintf("size scaled from %d ranks of a training (--fit)", s.World)}
}

// divides reports whether the size of a collective is divided among ranks.
func divides(c coll.Collective) bool { return c.Shared() || c == coll.AllToAllV }

// scaled returns a size of a part in the world of a case. The bytes of a rank stay with --fit, else the size.
func (p *planner) scaled(n int64, sizes *Sizes, c coll.Collective) int64 {
	from, to := int64(p.training), int64(p.world)
	ofRank := sizes.Elements && c.Shared()
	if ofRank == p.fit || !divides(c) {
		return n
	} else if ofRank {
		from, to = to, from
	}
	return n/from*to + n%from*to/from
}

// misfit returns why a world cannot replay a part of a training's sweep; "" if it can.
func (s *Sweep) misfit(p *Part, world int) string {
	if s.World == 0 || s.World == world {
		return ""
	}
	for _, d := range p.Groups {
		size := world
		if d != "" { // groups keep their size
			size = s.World / d.N()
			if s.World%d.N() != 0 || world%size != 0 || s.Fit && world == size {
				return fmt.Sprintf("it has %d groups of %d ranks", d.N(), size)
			}
		}
		for _, i := range p.Imbalances {
			if n := i.Ranks(); n > 0 && n != size {
				return fmt.Sprintf("its matrix has %d rows", n)
			}
		}
	}
	return ""
}

// fitted returns the division of a world into groups of the training's size.
func (s *Sweep) fitted(d coll.Division, world int) coll.Division {
	if s.World == 0 || s.World == world || d == "" {
		return d
	}
	n := world / (s.World / d.N())
	if n == 1 {
		return ""
	}
	_, layout, _ := strings.Cut(string(d), ":")
	return coll.Division(fmt.Sprintf("%d:%s", n, layout))
}

// String formats the sizes: "8 to 32M by factor 2", "1M, 16M elements".
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

// check returns why a range is invalid.
func (s Sizes) check() error {
	switch {
	case s.Begin < 1:
		return fmt.Errorf("a range must begin at 1 or above, not %d", s.Begin)
	case s.Begin > s.End:
		return fmt.Errorf("the range is empty: begin %s is larger than end %s", coll.FormatSize(s.Begin, false),
			coll.FormatSize(s.End, false))
	case s.Factor < 2 && s.Step < 1:
		return errors.New("a range requires a factor of at least 2, or a step of at least 1")
	case s.Step > 0 && (s.End-s.Begin)/s.Step >= maxPoints:
		return fmt.Errorf("the range has more than %d sizes: use a larger step, or a factor", maxPoints)
	}
	return nil
}

// listed returns the sizes of a list.
func listed(list []int64, elements bool) Sizes {
	return Sizes{Elements: elements, List: slices.Compact(slices.Sorted(slices.Values(list)))}
}
