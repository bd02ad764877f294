package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/stats"
	"busbar/post/trace"
)

// communicators are the groups that communicated. The times of one are of the union of its own collectives, and what
// computing covers of it is its overlap: where two groups communicate at one moment and nothing computes, both are
// exposed, so groups may add up to more than the device. index says for an index in trace.Device.Groups where it is;
// that of calls without a group is the last.
func (s *study) communicators(all []happening) (groups []Group, index []int32) {
	groups = []Group{}
	index = make([]int32, len(s.Groups)+1)
	for i := range index {
		index[i] = -1
	}
	var running []spans
	for i := range all {
		g := s.groupOrLast(&all[i])
		if index[g] < 0 {
			index[g] = int32(len(groups))
			groups = append(groups, s.communicator(g))
			running = append(running, nil)
		}
		groups[index[g]].Calls++
		running[index[g]] = running[index[g]].with(all[i].Span)
	}
	for i := range groups {
		comm := running[i].and(s.cover.comm.of) // between the parts of a call it may have run nothing
		var exposed int64
		for _, a := range comm {
			exposed += s.exposedIn(a)
		}
		groups[i].Comm, groups[i].Exposed, groups[i].Overlap = milliseconds(comm.length()), milliseconds(exposed),
			milliseconds(comm.length()-exposed)
	}
	return groups, index
}

// communicator is a group with nothing counted; the last index stands for what the file knows no group of.
func (s *study) communicator(index int32) Group {
	if int(index) == len(s.Groups) {
		return Group{}
	}
	g := s.Groups[index]
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
func (s *study) kindOf(h *happening, group int32) kindOfCall {
	k := kindOfCall{group: group, bytes: trace.Unknown, by: s.by(h), parts: 1}
	_, k.name = s.operation(h)
	if h.call >= 0 {
		call := &s.Calls[h.call]
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
func (s *study) collectives(all []happening, groups []Group, index []int32) (rows []Collective, of []int32) {
	tallies := map[kindOfCall]*tally{}
	kinds := make([]kindOfCall, len(all))
	for i := range all {
		h := &all[i]
		k := s.kindOf(h, index[s.groupOrLast(h)])
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
		rows[i] = k.row(tallies[k], &groups[k.group])
	}
	of = make([]int32, len(all))
	for i := range all {
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

// groupOrLast is the index of a happening's group in trace.Device.Groups; one more than the last where it is not known.
func (s *study) groupOrLast(h *happening) int32 {
	if g := s.group(h); g >= 0 {
		return g
	}
	return int32(len(s.Groups))
}
