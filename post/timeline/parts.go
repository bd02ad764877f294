package timeline

import (
	"busbar/internal/stats"
	"busbar/post/trace"
)

// cover is when a device did what, as sets with a length in any window of time.
type cover struct {
	whole trace.Span // from its first activity to the end of its last

	compute, comm, copies measure // what runs: they overlap each other
	// of communication, hidden and not, and of copies, what neither computing nor communication hides
	overlap, exposed, copyOnly measure
	idle                       measure

	hostBound, waiting, unexplained measure // of idle
}

// newCover takes the activities by their beginning.
func newCover(d *trace.Device, classes []class) cover {
	var running [copying + 1]spans
	c := cover{whole: trace.Span{Start: d.Activities[0].Start, End: d.Activities[0].End}}
	for i := range d.Activities {
		a := &d.Activities[i]
		running[classes[i]] = running[classes[i]].with(trace.Span{Start: a.Start, End: a.End})
		c.whole.End = max(c.whole.End, a.End)
	}
	var overlap, exposed, copyOnly, idle spans
	sweep(c.whole, running, func(now trace.Span, runs [copying + 1]bool) {
		switch {
		case runs[communicating] && runs[computing]:
			overlap = overlap.with(now)
		case runs[communicating]:
			exposed = exposed.with(now)
		case runs[computing]:
		case runs[copying]:
			copyOnly = copyOnly.with(now)
		default:
			idle = idle.with(now)
		}
	})
	c.compute, c.comm = running[computing].measure(), running[communicating].measure()
	c.copies, c.copyOnly = running[copying].measure(), copyOnly.measure()
	c.overlap, c.exposed, c.idle = overlap.measure(), exposed.measure(), idle.measure()
	hostBound, waiting, unexplained := splitIdle(d)
	c.hostBound, c.waiting, c.unexplained = hostBound.measure(), waiting.measure(), unexplained.measure()
	return c
}

// sweep cuts a span where any of the sets begins or ends, and hands on which of them run in each part.
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

// parts are the times within a window.
func (c *cover) parts(w trace.Span) Parts {
	in := func(m measure) float64 { return milliseconds(m.in(w)) }
	p := Parts{
		Span: milliseconds(w.End - w.Start), Compute: in(c.compute), Comm: in(c.comm), Overlap: in(c.overlap),
		Exposed: in(c.exposed), Memcpy: in(c.copies), MemcpyOnly: in(c.copyOnly),
		Idle: in(c.idle), HostBound: in(c.hostBound), Waiting: in(c.waiting), Unexplained: in(c.unexplained),
	}
	if p.Comm > 0 {
		p.Efficiency = new(100 * p.Overlap / p.Comm)
		p.WallClock = new(100 * stats.WallClockOverlap(p.Compute, p.Comm, p.Span))
	}
	return p
}
