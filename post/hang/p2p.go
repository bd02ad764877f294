package hang

import (
	"cmp"
	"slices"

	"busbar/post/hang/evidence"
)

// direction is one side of what goes from a rank of a group to another.
type direction struct {
	from, to int
	send     bool
}

// flow is what one rank did in a direction.
type flow struct {
	made    int             // operations in the dump
	entry   *evidence.Entry // the first that waits; nil for none
	ordinal int             // of that, from 1
}

// judgeP2P finds sends and receives that wait for a peer.
func (g *group) judgeP2P() (all []*candidate) {
	flows := map[direction]*flow{}
	for _, t := range g.tracks {
		for _, i := range t.p2p {
			e := &t.dump.Entries[i]
			at := direction{g.global(e.Call.From), g.global(e.Call.To), e.Call.Op == "send"}
			if at.from < 0 || at.to < 0 {
				continue
			}
			f := flows[at]
			if f == nil {
				f = &flow{}
				flows[at] = f
			}
			f.made++
			if f.entry == nil && !t.dump.Ended(e) {
				f.entry, f.ordinal = e, f.made
			}
		}
	}
	for at, f := range flows {
		rank, peer := at.to, at.from
		if at.send {
			rank, peer = peer, rank
		}
		if f.entry != nil {
			all = append(all, g.waitsFor(rank, peer, f, flows[direction{at.from, at.to, !at.send}]))
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.waiting[0], b.waiting[0]), cmp.Compare(a.seq, b.seq))
	})
	return all
}

// global is the rank of a member; -1 if that is unknown.
func (g *group) global(member int) int {
	if member < 0 || member >= len(g.members) {
		return -1
	}
	return g.members[member]
}

// waitsFor is a candidate where a rank waits for an operation that its peer did not call, or may not have.
func (g *group) waitsFor(rank, peer int, f, other *flow) *candidate {
	c := &candidate{
		group: g, kind: rankMissing, seq: f.entry.Seq, p2p: true, waiting: []int{rank}, culprits: []int{peer},
		sides: []side{{call: f.entry.Call, ranks: []int{rank}}},
	}
	t := g.tracks[peer]
	switch {
	case t == nil || t.dump == nil:
		c.kind, c.culprits, c.absent = undecided, nil, []int{peer}
	case other != nil && other.entry != nil: // both are in it
		c.kind, c.culprits, c.waiting = allEntered, nil, unique([]int{rank, peer})
	case other != nil && !t.dump.Lost && !g.tracks[rank].dump.Lost && other.made >= f.ordinal:
		c.kind, c.culprits, c.finished = undecided, nil, []int{peer}
	}
	return c
}
