package hang

import (
	"cmp"
	"math"
	"slices"

	"busbar/post/hang/evidence"
)

// entry is what a rank recorded of the stuck collective; nil if its dump has nothing of it.
func (c *candidate) entry(rank int) *evidence.Entry {
	t := c.group.tracks[rank]
	if t == nil || t.dump == nil {
		return nil
	}
	if c.p2p {
		for _, i := range t.p2p {
			if e := &t.dump.Entries[i]; e.Seq == c.seq && !t.dump.Ended(e) {
				return e
			}
		}
		return nil
	}
	if s := t.at(c.seq); s != nil {
		return &t.dump.Entries[s.first]
	}
	return nil
}

// entered are the ranks that called the candidate's collective.
func (c *candidate) entered() []int {
	return slices.Sorted(slices.Values(slices.Concat(c.waiting, c.ended, c.finished)))
}

// follows reports whether a candidate is a consequence of another: its missing ranks wait in the other, or a rank that
// is in both entered the other first.
func (c *candidate) follows(other *candidate) bool {
	if other.kind == undecided && c.kind != undecided {
		return false
	}
	if c.kind == rankMissing {
		return subset(c.culprits, slices.Concat(other.waiting, other.ended))
	}
	first := 0
	for _, rank := range c.entered() {
		own, theirs := c.entry(rank), other.entry(rank)
		if own == nil || theirs == nil {
			continue
		}
		if theirs.Record < own.Record {
			first++
		} else {
			first--
		}
	}
	return first > 0
}

// created is when the first rank entered the candidate's collective; the clocks of hosts may differ.
func (c *candidate) created() int64 {
	first := int64(math.MaxInt64)
	for _, rank := range c.entered() {
		if e := c.entry(rank); e != nil && e.Created > 0 {
			first = min(first, e.Created)
		}
	}
	return first
}

// choose finds the candidate that the others are consequences of. Cycle is that candidates wait for each other.
func choose(all []*candidate) (root *candidate, consequences, independent []*candidate, cycle bool) {
	var roots []*candidate
	for _, c := range all {
		if !slices.ContainsFunc(all, func(other *candidate) bool { return other != c && c.follows(other) }) {
			roots = append(roots, c)
		} else {
			consequences = append(consequences, c)
		}
	}
	if len(roots) == 0 && len(all) > 0 {
		roots, consequences, cycle = all, nil, true
	}
	slices.SortStableFunc(roots, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(rankOfKind(a), rankOfKind(b)), cmp.Compare(a.created(), b.created()))
	})
	if len(roots) == 0 {
		return nil, nil, nil, false
	}
	return roots[0], consequences, roots[1:], cycle
}

// rankOfKind orders causes: what shows a culprit counts before what does not.
func rankOfKind(c *candidate) int {
	switch c.kind {
	case otherCollective, otherSize, otherTimeouts:
		return 0
	case rankMissing:
		return 1
	case allEntered:
		return 2
	}
	return 3
}
