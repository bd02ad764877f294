package timeline

import (
	"busbar/internal/coll"
	"busbar/post/trace"
)

// happening is a collective as it ran: all activities of one call, or one alone that the file knows no call of.
type happening struct {
	trace.Span       // from the first activity to the end of the last
	exposed    int64 // ns, of its activities
	call       int32 // index in trace.Device.Calls; trace.Unknown
	first      int32 // index of its first activity
}

// happenings are the collectives of a device, by their beginning.
func (s *study) happenings() (all []happening) {
	ofCall := make([]int32, len(s.Calls)) // index in all and one; 0: not met yet
	for i := range s.Activities {
		if s.classes[i] != communicating {
			continue
		}
		a := &s.Activities[i]
		span := trace.Span{Start: a.Start, End: a.End}
		if a.Call >= 0 && ofCall[a.Call] > 0 {
			h := &all[ofCall[a.Call]-1]
			span.Start = max(span.Start, h.End) // parts that run side by side count once
			h.exposed += s.exposedIn(span)
			h.End = max(h.End, a.End)
			continue
		}
		all = append(all, happening{Span: span, exposed: s.exposedIn(span), call: a.Call, first: int32(i)})
		if a.Call >= 0 {
			ofCall[a.Call] = int32(len(all))
		}
	}
	return all
}

// exposedIn is how much of a span of communication no computing hides.
func (s *study) exposedIn(a trace.Span) int64 {
	return max(0, a.End-a.Start) - s.cover.compute.in(a)
}

// operation is what a happening did: one of our collectives, or Other and a name for it. What the file says of the call
// comes before what the name of the kernel tells.
func (c *communication) operation(h *happening) (coll.Collective, string) {
	kernel := c.names[c.Activities[h.first].Name]
	if h.call >= 0 {
		switch call := &c.Calls[h.call]; {
		case call.What != coll.Other && call.What != 0:
			return call.What, call.What.String()
		case call.Name != "":
			return coll.Other, call.Name
		}
	}
	if kernel.what != coll.Other && kernel.comm {
		return kernel.what, kernel.what.String()
	}
	return coll.Other, kernel.name
}

// by is the library whose kernel it was, as far as a name tells.
func (c *communication) by(h *happening) string {
	if c.Activities[h.first].Kind.Memcpy() {
		return "copies"
	}
	return c.names[c.Activities[h.first].Name].by
}
