package timeline

import (
	"cmp"
	"slices"
	"sort"

	"busbar/post/trace"
)

// topExposed are the collectives that were exposed longest.
func (c *communication) topExposed() []Exposed {
	most := c.options.Top
	if most == 0 {
		most = DefaultTop
	}
	order := make([]int32, 0, len(c.all))
	for i := range c.all {
		if c.all[i].exposed > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(c.all[b].exposed, c.all[a].exposed) })
	near := c.neighbours()
	top := []Exposed{}
	for _, i := range order[:min(most, len(order))] {
		h := &c.all[i]
		_, name := c.operation(h)
		e := Exposed{
			Name: name, Group: c.groups[c.groupOf(h)].Name, Stream: int(c.Activities[h.first].Stream),
			Start: milliseconds(h.Start - c.cover.whole.Start), Took: milliseconds(h.End - h.Start),
			Exposed: milliseconds(h.exposed),
		}
		if h.call >= 0 && c.Calls[h.call].Bytes >= 0 {
			bytes := c.Calls[h.call].Bytes
			e.Bytes = &bytes
		}
		if step := c.stepOf[h.first]; step >= 0 {
			e.Step = c.host[step].Name
		}
		e.After, e.Before = near.around(c.study, h.Span)
		top = append(top, e)
	}
	return top
}

// neighbours finds the kernels that compute before and after something.
type neighbours struct {
	compute []int32 // indexes of activities that compute, by their beginning
	longest []int32 // of those up to one, the index of the activity that ends last
}

func (s *study) neighbours() (n neighbours) {
	count := 0
	for _, c := range s.classes {
		if c == computing {
			count++
		}
	}
	n.compute, n.longest = make([]int32, 0, count), make([]int32, 0, count)
	for i, c := range s.classes {
		if c != computing {
			continue
		}
		last := int32(i)
		if k := len(n.longest); k > 0 && s.Activities[n.longest[k-1]].End > s.Activities[i].End {
			last = n.longest[k-1]
		}
		n.compute, n.longest = append(n.compute, int32(i)), append(n.longest, last)
	}
	return n
}

// around are the kernel that computed last before the first exposed moment of a span, and the one that computed first
// after its last; "" where there is none.
func (n neighbours) around(s *study, a trace.Span) (after, before string) {
	left := spans{a}.without(s.cover.compute.of.around(a))
	if len(left) == 0 {
		return "", ""
	}
	from, to := left[0].Start, left[len(left)-1].End
	begins := func(i int) int64 { return s.Activities[n.compute[i]].Start }
	if i := sort.Search(len(n.compute), func(i int) bool { return begins(i) > from }); i > 0 {
		after = s.functionName(n.longest[i-1])
	}
	if i := sort.Search(len(n.compute), func(i int) bool { return begins(i) >= to }); i < len(n.compute) {
		before = s.functionName(n.compute[i])
	}
	return after, before
}

// functionName is the function of an activity.
func (s *study) functionName(activity int32) string {
	name := s.Names[s.Activities[activity].Name]
	if f := functionOf(name).String(); f != "" && !s.names[s.Activities[activity].Name].own {
		return f
	}
	return name
}
