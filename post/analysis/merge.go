package analysis

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// merged groups findings of one cause under the first, which is the most severe. If the first is of latency mode and
// throughput mode has the same finding, that one represents the group: programs send most data that way.
func merged(found []Finding) []Finding {
	var groups [][]Finding
	for _, f := range found {
		g := units.Entry(&groups, func(g []Finding) bool { return sameCause(g[0], f) }, nil)
		*g = append(*g, f)
	}
	return units.Map(groups, oneOf)
}

// oneOf is the finding that represents a group, with the highest severity in it.
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

// sameCause reports whether two findings probably have one cause. Within one operation and world: bends at the same
// sizes in any placement and mode. Across operations and worlds: the same kind in the same range.
func sameCause(a, b Finding) bool {
	if a.ofGroup || b.ofGroup || a.Curve.Contender != b.Curve.Contender || a.Curve.Tool != b.Curve.Tool ||
		a.Code() == Imbalance || a.Code() == Interferes || a.Code() == Beside {
		return false
	}
	if sameOperation(a.Curve, b.Curve) {
		return a.From <= b.To && b.From <= a.To && (a.Code() == b.Code() || bend(a.Code()) && bend(b.Code()) ||
			declines(a.Code()) && declines(b.Code()))
	}
	return a.Code() == b.Code() && near(a.From, b.From) && near(a.To, b.To)
}

// bend reports whether a kind is a change in the shape of a curve.
func bend(k Kind) bool { return k == Drop || k == Spike || k == Step }

// declines reports whether a kind can be a part of a decline: its best sizes, its start or the decline itself.
func declines(k Kind) bool { return k == Decline || k == Spike || k == Step }

// near reports whether two sizes are at most one step of a sweep apart.
func near(a, b int64) bool { return a <= 2*b && b <= 2*a }

// sameOperation reports whether two curves differ at most in placement and mode.
func sameOperation(a, b *Curve) bool {
	x, y := a.Condition, b.Condition
	x.Placement, y.Placement, x.Mode, y.Mode, x.Average, y.Average = 0, 0, 0, 0, "", ""
	return x == y
}

// apartFrom names a curve by its differences from another one.
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
