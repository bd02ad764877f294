package hang

import (
	"maps"
	"slices"

	"busbar/internal/units"
	"busbar/post/hang/evidence"
)

// kind is what a group shows.
type kind uint8

const (
	undecided kind = iota // ranks without evidence, and all others agree
	rankMissing
	otherCollective
	otherSize
	otherTimeouts // ranks wait in collectives of different numbers
	allEntered
)

// candidate is the earliest disagreement in a group, or the collective that all wait in.
type candidate struct {
	group *group
	kind  kind
	seq   int64
	p2p   bool

	culprits []int // missing ranks, or the minority; all ranks on a tie
	waiting  []int // ranks that entered
	absent   []int // members without evidence of this collective
	finished []int // ranks that completed it
	ended    []int // ranks whose dump shows it retired, or failed
	stale    []int // ranks whose dumps are too old
	sides    []side
	tie      bool
	late     float64 // s after the others that the culprit entered; 0: it did not
	shift    *shift  // the culprits' calls match those of the others one place further
	last     int64   // number of the last collective that all completed
}

// side is what some ranks called.
type side struct {
	call  *evidence.Call // nil if unknown
	seq   int64          // 0: of the candidate
	ranks []int
}

// judge finds the earliest disagreement of a group; nil if nothing waits in it.
func (g *group) judge() *candidate {
	c := &candidate{group: g}
	if len(g.tracks) == 0 {
		return nil
	}
	low := int64(-1)
	for _, t := range g.tracks {
		if n := t.through(); !t.blind() && (low < 0 || n < low) {
			low = n
		}
	}
	stale := map[int]bool{}
	for seq := g.next(max(low, 0)); seq > 0; seq = g.next(seq) {
		g.findStale(seq, stale)
		if found := g.judgeAt(c, seq, stale); found {
			c.last, c.stale = seq-1, slices.Sorted(maps.Keys(stale))
			return c
		}
	}
	return nil
}

// blind reports whether a track shows no number at all.
func (t *track) blind() bool {
	return len(t.slots) == 0 && t.enqueued < 0 && t.timeout == nil && (t.dump == nil || t.dump.Lost)
}

// next is the smallest number above another that a rank called; 0 if there is none.
func (g *group) next(after int64) (found int64) {
	consider := func(seq int64) {
		if seq > after && (found == 0 || seq < found) {
			found = seq
		}
	}
	for _, t := range g.tracks {
		if i, _ := slices.BinarySearchFunc(t.slots, after+1, compareSlot); i < len(t.slots) {
			consider(t.slots[i].seq)
		}
		if t.timeout != nil {
			consider(t.timeout.Seq)
		}
		if t.enqueued > t.completed && t.completed >= 0 {
			consider(t.completed + 1)
		}
	}
	return found
}

// findStale drops ranks whose dump lacks a collective that others completed, though it requires all ranks.
func (g *group) findStale(seq int64, stale map[int]bool) {
	completed := false
	var lacking []int
	for rank, t := range g.tracks {
		if stale[rank] {
			continue
		}
		switch t.presence(seq) {
		case Done:
			if call := t.call(seq); call != nil && requiresAll(call.Op) {
				completed = true
			}
		case Missing:
			lacking = append(lacking, rank)
		}
	}
	for _, rank := range lacking {
		if completed {
			stale[rank] = true
		}
	}
}

// requiresAll reports whether no rank can complete a collective before all entered it.
func requiresAll(op string) bool {
	switch evidence.Canonical(op) {
	case "allreduce", "allgather", "reducescatter", "alltoall", "barrier":
		return true
	}
	return false
}

