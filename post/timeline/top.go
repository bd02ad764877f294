package timeline

import (
	"cmp"
	"slices"

	"busbar/post/trace"
)

// topExposed fills in the collectives that were exposed longest.
func (s *study) topExposed(out *Device) {
	order := make([]*seen, 0, len(out.seen))
	for i := range out.seen {
		if out.seen[i].exposed > 0 {
			order = append(order, &out.seen[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *seen) int { return cmp.Compare(b.exposed, a.exposed) })
	for _, c := range order[:min(cmp.Or(s.options.Top, DefaultTop), len(order))] {
		row := out.rowOf(c)
		e := Exposed{
			Name:    row.Name,
			Group:   row.Group,
			Bytes:   row.Bytes,
			Stream:  int(c.stream),
			Start:   milliseconds(c.start),
			Took:    milliseconds(c.end - c.start),
			Exposed: milliseconds(c.exposed),
		}
		if c.step >= 0 {
			e.Step = s.host[c.step].Name
		}
		origin := s.cover.whole.Start
		e.After, e.Before = s.around(trace.Span{Start: origin + c.start, End: origin + c.end})
		out.Top = append(out.Top, e)
	}
}

// around are the kernel that computed last before the first exposed moment of a span, and the one that computed first
// after its last; "" where there is none.
func (s *study) around(a trace.Span) (after, before string) {
	left := spans{a}.without(s.cover.compute.of.around(a))
	if len(left) == 0 {
		return "", ""
	}
	from, to := left[0].Start, left[len(left)-1].End
	last := -1
	for i, class := range s.classes {
		k := &s.Activities[i]
		switch {
		case class != computing:
		case k.Start <= from && (last < 0 || k.End >= s.Activities[last].End):
			last = i
		case k.Start >= to:
			return s.functionName(last), s.functionName(i)
		}
	}
	return s.functionName(last), ""
}

// functionName is the function of an activity; "" of -1.
func (s *study) functionName(activity int) string {
	if activity < 0 {
		return ""
	}
	name := s.Names[s.Activities[activity].Name]
	if f := functionOf(name).String(); f != "" && !s.names[s.Activities[activity].Name].own {
		return f
	}
	return name
}
