package timeline

import (
	"cmp"
	"slices"
	"sort"

	"busbar/post/trace"
)

// spans is a set of moments: spans in order that neither touch nor overlap, and none of which is empty. Lengths are
// whole nanoseconds, so that what is cut in parts adds up exactly.
type spans []trace.Span

// with adds a span that begins no earlier than the last one.
func (s spans) with(a trace.Span) spans {
	if a.End <= a.Start {
		return s
	}
	if n := len(s); n > 0 && a.Start <= s[n-1].End {
		s[n-1].End = max(s[n-1].End, a.End)
		return s
	}
	return append(s, a)
}

// length is how long all of it is.
func (s spans) length() (sum int64) {
	for _, a := range s {
		sum += a.End - a.Start
	}
	return sum
}

// or is what is in either.
func (s spans) or(o spans) spans {
	if len(o) == 0 {
		return s
	}
	both := make(spans, 0, max(len(s), len(o)))
	for len(s) > 0 || len(o) > 0 {
		if len(o) == 0 || len(s) > 0 && s[0].Start <= o[0].Start {
			both, s = both.with(s[0]), s[1:]
		} else {
			both, o = both.with(o[0]), o[1:]
		}
	}
	return both
}

// and is what is in both.
func (s spans) and(o spans) (both spans) {
	for len(s) > 0 && len(o) > 0 {
		both = both.with(trace.Span{Start: max(s[0].Start, o[0].Start), End: min(s[0].End, o[0].End)})
		if s[0].End <= o[0].End {
			s = s[1:]
		} else {
			o = o[1:]
		}
	}
	return both
}

// without is what is in s and not in o.
func (s spans) without(o spans) spans {
	rest := make(spans, 0, len(s))
	if len(s) == 1 {
		rest = make(spans, 0, len(o)+1) // the gaps of a long span, which are many
	}
	for _, a := range s {
		for len(o) > 0 && o[0].End <= a.Start {
			o = o[1:]
		}
		from := a.Start
		for _, cut := range o {
			if cut.Start >= a.End {
				break
			}
			rest = rest.with(trace.Span{Start: from, End: cut.Start})
			from = cut.End
		}
		rest = rest.with(trace.Span{Start: from, End: a.End})
	}
	return rest
}

// measure answers how much of a span is in a set, in the time of a binary search.
type measure struct {
	of    spans
	until []int64 // until[i] is the length of the first i spans
}

func (s spans) measure() measure {
	m := measure{of: s, until: make([]int64, len(s)+1)}
	for i, a := range s {
		m.until[i+1] = m.until[i] + a.End - a.Start
	}
	return m
}

// before is how much of the set comes before a moment.
func (m measure) before(t int64) int64 {
	i, _ := slices.BinarySearchFunc(m.of, t, func(a trace.Span, t int64) int { return cmp.Compare(a.Start, t) })
	if i == 0 {
		return 0
	}
	return m.until[i] - max(0, m.of[i-1].End-t)
}

// in is how much of the set is in a span.
func (m measure) in(a trace.Span) int64 {
	if a.End <= a.Start {
		return 0
	}
	return m.before(a.End) - m.before(a.Start)
}

// around is what of a set touches a span.
func (s spans) around(a trace.Span) spans {
	from := sort.Search(len(s), func(i int) bool { return s[i].End > a.Start })
	to := sort.Search(len(s), func(i int) bool { return s[i].Start >= a.End })
	return s[from:max(from, to)]
}
