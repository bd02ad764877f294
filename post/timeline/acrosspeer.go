package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"busbar/post/trace"
)

// way is from one rank of a communicator to another.
type way struct {
	partyKey
	from, to int
}

// findPeers puts the sends of one rank and the receives of another together, where the file tells the peer and the
// communicator's ranks.
func (c *comparison) findPeers() {
	sent, received := map[way]*part{}, map[way]*part{}
	for i := range c.timeline.Devices {
		if c.lane[i] < 0 {
			continue
		}
		d := &c.timeline.Devices[i]
		for n := range d.seen {
			s := &d.seen[n]
			if !d.isPeer(s) {
				continue
			}
			w, sends, known := c.wayOf(i, s)
			if !known {
				c.alone++
				continue
			}
			side := received
			if sends {
				side = sent
			}
			if side[w] == nil {
				side[w] = &part{device: i}
			}
			if side[w].device != i { // two devices that claim one place
				c.alone++
				continue
			}
			side[w].calls = append(side[w].calls, int32(n))
		}
	}
	for _, w := range slices.SortedFunc(maps.Keys(sent), compareWays) {
		p := &party{name: w.name, size: 2, cohort: w.cohort, peers: true, parts: []part{*sent[w]}}
		if other := received[w]; other != nil {
			p.parts = append(p.parts, *other)
			delete(received, w)
		}
		c.parties = append(c.parties, p)
	}
	for _, q := range received {
		c.alone += len(q.calls)
	}
}

func compareWays(a, b way) int {
	return cmp.Or(comparePartyKeys(a.partyKey, b.partyKey), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
}

// wayOf is between which ranks a call went.
func (c *comparison) wayOf(device int, s *seen) (w way, sends, known bool) {
	d := &c.timeline.Devices[device]
	name := d.nameOf(s)
	if s.peer == trace.Unknown || s.group < 0 || int(s.group) >= len(d.Groups) || name != "send" && name != "recv" {
		return w, false, false
	}
	g := &d.Groups[s.group]
	own := trace.Unknown
	if g.Rank != nil {
		own = *g.Rank
	} else if d.Rank != nil {
		own = slices.Index(g.Members, *d.Rank)
	}
	if own < 0 || len(g.Members) == 0 {
		return w, false, false
	}
	w.partyKey = partyKey{cohort: c.cohort[device], world: d.World, size: g.Size, name: g.Name,
		members: fmt.Sprint(g.Members)}
	if w.from, w.to, sends = own, int(s.peer), name == "send"; !sends {
		w.from, w.to = w.to, w.from
	}
	return w, sends, true
}
