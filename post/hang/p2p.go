package hang

import (
	"cmp"
	"slices"

	"busbar/post/hang/evidence"
)

// peers is a direction between two ranks of a group.
type peers struct{ from, to int }

// flow is what one rank did in a direction.
type flow struct {
	made    int             // operations in the dump
	entry   *evidence.Entry // the first that waits; nil for none
	ordinal int             // of that, from 1
}

// judgeP2P finds sends and receives that wait for a peer.
func (g *group) judgeP2P() (all []*candidate) {
	sends, receives := map[peers]*flow{}, map[peers]*flow{}
	for _, rank := range g.ranks() {
		t := g.tracks[rank]
		for _, i := range t.p2p {
			e := &t.dump.Entries[i]
			from, to := globalRank(g, e.Call.From), globalRank(g, e.Call.To)
			if e.Call.From < 0 || e.Call.To < 0 || from < 0 || to < 0 {
				continue
			}
			flows := receives
			if e.Call.Op == "send" {
				flows = sends
			}
			key := peers{from, to}
			f := flows[key]
			if f == nil {
				f = &flow{}
				flows[key] = f
			}
			f.made++
			if f.entry == nil && !t.dump.Ended(e) {
				f.entry, f.ordinal = e, f.made
			}
		}
	}
	for key, f := range receives {
		if c := g.waitsFor(key.to, key.from, f, sends[key]); c != nil {
			all = append(all, c)
		}
	}
	for key, f := range sends {
		if c := g.waitsFor(key.from, key.to, f, receives[key]); c != nil {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.waiting[0], b.waiting[0]), cmp.Compare(a.seq, b.seq))
	})
	return all
}

// globalRank is the rank of a member; -1 if that is unknown.
func globalRank(g *group, member int) int {
	if member < 0 || member >= len(g.members) {
		return -1
	}
	return g.members[member]
}

// waitsFor is a candidate where a rank waits for an operation that its peer did not call, or may not have.
func (g *group) waitsFor(rank, peer int, f, other *flow) *candidate {
	if f.entry == nil {
		return nil
	}
	c := &candidate{
		group: g, kind: rankMissing, seq: f.entry.Seq, p2p: true, waiting: []int{rank}, culprits: []int{peer},
		sides: []side{{call: f.entry.Call, ranks: []int{rank}}},
	}
	t := g.tracks[peer]
	switch {
	case t == nil || t.dump == nil:
		c.kind, c.culprits, c.absent = undecided, nil, []int{peer}
	case other != nil && other.entry != nil: // both are in it
		c.kind, c.culprits, c.waiting = allEntered, nil, []int{rank, peer}
		slices.Sort(c.waiting)
	case t.dump.Lost || g.tracks[rank].dump.Lost, other != nil && other.made >= f.ordinal:
		// A ring that lost its beginning does not show how many operations the peer made.
		c.kind, c.culprits, c.finished = undecided, nil, []int{peer}
	}
	return c
}
