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
	compute, comm, copies := running[computing], running[communicating], running[copying]
	kernels := compute.or(comm)
	c.compute, c.comm, c.copies = compute.measure(), comm.measure(), copies.measure()
	c.overlap, c.exposed = compute.and(comm).measure(), comm.without(compute).measure()
	c.copyOnly = copies.without(kernels).measure()
	c.idle = spans{c.whole}.without(kernels.or(copies)).measure()
	hostBound, waiting, unexplained := splitIdle(d)
	c.hostBound, c.waiting, c.unexplained = hostBound.measure(), waiting.measure(), unexplained.measure()
	return c
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
