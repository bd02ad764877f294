package step

import (
	"cmp"
	"slices"

	"busbar/internal/program"
)

// Intervals are one rank's times inside one step, in nanoseconds: lengths of unions, by the rules of docs/timeline.md,
// so that they are what post timeline finds in the trace of the step. Compute + Exposed + Idle is Span, and Overlap +
// Exposed is Comm.
type Intervals struct {
	Span    int64 // from the beginning of the first segment or operation to the end of the last
	Compute int64 // a segment ran
	Comm    int64 // at least one operation was on its way
	Overlap int64 // of Comm, while a segment ran
	Exposed int64 // of Comm, while none ran
	Idle    int64 // neither
}

// IntervalsOf are the intervals of a run in any mode.
func IntervalsOf(s program.Spans) Intervals {
	compute, comm := union(s.Segments), union(s.Ops)
	all := union(slices.Concat(s.Segments, s.Ops))
	i := Intervals{Compute: length(compute), Comm: length(comm)}
	if len(all) > 0 {
		i.Span = all[len(all)-1].End - all[0].Start
	}
	i.Overlap = i.Compute + i.Comm - length(all)
	i.Exposed = i.Comm - i.Overlap
	i.Idle = i.Span - length(all)
	return i
}

// ran reports whether a segment or an operation was part of the run: one that its mode leaves out has the zero Span.
func ran(s program.Span) bool { return s != program.Span{} }

// whole is a span whose end is not before its beginning: two readings of a device's clock may differ by less than it
// resolves.
func whole(s program.Span) program.Span {
	return program.Span{Start: s.Start, End: max(s.Start, s.End)}
}

// union is what spans cover, in order and apart from each other.
func union(spans []program.Span) (covered []program.Span) {
	sorted := make([]program.Span, 0, len(spans))
	for _, s := range spans {
		if ran(s) {
			sorted = append(sorted, whole(s))
		}
	}
	slices.SortFunc(sorted, func(a, b program.Span) int { return cmp.Compare(a.Start, b.Start) })
	for _, s := range sorted {
		if n := len(covered); n > 0 && s.Start <= covered[n-1].End {
			covered[n-1].End = max(covered[n-1].End, s.End)
			continue
		}
		covered = append(covered, s)
	}
	return covered
}

func length(spans []program.Span) (sum int64) {
	for _, s := range spans {
		sum += s.End - s.Start
	}
	return sum
}