// judgeAt compares the ranks at one number and reports whether that is where the group waits.
func (g *group) judgeAt(c *candidate, seq int64, stale map[int]bool) bool {
	*c = candidate{group: g, seq: seq}
	for _, rank := range g.everyone() {
		t := g.tracks[rank]
		p := Silent
		if t != nil && !stale[rank] {
			p = t.presence(seq)
		}
		in := [...]*[]int{
			Silent: &c.absent, Missing: &c.culprits, Waiting: &c.waiting, Ended: &c.ended, Done: &c.finished,
		}[p]
		*in = append(*in, rank)
	}
	c.sides = g.sides(seq, c.entered())
	if len(c.culprits) > 0 {
		c.kind = rankMissing
		return len(c.waiting)+len(c.ended) > 0 || g.waitsLater(seq)
	}
	if len(c.waiting) == 0 && (len(c.ended) == 0 || g.agree(seq)) && (len(c.absent) == 0 || len(c.ended) == 0) {
		return false
	}
	switch {
	case !sameOps(c.sides):
		c.kind = otherCollective
	case g.sizesDiffer(c):
		c.kind = otherSize
	case len(c.waiting) == 0 && len(c.ended) == 0:
		return false
	case len(c.finished) > 0 && g.timedOutLater(c):
		c.kind = otherTimeouts
	case len(c.absent) > 0:
		c.kind = undecided
		return true
	default:
		c.kind = allEntered
		var rank int
		if rank, c.late = g.lateAt(seq); c.late > 0 {
			c.kind, c.culprits = rankMissing, []int{rank}
		}
		return true
	}
	c.culprits, c.tie = minority(c.sides)
	c.shift = g.shifted(c)
	return true
}

// timedOutLater reports whether the watchdogs of ranks gave up on different numbers, without a dump of the calls
// before: then ranks called something else at some point. The sides become those of the timeouts.
func (g *group) timedOutLater(c *candidate) bool {
	var of []side
	for _, rank := range slices.Concat(c.waiting, c.finished) {
		if t := g.tracks[rank]; t.dump == nil && t.timeout != nil {
			seq := t.timeout.Seq
			of = append(of, side{t.call(seq), seq, []int{rank}})
		}
	}
	sides := joined(of, func(a, b side) bool { return a.seq == b.seq })
	if len(sides) < 2 {
		return false
	}
	c.sides = sides
	return true
}

// joined joins sides that are alike, that of the most ranks first.
func joined(of []side, alike func(a, b side) bool) (all []side) {
	for _, s := range of {
		one := units.Entry(&all, func(other side) bool { return alike(other, s) }, side{call: s.call, seq: s.seq})
		one.ranks = append(one.ranks, s.ranks...)
	}
	for _, s := range all {
		slices.Sort(s.ranks)
	}
	units.SortBy(all, func(s side) int { return -len(s.ranks) })
	return all
}

// waitsLater reports whether a rank waits in a later collective of the group.
func (g *group) waitsLater(seq int64) bool {
	for _, t := range g.tracks {
		i, _ := slices.BinarySearchFunc(t.slots, seq+1, compareSlot)
		for ; i < len(t.slots); i++ {
			if t.progress(&t.slots[i]) == Waiting {
				return true
			}
		}
		if t.timeout != nil && t.timeout.Seq > seq {
			return true
		}
	}
	return false
}

// agree reports whether all ranks that called a number called the same with fitting sizes.
func (g *group) agree(seq int64) bool {
	c := &candidate{group: g, seq: seq, sides: g.sides(seq, g.ranks())}
	return sameOps(c.sides) && !g.sizesDiffer(c)
}

// sides are the different calls of ranks, that of the most ranks first; unknown calls belong to none.
func (g *group) sides(seq int64, ranks []int) []side {
	slices.Sort(ranks)
	var of []side
	for _, rank := range ranks {
		if t := g.tracks[rank]; t != nil {
			if call := t.call(seq); call != nil {
				of = append(of, side{call: call, ranks: []int{rank}})
			}
		}
	}
	return joined(of, func(a, b side) bool { return a.call == b.call || equalCalls(a.call, b.call) })
}

// equalCalls compares calls as far as both are known: lines of the watchdog have no types and only sums.
func equalCalls(a, b *evidence.Call) bool {
	if !evidence.SameOp(a, b) {
		return false
	}
	if (len(a.Types) > 0 && len(b.Types) > 0) && !slices.Equal(a.Types, b.Types) {
		return false
	}
	if a.In == nil && a.Out == nil || b.In == nil && b.Out == nil {
		return true
	}
	return a.Sent() == b.Sent() && a.Received() == b.Received()
}

func sameOps(sides []side) bool {
	return !slices.ContainsFunc(sides, func(s side) bool {
		return !evidence.SameOp(s.call, sides[0].call)
	})
}

// minority is the ranks that are not on the largest side; all ranks if there are two largest.
func minority(sides []side) (ranks []int, tie bool) {
	tie = len(sides) > 1 && len(sides[0].ranks) == len(sides[1].ranks)
	for i, s := range sides {
		if i > 0 || tie {
			ranks = append(ranks, s.ranks...)
		}
	}
	slices.Sort(ranks)
	return ranks, tie
}
