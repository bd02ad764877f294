package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/stats"
	"busbar/post/trace"
)

// communication is the collectives of a device, with the groups that communicated. The times of a group are of the
// union of its own collectives, and what computing covers of it is its overlap: where two groups communicate at one
// moment and nothing computes, both are exposed, so groups may add up to more than the device.
type communication struct {
	*study
	all    []happening // by their beginning
	groups []Group
	index  []int32 // in groups, by the index in trace.Device.Groups; that of calls without a group is the last
}

func newCommunication(s *study) *communication {
	c := &communication{study: s, all: s.happenings(), groups: []Group{}, index: make([]int32, len(s.Groups)+1)}
	for i := range c.index {
		c.index[i] = -1
	}
	var running []spans
	for i := range c.all {
		at := c.groupOrLast(&c.all[i])
		if c.index[at] < 0 {
			c.index[at] = int32(len(c.groups))
			c.groups = append(c.groups, groupAt(s.Groups, at))
			running = append(running, nil)
		}
		g := c.index[at]
		c.groups[g].Calls++
		running[g] = running[g].with(c.all[i].Span)
	}
	for i := range c.groups {
		comm := running[i].and(s.cover.comm.of) // between the parts of a call it may have run nothing
		var exposed int64
		for _, a := range comm {
			exposed += s.exposedIn(a)
		}
		c.groups[i].Comm, c.groups[i].Exposed = milliseconds(comm.length()), milliseconds(exposed)
		c.groups[i].Overlap = milliseconds(comm.length() - exposed)
	}
	return c
}

// groupOf is the index of a collective's group in groups.
func (c *communication) groupOf(h *happening) int32 { return c.index[c.groupOrLast(h)] }

// groupOrLast is the index of a collective's group in trace.Device.Groups; one more than the last where it is unknown.
func (c *communication) groupOrLast(h *happening) int32 {
	if h.call >= 0 && c.Calls[h.call].Group >= 0 {
		return c.Calls[h.call].Group
	}
	return int32(len(c.Groups))
}

// groupAt is a group with nothing counted; the index after the last stands for what the file knows no group of.
func groupAt(all []trace.Group, index int32) Group {
	if int(index) == len(all) {
		return Group{}
	}
	g := all[index]
	out := Group{Name: g.Name, About: g.About, Size: max(g.Size, len(g.Ranks)), Members: g.Ranks}
	if rank := g.Rank; rank != trace.Unknown {
		out.Rank = &rank
	}
	return out
}

// kindOfCall is what calls have in common that stand in one row.
type kindOfCall struct {
	group int32 // index in Device.Groups
	name  string
	bytes int64
	typ   string
	by    string
	parts int // calls in one kernel
}

// kindOf is the row of a happening.
func (c *communication) kindOf(h *happening) kindOfCall {
	k := kindOfCall{group: c.groupOf(h), bytes: trace.Unknown, by: c.by(h), parts: 1}
	_, k.name = c.operation(h)
	if h.call >= 0 {
		call := &c.Calls[h.call]
		k.bytes, k.typ, k.parts = max(call.Bytes, trace.Unknown), call.Type, max(1, call.Parts)
	}
	return k
}

func (k kindOfCall) compare(o kindOfCall) int {
	return cmp.Or(cmp.Compare(k.group, o.group), cmp.Compare(k.name, o.name), cmp.Compare(k.bytes, o.bytes),
		cmp.Compare(k.typ, o.typ),
		cmp.Compare(k.parts, o.parts), cmp.Compare(k.by, o.by))
}

// tally are the calls of one row, in milliseconds.
type tally struct {
	took    []float64
	exposed float64
}

// collectives are the rows of a device, and for every happening the row that it stands in.
func (c *communication) collectives() (rows []Collective, of []int32) {
	tallies := map[kindOfCall]*tally{}
	kinds := make([]kindOfCall, len(c.all))
	for i := range c.all {
		h := &c.all[i]
		k := c.kindOf(h)
		kinds[i] = k
		if tallies[k] == nil {
			tallies[k] = &tally{}
		}
		tallies[k].took = append(tallies[k].took, milliseconds(h.End-h.Start))
		tallies[k].exposed += milliseconds(h.exposed)
	}
	order := slices.SortedFunc(maps.Keys(tallies), kindOfCall.compare)
	at := make(map[kindOfCall]int32, len(order))
	rows = make([]Collective, len(order))
	for i, k := range order {
		at[k] = int32(i)
		rows[i] = k.row(tallies[k], &c.groups[k.group])
	}
	of = make([]int32, len(c.all))
	for i := range c.all {
		of[i] = at[kinds[i]]
	}
	return rows, of
}

// row is the row of calls of a kind.
func (k kindOfCall) row(t *tally, g *Group) Collective {
	c := Collective{
		Name: k.name, Group: g.Name, Ranks: g.Size, Type: k.typ, By: k.by, Parts: k.parts, Calls: len(t.took),
		Median: stats.Median(t.took), Least: slices.Min(t.took), Exposed: t.exposed,
	}
	for _, took := range t.took {
		c.Sum += took
	}
	if bytes := k.bytes; bytes != trace.Unknown {
		c.Bytes = &bytes
	}
	c.Busbw, c.BusbwMax = c.busbwAt(c.Median), c.busbwAt(c.Least)
	return c
}

// busbwAt is the bus bandwidth of a collective at a time in milliseconds, in GB/s; nil where size, ranks or operation
// are not known.
func (c *Collective) busbwAt(ms float64) *float64 {
	what, err := coll.ParseCollective(c.Name)
	if err != nil || c.Bytes == nil || *c.Bytes <= 0 || c.Ranks < 2 || ms <= 0 {
		return nil
	}
	gb := coll.Case{Collective: what, World: c.Ranks, SizeBytes: *c.Bytes}.BusBW(ms/1e3) / 1e9
	return &gb
}
