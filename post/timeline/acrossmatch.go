package timeline

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
	"busbar/post/trace"
)

// party is a communicator with its recorded ranks.
type party struct {
	partyKey
	recordings []*recording
	calls      [][]*seen // by recording, by start
	matches    [][]*seen // per matched call, the call of each recording
}

// partyKey identifies a communicator: the same name with other ranks is another one.
type partyKey struct {
	cohort, world int
	size          int // ranks; 0: unknown
	name, members string
}

// findParties groups the recordings by communicator. Calls between two ranks belong to none.
func (c *comparison) findParties() {
	var keys units.Numbers[partyKey]
	for _, r := range c.recordings {
		calls := make([][]*seen, len(r.Groups))
		for s := range units.Each(r.seen) {
			if c.pointToPoint(r.rowOf(s).Name) {
				c.alone++
				continue
			}
			calls[s.group] = append(calls[s.group], s)
		}
		for g, of := range r.Groups {
			if of.Size == 1 || calls[g] == nil {
				continue
			}
			key := partyKey{r.cohort, r.World, of.Size, of.Name, fmt.Sprint(of.Members)}
			n, added := keys.Of(key)
			if added {
				c.parties = append(c.parties, &party{partyKey: key})
			}
			p := c.parties[n]
			p.recordings, p.calls = append(p.recordings, r), append(p.calls, calls[g])
		}
	}
}

// pointToPoint reports whether a call may be between any two of several ranks. With two ranks, a send-receive kernel
// is a call of all ranks.
func (c *comparison) pointToPoint(name string) bool {
	if len(c.lanes) == 2 {
		return name == "send" || name == "recv"
	}
	name = strings.ToLower(name)
	return strings.Contains(name, "send") || strings.Contains(name, "recv")
}

// unclear reports whether recordings of a party may belong to different communicators.
func (p *party) unclear() bool {
	return p.members == "[]" && p.name != "" && len(p.recordings) > 1 && p.size > 0 &&
		(len(p.recordings) > p.size || p.size < p.world)
}

// mostUnlike is the maximum percentage of calls with equal numbers but different properties; above it, numbers are
// ignored.
const mostUnlike = 2

// match matches the calls of a party by the file's numbers, else by their order in a step.
func (c *comparison) match(p *party) {
	if p.unclear() {
		c.note(profiles.CommunicatorUnclear{Name: p.name, Size: p.size, Ranks: len(p.recordings),
			World: p.worldIfLarger()})
	} else if len(p.recordings) > 1 {
		how := &c.numbered
		found, unlike := p.inGroups(func(_ *recording, s *seen) (callGroup, bool) {
			return callGroup{number: s.seq}, s.seq != trace.Unknown
		})
		if p.matches = found; len(found) == 0 || 100*unlike > mostUnlike*(len(found)+unlike) {
			how = &c.ordered
			p.matches, _ = p.inGroups(func(r *recording, s *seen) (callGroup, bool) {
				g := callGroup{step: r.stepOf(s)}
				if p.name == "" { // several communicators: the order of their calls may differ
					g.kind = r.likenessOf(s)
				}
				return g, g.step.name != "" || len(r.steps) == 0
			})
		}
		*how += len(p.matches)
	}
	for _, calls := range p.calls {
		c.alone += len(calls) - len(p.matches)
	}
	p.calls = nil
}

// worldIfLarger returns the world if it has more ranks than the communicator and the recorded ranks fit.
func (p *party) worldIfLarger() int {
	if len(p.recordings) > p.size {
		return 0
	}
	return p.world
}

// callGroup identifies calls distinguished only by order: a number, or a step.
type callGroup struct {
	number int64
	step   step // the whole recording if there are no steps
	kind   likeness
}

// inGroups matches the calls of a group if all ranks have the same operations and sizes in the same order. unlike is
// the number of calls in groups of equal length that differ.
func (p *party) inGroups(groupOf func(*recording, *seen) (callGroup, bool)) (found [][]*seen, unlike int) {
	var keys units.Numbers[callGroup]
	var groups [][][]*seen // each by recording
	for i, r := range p.recordings {
		for _, s := range p.calls[i] {
			g, is := groupOf(r, s)
			if !is {
				continue
			}
			n, added := keys.Of(g)
			if added {
				groups = append(groups, make([][]*seen, len(p.recordings)))
			}
			groups[n][i] = append(groups[n][i], s)
		}
	}
	for _, g := range groups {
		switch matches, alike := p.oneByOne(g); {
		case alike:
			found = append(found, matches...)
		case matches != nil:
			unlike += len(matches)
		}
	}
	return found, unlike
}

// oneByOne matches the calls of recordings by order; nil if their numbers differ.
func (p *party) oneByOne(calls [][]*seen) (matches [][]*seen, alike bool) {
	matches, alike = make([][]*seen, len(calls[0])), true
	for i, of := range calls {
		if len(of) != len(matches) {
			return nil, false
		}
		for n, s := range of {
			if i == 0 {
				matches[n] = make([]*seen, len(calls))
			}
			matches[n][i] = s
			alike = alike && p.recordings[i].likenessOf(s) == p.recordings[0].likenessOf(calls[0][n])
		}
	}
	return matches, alike
}

// likeness is what two calls must have in common to be the same collective.
type likeness struct {
	name  string
	bytes int64
}

// likenessOf returns the likeness of a call. It ignores the size of an uneven exchange, which differs between ranks.
func (d *Device) likenessOf(s *seen) likeness {
	k := likeness{name: d.rowOf(s).Name}
	switch k.name {
	case coll.AllReduce.String(), coll.AllGather.String(), coll.ReduceScatter.String(), coll.Broadcast.String(),
		coll.Reduce.String():
		k.bytes = d.bytesOf(s)
	}
	return k
}

// rowOf returns the kind of a call.
func (d *Device) rowOf(s *seen) *Collective { return &d.Collectives[s.collective] }

// how names the properties that matched the calls.
func (c *comparison) how() (all profiles.MatchedByAll) {
	for _, by := range []profiles.MatchedBy{
		{How: profiles.ByNumber, Calls: c.numbered}, {How: profiles.ByStep, Calls: c.ordered},
	} {
		if by.Calls > 0 {
			all = append(all, by)
		}
	}
	return all
}
