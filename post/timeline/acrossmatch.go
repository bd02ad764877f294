package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/post/trace"
)

// party is one communicator with those of its ranks that were read.
type party struct {
	partyKey
	devices []int     // indexes in Timeline.Devices
	calls   [][]int32 // by device: indexes in Device.seen, in the order in which they began
	matches [][]int32 // of each matched call, the index in Device.seen by device
}

// partyKey identifies a communicator: those of one name with other ranks are others.
type partyKey struct {
	cohort, world int
	size          int // ranks; 0: unknown
	name, members string
}

// at is what a device did in a matched call.
func (c *comparison) at(p *party, match []int32, device int) *seen {
	return &c.timeline.Devices[p.devices[device]].seen[match[device]]
}

// findParties puts together what was read of each communicator. Calls between two ranks belong to
// none.
func (c *comparison) findParties() {
	found := map[partyKey]*party{}
	for i := range c.timeline.Devices {
		if c.lane[i] < 0 {
			continue
		}
		d := &c.timeline.Devices[i]
		calls := make([][]int32, len(d.Groups))
		for n := range d.seen {
			s := &d.seen[n]
			if c.pointToPoint(d.rowOf(s).Name) {
				c.alone++
				continue
			}
			calls[s.group] = append(calls[s.group], int32(n))
		}
		for g := range d.Groups {
			of := &d.Groups[g]
			if of.Size == 1 || calls[g] == nil {
				continue
			}
			key := partyKey{cohort: c.cohort[i], world: d.World, size: of.Size, name: of.Name}
			if len(of.Members) > 0 {
				key.members = fmt.Sprint(of.Members)
			}
			if found[key] == nil {
				found[key] = &party{partyKey: key}
			}
			found[key].devices = append(found[key].devices, i)
			found[key].calls = append(found[key].calls, calls[g])
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(found), comparePartyKeys) {
		c.parties = append(c.parties, found[key])
	}
}

// pointToPoint reports whether a call may be between any two of several ranks. A kernel that sends and receives is a
// call of all ranks where there are two.
func (c *comparison) pointToPoint(name string) bool {
	if len(c.lanes) == 2 {
		return name == "send" || name == "recv"
	}
	name = strings.ToLower(name)
	return strings.Contains(name, "send") || strings.Contains(name, "recv")
}

func comparePartyKeys(a, b partyKey) int {
	return cmp.Or(cmp.Compare(a.cohort, b.cohort), cmp.Compare(a.name, b.name), cmp.Compare(a.members, b.members),
		cmp.Compare(a.size, b.size), cmp.Compare(a.world, b.world))
}

// unclear is why devices of a party may be of different communicators; nil where they are of one.
func (p *party) unclear() notice.Fact {
	ranks := len(p.devices)
	switch {
	case p.members != "" || p.name == "" || ranks < 2 || p.size == 0:
		return nil
	case ranks > p.size:
		return notice.CommunicatorUnclear{Name: p.name, Size: p.size, Ranks: ranks}
	case p.size < p.world:
		return notice.CommunicatorUnclear{Name: p.name, Size: p.size, Ranks: ranks, World: p.world}
	}
	return nil
}

// match finds which calls of a party are one: by the numbers that the file gives, else by their order in a step.
func (c *comparison) match(p *party) {
	if why := p.unclear(); why != nil {
		c.note(why)
	} else if len(p.devices) > 1 {
		p.matches = c.byNumber(p)
		how := &c.numbered
		if p.matches == nil {
			p.matches, _ = c.inGroups(p, func(device int, s *seen) (callGroup, bool) {
				in := c.stepOf(device, s)
				g := callGroup{step: in}
				if p.name == "" { // of several communicators, whose calls may change places
					g.kind = c.timeline.Devices[device].likenessOf(s)
				}
				return g, in.name != "" || len(c.steps[device]) == 0
			})
			how = &c.ordered
		}
		*how += len(p.matches)
	}
	for _, calls := range p.calls {
		c.alone += len(calls) - len(p.matches)
	}
}

// mostUnlike is how many percent of calls with one number may be unlike before the numbers are not believed.
const mostUnlike = 2

// byNumber matches by the numbers that the file gives; nil where it has none, or they number different calls.
func (c *comparison) byNumber(p *party) [][]int32 {
	found, unlike := c.inGroups(p, func(_ int, s *seen) (callGroup, bool) {
		return callGroup{number: s.seq}, s.seq != trace.Unknown
	})
	if 100*unlike > mostUnlike*(len(found)+unlike) {
		return nil
	}
	return found
}

// callGroup is what calls share that only their order distinguishes: a number, or a step.
type callGroup struct {
	number int64
	step   step // the whole recording where there are no steps
	kind   likeness
}

// inGroups matches the calls of a group where all ranks have the same operations and sizes in the same order. unlike
// is how many calls were in groups that are as long on all ranks and differ.
func (c *comparison) inGroups(
	p *party,
	groupOf func(device int, s *seen) (callGroup, bool),
) (found [][]int32, unlike int) {
	groups := make([]map[callGroup][]int32, len(p.devices))
	var order []callGroup
	for i, device := range p.devices {
		groups[i] = map[callGroup][]int32{}
		for _, n := range p.calls[i] {
			g, is := groupOf(device, &c.timeline.Devices[device].seen[n])
			if !is {
				continue
			}
			if i == 0 && groups[0][g] == nil {
				order = append(order, g)
			}
			groups[i][g] = append(groups[i][g], n)
		}
	}
	for _, g := range order {
		calls := make([][]int32, len(p.devices))
		for i := range calls {
			calls[i] = groups[i][g]
		}
		switch matches, alike := c.oneByOne(p, calls); {
		case alike:
			found = append(found, matches...)
		case matches != nil:
			unlike += len(matches)
		}
	}
	return found, unlike
}

// oneByOne sets calls of devices beside each other, in their order; nil where devices have different numbers of them.
func (c *comparison) oneByOne(p *party, calls [][]int32) (matches [][]int32, alike bool) {
	like := func(match []int32, i int) likeness {
		return c.timeline.Devices[p.devices[i]].likenessOf(c.at(p, match, i))
	}
	matches, alike = make([][]int32, len(calls[0])), true
	for i := range calls {
		if len(calls[i]) != len(matches) {
			return nil, false
		}
		for n := range matches {
			matches[n] = append(matches[n], calls[i][n])
			alike = alike && like(matches[n], i) == like(matches[n], 0)
		}
	}
	return matches, alike
}

// likeness is what two calls must share to be one collective.
type likeness struct {
	name  string
	bytes int64
}

// likenessOf is that of a call. Ranks of an uneven exchange have different sizes, and its size is no part of it.
func (d *Device) likenessOf(s *seen) likeness {
	row := d.rowOf(s)
	k := likeness{name: row.Name}
	switch row.Name {
	case coll.AllReduce.String(), coll.AllGather.String(), coll.ReduceScatter.String(), coll.Broadcast.String(),
		coll.Reduce.String():
		if row.Bytes != nil {
			k.bytes = *row.Bytes
		}
	}
	return k
}

// rowOf is the kind of a call.
func (d *Device) rowOf(s *seen) *Collective { return &d.Collectives[s.collective] }

// how is by what calls were matched.
func (c *comparison) how() (all notice.MatchedByAll) {
	for _, by := range []notice.MatchedBy{
		{How: notice.ByNumber, Calls: c.numbered}, {How: notice.ByStep, Calls: c.ordered},
	} {
		if by.Calls > 0 {
			all = append(all, by)
		}
	}
	return all
}
