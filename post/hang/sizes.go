package hang

import (
	"math"

	"busbar/internal/units"
	"busbar/post/hang/evidence"
)

// sizesDiffer reports whether calls of one collective do not fit together, and leaves in c.sides those that differ.
func (g *group) sizesDiffer(c *candidate) bool {
	if len(c.sides) == 0 || c.p2p {
		return false
	}
	op := evidence.Canonical(c.sides[0].call.Op)
	if op == "alltoall" {
		return g.sumsDiffer(c)
	}
	merged := joined(c.sides, func(a, b side) bool { return fit(op, a.call, b.call) })
	if len(merged) > 1 {
		c.sides = merged
		return true
	}
	return false
}

// fit reports whether two calls of a collective may differ as they do: the sources of scatter and all-to-all, and the
// targets of gather and all-to-all, differ between ranks.
func fit(op string, a, b *evidence.Call) bool {
	if len(a.Types) > 0 && len(b.Types) > 0 && a.Types[0] != b.Types[0] {
		return false
	}
	if a.In == nil && a.Out == nil || b.In == nil && b.Out == nil {
		return true
	}
	if op != "scatter" && a.Sent() != b.Sent() {
		return false
	}
	return op == "gather" || op == "reduce" || a.Received() == b.Received()
}

// sumsDiffer reports whether the ranks of an all-to-all receive other numbers of elements than they send.
func (g *group) sumsDiffer(c *candidate) bool {
	if len(c.absent) > 0 || len(c.culprits) > 0 || g.members == nil {
		return false
	}
	var sent, received int64
	for _, s := range c.sides {
		if s.call.In == nil || s.call.Out == nil {
			return false
		}
		sent += s.call.Sent() * int64(len(s.ranks))
		received += s.call.Received() * int64(len(s.ranks))
	}
	if sent == received {
		return false
	}
	// The sums show that sizes are wrong, and not whose.
	units.SortBy(c.sides, func(s side) int { return s.ranks[0] })
	return true
}

// lateAt finds a rank that entered long after the others: longer than they wait for it. It compares with how the rank
// entered the previous collectives, so that clocks of hosts may differ.
func (g *group) lateAt(seq int64) (rank int, seconds float64) {
	type sample struct {
		rank int
		by   float64 // s since the rank's previous collective
	}
	var all []sample
	limit := math.Inf(1)
	for _, rank := range g.ranks() {
		t := g.tracks[rank]
		now, before := t.at(seq), t.at(seq-1)
		if now == nil || before == nil {
			continue
		}
		e, p := &t.dump.Entries[now.first], &t.dump.Entries[before.first]
		if e.Created == 0 || p.Created == 0 || e.Timeout == 0 {
			continue
		}
		limit = min(limit, float64(e.Timeout)/2)
		all = append(all, sample{rank, float64(e.Created-p.Created) / 1e9})
	}
	if len(all) < 2 {
		return 0, 0
	}
	units.SortBy(all, func(s sample) float64 { return -s.by })
	if by := all[0].by - all[1].by; by >= limit {
		return all[0].rank, by
	}
	return 0, 0
}

// apart reports whether the sides were called at times further apart than a timeout, as calls of different runs are.
func (c *candidate) apart() bool {
	first, last, limit := int64(math.MaxInt64), int64(0), int64(math.MaxInt64)
	for _, rank := range c.entered() {
		if e := c.entry(rank); e != nil && e.Created > 0 && e.Timeout > 0 {
			first, last, limit = min(first, e.Created), max(last, e.Created), min(limit, int64(e.Timeout)*1e9)
		}
	}
	return last > first && last-first > limit
}

// shift is how the calls of a minority match those of the others.
type shift struct {
	calls int  // that match
	extra bool // the minority made a call more; else it skipped one
	call  *evidence.Call
}

// shifted compares the calls of the minority with those of the others one place further.
func (g *group) shifted(c *candidate) *shift {
	if c.tie || len(c.sides) < 2 || c.kind == otherTimeouts {
		return nil
	}
	others, own := g.tracks[c.sides[0].ranks[0]], g.tracks[c.culprits[0]]
	const most = 16
	for _, extra := range []bool{false, true} {
		a, b := own, others // own call n is the others' call n+1
		if extra {
			a, b = others, own
		}
		n, distinct := 0, false
		for ; n < most; n++ {
			x, y := a.call(c.seq+int64(n)), b.call(c.seq+int64(n)+1)
			if x == nil || y == nil || !equalCalls(x, y) {
				break
			}
			if before := a.call(c.seq + int64(n) - 1); n > 0 && before != nil && !equalCalls(before, x) {
				distinct = true
			}
		}
		if n >= 2 && distinct {
			return &shift{n, extra, b.call(c.seq)}
		}
	}
	return nil
}
