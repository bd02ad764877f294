package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/post/trace"
)

// party is one communicator, or one way between two ranks of it, with those of its ranks that were read.
type party struct {
	name    string
	size    int // ranks; 0: not known
	cohort  int
	peers   bool // sends of one rank and the receives of another
	parts   []part
	matches [][]int32 // of each matched call, the place in part.calls by part
}

// part is what one device has of a party.
type part struct {
	device int
	calls  []int32 // indexes in Device.seen, in the order in which they began
}

// at is what a device did in a matched call.
func (p *party) at(c *comparison, match []int32, part int) *seen {
	q := &p.parts[part]
	return &c.timeline.Devices[q.device].seen[q.calls[match[part]]]
}

// partyKey tells communicators apart: those of one name with other ranks are others.
type partyKey struct {
	cohort, world, size int
	name, members       string
}

// findParties puts together what was read of each communicator.
func (c *comparison) findParties() {
	found := map[partyKey]*party{}
	for i := range c.timeline.Devices {
		if c.lane[i] < 0 {
			continue
		}
		d := &c.timeline.Devices[i]
		calls := map[int32][]int32{}
		for n := range d.seen {
			switch s := &d.seen[n]; {
			case d.isPeer(s):
			case len(c.lanes) > 2 && d.exchanges(s):
				c.alone++
			default:
				calls[d.seen[n].group] = append(calls[d.seen[n].group], int32(n))
			}
		}
		for _, g := range slices.Sorted(maps.Keys(calls)) {
			key := partyKey{cohort: c.cohort[i], world: d.World}
			var of Group
			if g >= 0 && int(g) < len(d.Groups) {
				of = d.Groups[g]
			}
			if of.Size == 1 {
				continue
			}
			key.name, key.size = of.Name, of.Size
			if len(of.Members) > 0 {
				key.members = fmt.Sprint(of.Members)
			}
			if found[key] == nil {
				found[key] = &party{name: of.Name, size: of.Size, cohort: key.cohort}
			}
			found[key].parts = append(found[key].parts, part{i, calls[g]})
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(found), comparePartyKeys) {
		p := found[key]
		if why := key.unsafe(len(p.parts)); why != nil {
			c.refused = append(c.refused, *why)
			c.leave(p)
			continue
		}
		c.parties = append(c.parties, p)
	}
	c.findPeers()
}

func comparePartyKeys(a, b partyKey) int {
	return cmp.Or(cmp.Compare(a.cohort, b.cohort), cmp.Compare(a.name, b.name), cmp.Compare(a.members, b.members),
		cmp.Compare(a.size, b.size), cmp.Compare(a.world, b.world))
}

// unsafe is why devices with this key may be of different communicators; nil where they are of one.
func (k partyKey) unsafe(devices int) *notice.CommunicatorUnclear {
	if k.members != "" || k.name == "" || devices < 2 {
		return nil
	}
	switch {
	case k.size > 0 && devices > k.size:
		return &notice.CommunicatorUnclear{Name: k.name, Size: k.size, Ranks: devices}
	case k.world > 0 && k.size > 0 && k.size < k.world:
		return &notice.CommunicatorUnclear{Name: k.name, Size: k.size, Ranks: devices, World: k.world}
	}
	return nil
}

// exchanges says that a kernel sends and receives, and no more is known of it: among more than two ranks that may be
// between any of them.
func (d *Device) exchanges(s *seen) bool {
	name := strings.ToLower(d.nameOf(s))
	return strings.Contains(name, "send") || strings.Contains(name, "recv")
}

// leave counts the calls of a party as not matched.
func (c *comparison) leave(p *party) {
	for _, q := range p.parts {
		c.alone += len(q.calls)
	}
}

// isPeer says that a call is between two ranks alone.
func (d *Device) isPeer(s *seen) bool {
	name := d.nameOf(s)
	return s.peer != trace.Unknown || name == "send" || name == "recv"
}

// nameOf is the operation of a call; "" where it is not known.
func (d *Device) nameOf(s *seen) string {
	if s.collective < 0 || int(s.collective) >= len(d.Collectives) {
		return ""
	}
	return d.Collectives[s.collective].Name
}
