package timeline

import (
	"cmp"
	"slices"

	"busbar/post/trace"
)

// spans is a set of times: sorted, disjoint, non-empty, non-adjacent spans. Lengths are whole nanoseconds, so that
// parts add up exactly.
type spans []trace.Span

// with adds a span whose start is not before the last one's.
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

// length returns the total length.
func (s spans) length() (sum int64) {
	for _, a := range s {
		sum += a.End - a.Start
	}
	return sum
}

// measure returns a function for the length of the set within a span, by binary search.
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

// before returns the length of the set before a time.
func (m measure) before(t int64) int64 {
	i, _ := slices.BinarySearchFunc(m.of, t, func(a trace.Span, t int64) int { return cmp.Compare(a.Start, t) })
	if i == 0 {
		return 0
	}
	return m.until[i] - max(0, m.of[i-1].End-t)
}

// in returns the length of the set within a span.
func (m measure) in(a trace.Span) int64 {
	if a.End <= a.Start {
		return 0
	}
	return m.before(a.End) - m.before(a.Start)
}
