package analysis

import (
	"slices"

	"busbar/internal/coll"
)

// merged puts findings of one cause together. The first of them, which is to be the most serious, stands for the
// others, unless that one is of latency and the same was found in throughput mode, where data are sent as programs send
// most of them.
func merged(found []Finding) (kept []Finding) {
	var groups [][]Finding
	for _, f := range found {
		i := slices.IndexFunc(groups, func(g []Finding) bool { return sameCause(g[0], f) })
		if i < 0 {
			groups = append(groups, []Finding{f})
			continue
		}
		groups[i] = append(groups[i], f)
	}
	for _, g := range groups {
		kept = append(kept, oneOf(g))
	}
	return kept
}

// oneOf is the finding that stands for a group, as severe as the most severe of it.
func oneOf(group []Finding) Finding {
	lead := leadOf(group)
	one := group[lead]
	one.Severity, one.Weight = group[0].Severity, group[0].Weight
	for i, f := range group {
		if i == lead {
			continue
		}
		one.Also = append(one.Also, Place{f.Curve, f.From, f.To, f.Notice})
	}
	return one
}

// leadOf is the place of the first finding, or of the one of its kind and operation in throughput mode.
func leadOf(group []Finding) int {
	first := group[0]
	if first.Curve.Mode != coll.Latency {
		return 0
	}
	return max(0, slices.IndexFunc(group, func(f Finding) bool {
		return f.Curve.Mode == coll.Throughput && f.Code() == first.Code() && sameOperation(f.Curve, first.Curve)
	}))
}

// sameCause says that two findings probably have one cause. Of one operation in one world that is what bends the curve
// at the same sizes, in either placement and mode; across operations and worlds it is the same kind in the same range.
func sameCause(a, b Finding) bool {
	if a.ofGroup || b.ofGroup || a.Curve.Contender != b.Curve.Contender || a.Curve.Tool != b.Curve.Tool {
		return false
	}
	if sameOperation(a.Curve, b.Curve) {
		return a.From <= b.To && b.From <= a.To && (a.Code() == b.Code() || bend(a.Code()) && bend(b.Code()) ||
			declines(a.Code()) && declines(b.Code()))
	}
	return a.Code() == b.Code() && near(a.From, b.From) && near(a.To, b.To)
}

// bend says that a kind is one of how a curve is bent in a range of sizes.
func bend(k Kind) bool { return k == Drop || k == Spike || k == Step }

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
		return "same curve"
	}
	words := c.operation()
	if ShapeOf(c.Condition) != ShapeOf(other.Condition) {
		words += " with " + ShapeOf(c.Condition).Words()
	}
	return words
}
