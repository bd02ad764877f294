package timeline

import (
	"fmt"

	"busbar/post/trace"
)

// cover says when a device did what, as sets that can be asked for any window of time. The sets of one group are made
// apart from each other, so that what they add up to is a check of them.
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
	var count [copying + 1]int
	for _, class := range classes {
		count[class]++
	}
	var running [copying + 1]spans
	for class, n := range count {
		running[class] = make(spans, 0, n)
	}
	c := cover{whole: trace.Span{Start: d.Activities[0].Start, End: d.Activities[0].End}}
	for i := range d.Activities {
		a := &d.Activities[i]
		running[classes[i]] = running[classes[i]].with(trace.Span{Start: a.Start, End: a.End})
		c.whole.End = max(c.whole.End, a.End)
	}
	compute, comm, copies := running[computing], running[communicating], running[copying]
	kernels := compute.or(comm)
	idle := spans{c.whole}.without(kernels.or(copies))
	if c.whole.End == c.whole.Start {
		idle = nil
	}
	c.compute, c.comm, c.copies = compute.measure(), comm.measure(), copies.measure()
	c.overlap, c.exposed = compute.and(comm).measure(), comm.without(compute).measure()
	c.copyOnly = copies.without(kernels).measure()
	c.idle = idle.measure()
	hostBound, waiting, unexplained := splitIdle(d, len(idle))
	c.hostBound, c.waiting, c.unexplained = hostBound.measure(), waiting.measure(), unexplained.measure()
	return c
}

// parts are the times within a window. An error is a fault of this program: the parts do not make the whole.
func (c *cover) parts(w trace.Span) (Parts, error) {
	var (
		span                     = w.End - w.Start
		compute, comm            = c.compute.in(w), c.comm.in(w)
		overlap, exposed         = c.overlap.in(w), c.exposed.in(w)
		copyOnly, idle           = c.copyOnly.in(w), c.idle.in(w)
		host, waiting, unexplain = c.hostBound.in(w), c.waiting.in(w), c.unexplained.in(w)
	)
	switch {
	case compute+exposed+copyOnly+idle != span:
		return Parts{}, fmt.Errorf("compute %d + exposed %d + copies alone %d + idle %d ns do not make the span of %d ns",
			compute, exposed, copyOnly, idle, span)
	case overlap+exposed != comm:
		return Parts{}, fmt.Errorf("overlap %d + exposed %d ns do not make the communication of %d ns", overlap, exposed,
			comm)
	case host+waiting+unexplain != idle:
		return Parts{}, fmt.Errorf("host-bound %d + waiting %d + unexplained %d ns do not make the idle time of %d ns", host,
			waiting, unexplain, idle)
	}
	return Parts{
		Span: milliseconds(span), Compute: milliseconds(compute), Comm: milliseconds(comm), Overlap: milliseconds(overlap),
		Exposed: milliseconds(exposed),
		Memcpy:  milliseconds(c.copies.in(w)), MemcpyOnly: milliseconds(copyOnly),
		Idle: milliseconds(idle), HostBound: milliseconds(host), Waiting: milliseconds(waiting),
		Unexplained: milliseconds(unexplain),
	}, nil
}
