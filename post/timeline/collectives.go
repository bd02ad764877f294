package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/trace"
)

// happening is one run of a collective: all activities of one call, or one activity without a call in the file.
type happening struct {
	seen
	call  *trace.Call // nil: unknown
	first int32       // index of its first activity
}

// communication sets the collectives of a device, and the groups that communicated.
func (s *study) communication(out *Device) {
	all := s.happenings()
	s.groups(out, all)
	s.collectives(out, all)
	out.seen = make([]seen, len(all))
	for i := range all {
		out.seen[i] = all[i].seen
	}
	s.topExposed(out)
	out.buckets()
}

// happenings returns the collectives of a device by start.
func (s *study) happenings() (all []happening) {
	ofCall := make([]int32, len(s.Calls)) // index in all and one; 0: new
	origin := s.cover.whole.Start
	for i := range s.Activities {
		if s.classes[i] != communicating {
			continue
		}
		a := &s.Activities[i]
		span := trace.Span{Start: a.Start, End: a.End}
		if a.Call >= 0 && ofCall[a.Call] > 0 {
			h := &all[ofCall[a.Call]-1]
			span.Start = max(span.Start, origin+h.end) // concurrent parts count once
			h.exposed += s.exposedIn(span)
			h.end = max(h.end, a.End-origin)
			continue
		}
		h := happening{first: int32(i), seen: seen{start: a.Start - origin, end: a.End - origin,
			exposed: s.exposedIn(span), step: s.stepOf[i], stream: a.Stream, seq: trace.Unknown}}
		if a.Call >= 0 {
			ofCall[a.Call] = int32(len(all)) + 1
			h.call = &s.Calls[a.Call]
			h.seq, h.splits = h.call.Seq, h.call.Splits
		}
		all = append(all, h)
	}
	return all
}

// exposedIn returns how much of the communication no computation hides.
func (s *study) exposedIn(comm ...trace.Span) (sum int64) {
	for _, a := range comm {
		sum += max(0, a.End-a.Start) - s.cover.sets[computing].in(a)
	}
	return sum
}

// groups sets the groups that communicated. Comm is the union of a group's own collectives: concurrent groups add up
// to more than the device's.
func (s *study) groups(out *Device, all []happening) {
	var index units.Numbers[int32] // in Device.Groups, by the index in trace.Device.Groups
	var running []spans
	for i := range all {
		h, of := &all[i], int32(trace.Unknown)
		if h.call != nil {
			of = h.call.Group
		}
		g, added := index.Of(of)
		if added {
			out.Groups, running = append(out.Groups, s.groupAt(of)), append(running, nil)
		}
		h.group = int32(g)
		out.Groups[g].Calls++
		running[g] = running[g].with(trace.Span{Start: s.cover.whole.Start + h.start, End: s.cover.whole.Start + h.end})
	}
	for i := range out.Groups {
		for _, a := range running[i] { // between the parts of a call the device may be idle
			out.Groups[i].Comm += milliseconds(s.cover.sets[communicating].in(a))
		}
	}
}

// groupAt returns an empty group; without a name if the file has none.
func (s *study) groupAt(index int32) Group {
	if index < 0 {
		return Group{}
	}
	g := s.Groups[index]
	out := Group{Name: g.Name, About: g.About, Size: max(g.Size, len(g.Ranks)), Members: g.Ranks}
	if g.Rank != trace.Unknown {
		out.Rank = new(g.Rank)
	}
	return out
}

// kindOfCall is the key of a row of calls.
type kindOfCall struct {
	group int32 // index in Device.Groups
	name  string
	bytes int64
	typ   string
	parts int // calls in one kernel
}

// kindOf returns the row of a happening. The file's data on the call takes precedence over the kernel's name.
func (s *study) kindOf(h *happening) kindOfCall {
	kernel := s.names[s.Activities[h.first].Name]
	k := kindOfCall{group: h.group, name: kernel.name, bytes: trace.Unknown, parts: 1}
	if kernel.what != coll.Other && kernel.comm {
		k.name = kernel.what.String()
	}
	if call := h.call; call != nil {
		k.bytes, k.typ, k.parts = max(call.Bytes, trace.Unknown), call.Type, max(1, call.Parts)
		if call.What != coll.Other && call.What != 0 {
			k.name = call.What.String()
		} else {
			k.name = cmp.Or(call.Name, k.name)
		}
	}
	return k
}

func (k kindOfCall) compare(o kindOfCall) int {
	return cmp.Or(cmp.Compare(k.group, o.group), cmp.Compare(k.name, o.name), cmp.Compare(k.bytes, o.bytes),
		cmp.Compare(k.typ, o.typ), cmp.Compare(k.parts, o.parts))
}

// collectives sets the rows of a device.
func (s *study) collectives(out *Device, all []happening) {
	kinds, rows := make([]kindOfCall, len(all)), map[kindOfCall]int32{}
	for i := range all {
		kinds[i] = s.kindOf(&all[i])
		rows[kinds[i]] = 0
	}
	for i, k := range slices.SortedFunc(maps.Keys(rows), kindOfCall.compare) {
		rows[k] = int32(i)
		g := &out.Groups[k.group]
		row := Collective{Name: k.name, Group: g.Name, Ranks: g.Size, Type: k.typ, Parts: k.parts}
		if k.bytes != trace.Unknown {
			row.Bytes = &k.bytes
		}
		out.Collectives = append(out.Collectives, row)
	}
	took := make([][]float64, len(rows))
	for i := range all {
		h := &all[i]
		h.collective = rows[kinds[i]]
		took[h.collective] = append(took[h.collective], milliseconds(h.end-h.start))
		out.Collectives[h.collective].Exposed += milliseconds(h.exposed)
	}
	for i := range took {
		out.Collectives[i].took(took[i])
	}
}

// took sets the times of a kind of calls, in milliseconds.
func (c *Collective) took(ms []float64) {
	c.Calls, c.Sum, c.Median, c.Min = len(ms), 0, stats.Median(ms), slices.Min(ms)
	for _, one := range ms {
		c.Sum += one
	}
	c.Busbw, c.BusbwMax = c.busbwAt(c.Median), c.busbwAt(c.Min)
}

// busbwAt returns a collective's bus bandwidth for a time in milliseconds, in GB/s; nil if size, ranks or operation
// are unknown.
func (c *Collective) busbwAt(ms float64) *float64 {
	what, err := coll.ParseCollective(c.Name)
	if err != nil || c.Bytes == nil || *c.Bytes <= 0 || c.Ranks < 2 || ms <= 0 {
		return nil
	}
	gb := coll.Case{Collective: what, World: c.Ranks, SizeBytes: *c.Bytes}.BusBW(ms/1e3) / 1e9
	return &gb
}
