package timeline

import "busbar/post/trace"

// splitIdle divides idle time by its cause, from the next activity: until its launch, the device is host-bound; after
// it, it waits for an event, the stream, or the few microseconds of a launch. If several begin together, the one
// launched first counts. Without a launch in the file, the gap is unexplained.
func splitIdle(d *trace.Device) (hostBound, waiting, unexplained spans) {
	busyUntil := d.Activities[0].Start
	for i := 0; i < len(d.Activities); {
		start := d.Activities[i].Start
		launch, end := int64(trace.NoTime), start
		for ; i < len(d.Activities) && d.Activities[i].Start == start; i++ {
			a := &d.Activities[i]
			if a.Launch != trace.NoTime && (launch == trace.NoTime || a.Launch < launch) {
				launch = a.Launch
			}
			end = max(end, a.End)
		}
		if start > busyUntil {
			gap := trace.Span{Start: busyUntil, End: start}
			if launch == trace.NoTime {
				unexplained = unexplained.with(gap)
			} else {
				launched := min(max(launch, gap.Start), gap.End)
				hostBound = hostBound.with(trace.Span{Start: gap.Start, End: launched})
				waiting = waiting.with(trace.Span{Start: launched, End: gap.End})
			}
		}
		busyUntil = max(busyUntil, end)
	}
	return hostBound, waiting, unexplained
}
