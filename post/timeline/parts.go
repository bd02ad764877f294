package timeline

import (
	"busbar/internal/stats"
	"busbar/post/trace"
)

// The sets of a cover: one per class of activities, which may overlap, then the derived ones.
const (
	overlapSet  = copying + 1 + iota // communication while something computes
	exposedSet                       // communication while nothing computes
	copyOnlySet                      // copies while there is neither compute nor communication
	idleSet
	hostBoundSet // part of idle, as are the next two
	waitingSet
	unexplainedSet
	allSets
)

// cover is a device's activity, as sets whose length in any time window is fast to compute.
type cover struct {
	whole trace.Span // from the first activity to the last end
	sets  [allSets]measure
}

// newCover expects activities sorted by start.
func newCover(d *trace.Device, classes []class) cover {
	var sets [allSets]spans
	c := cover{whole: trace.Span{Start: d.Activities[0].Start, End: d.Activities[0].End}}
	for i := range d.Activities {
		a := &d.Activities[i]
		sets[classes[i]] = sets[classes[i]].with(trace.Span{Start: a.Start, End: a.End})
		c.whole.End = max(c.whole.End, a.End)
	}
	sweep(c.whole, [copying + 1]spans(sets[:]), func(now trace.Span, runs [copying + 1]bool) {
		in := idleSet
		switch {
		case runs[communicating] && runs[computing]:
			in = overlapSet
		case runs[communicating]:
			in = exposedSet
		case runs[computing]:
			return
		case runs[copying]:
			in = copyOnlySet
		}
		sets[in] = sets[in].with(now)
	})
	sets[hostBoundSet], sets[waitingSet], sets[unexplainedSet] = splitIdle(d)
	for i, s := range sets {
		c.sets[i] = s.measure()
	}
	return c
}

// sweep divides a span wherever a set begins or ends, and calls a function with the active sets of each piece.
func sweep(whole trace.Span, sets [copying + 1]spans, part func(trace.Span, [copying + 1]bool)) {
	for now := whole; now.Start < whole.End; now = (trace.Span{Start: now.End, End: whole.End}) {
		var runs [copying + 1]bool
		for i, s := range sets {
			if len(s) > 0 && s[0].End <= now.Start {
				s = s[1:]
				sets[i] = s
			}
			switch {
			case len(s) == 0:
			case s[0].Start <= now.Start:
				runs[i], now.End = true, min(now.End, s[0].End)
			default:
				now.End = min(now.End, s[0].Start)
			}
		}
		part(now, runs)
	}
}

// parts returns the times within a window.
func (c *cover) parts(w trace.Span) Parts {
	in := func(set class) float64 { return milliseconds(c.sets[set].in(w)) }
	p := Parts{
		Span: milliseconds(w.End - w.Start), Compute: in(computing), Comm: in(communicating), Overlap: in(overlapSet),
		Exposed: in(exposedSet), Memcpy: in(copying), MemcpyOnly: in(copyOnlySet), Idle: in(idleSet),
		HostBound: in(hostBoundSet), Waiting: in(waitingSet), Unexplained: in(unexplainedSet),
	}
	if p.Comm > 0 {
		p.Efficiency = new(100 * p.Overlap / p.Comm)
		p.WallClock = new(100 * stats.WallClockOverlap(p.Compute, p.Comm, p.Span))
	}
	return p
}
