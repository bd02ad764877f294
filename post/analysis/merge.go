package analysis

import (
	"fmt"
	"slices"
)

// mostLikewise is how many findings of the same cause are named with the one that stands for them.
const mostLikewise = 4

// merged puts findings of one cause together, under the first of them, which is to be the most serious.
func merged(found []Finding) (kept []Finding) {
	more := map[int]int{} // of findings that are not named any more, by place
	for _, f := range found {
		i := slices.IndexFunc(kept, func(k Finding) bool { return sameCause(k, f) })
		if i < 0 {
			kept = append(kept, f)
			continue
		}
		if more[i]++; more[i] <= mostLikewise {
			word := "Likewise "
			if f.Kind != kept[i].Kind {
				word = "Also "
			}
			kept[i].Evidence = append(kept[i].Evidence, word+f.Curve.apartFrom(kept[i].Curve)+": "+f.predicate+".")
		}
	}
	for i, n := range more {
		if n > mostLikewise {
			kept[i].Evidence = append(kept[i].Evidence, fmt.Sprintf("So it is with %d more.", n-mostLikewise))
		}
	}
	return kept
}

// sameCause says that two findings probably have one cause. Of one operation in one world that is what bends the curve at the same
// sizes, in either placement and mode; across operations and worlds it is the same kind in the same range.
func sameCause(a, b Finding) bool {
	if a.predicate == "" || b.predicate == "" || a.Curve.Contender != b.Curve.Contender || a.Curve.Tool != b.Curve.Tool {
		return false
	}
	if sameOperation(a.Curve, b.Curve) {
		return a.From <= b.To && b.From <= a.To && (a.Kind == b.Kind || bend(a.Kind) && bend(b.Kind) || declines(a.Kind) && declines(b.Kind))
	}
	return a.Kind == b.Kind && near(a.From, b.From) && near(a.To, b.To)
}

// bend says that a kind is one of how a curve is bent in a range of sizes.
func bend(k Kind) bool { return k == Drop || k == Spike || k == Step || k == Plateau }

// declines says that a kind can be the decline of a curve, its best sizes, or where it begins.
func declines(k Kind) bool { return k == Decline || k == Spike || k == Step }

// near says that two sizes are at most one step of a sweep apart.
func near(a, b int64) bool { return a <= 2*b && b <= 2*a }

// sameOperation says that two curves differ in placement and mode at most.
func sameOperation(a, b *Curve) bool {
	x, y := a.Condition, b.Condition
	x.Placement, y.Placement, x.Mode, y.Mode, x.Average, y.Average = 0, 0, 0, 0, "", ""
	return x == y
}

// apartFrom names a curve by what tells it from another one.
func (c *Curve) apartFrom(other *Curve) string {
	if c == other {
		return "there"
	}
	words := c.operation()
	if ShapeOf(c.Condition) != ShapeOf(other.Condition) {
		words += " with " + ShapeOf(c.Condition).Words()
	}
	return words
}
