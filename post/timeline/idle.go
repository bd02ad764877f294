package timeline

import "busbar/post/trace"

// splitIdle cuts every moment at which nothing runs by why nothing ran, and looks at what ran next for it. Until the
// host launched that, the device had nothing to do and was bound by the host; from then on it waited: for an event, for
// the stream, for the few microseconds that a launch takes. Where several begin together, the one launched first
// counts, as the device could have begun with it. Where the launch is not in the file, the gap is not explained.
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
