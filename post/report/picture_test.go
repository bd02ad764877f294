package report

import "busbar/post/timeline"

// busy draws a GPU of so many ms: in each of its steps it computes, communicates hidden and then exposed, copies, and idles; cells are so many for each step.
func busy(row *Row, t *timeline.Timeline, cells int) {
	d := &t.Devices[row.Device]
	whole := timeline.Strip{Step: -1, Span: d.Span}
	for n, s := range d.Steps {
		strip := timeline.Strip{Step: n, Start: s.Start, Span: s.Span}
		put := func(state timeline.State, share float64) {
			run := timeline.Run{Cells: uint16(share * float64(cells)), State: state}
			strip.Runs = append(strip.Runs, run)
			strip.Cells += int(run.Cells)
		}
		for range 5 {
			put(timeline.Computing, 0.08+0.005*float64(row.Device%4))
			put(timeline.Overlapped, 0.03)
		}
		put(timeline.ExposedComm, 0.25-0.025*float64(row.Device%4))
		put(timeline.Idle, 0.05)
		put(timeline.Copying, 0.04)
		put(timeline.Idle, 0.05)
		whole.Cells += strip.Cells
		whole.Runs = append(whole.Runs, strip.Runs...)
		made, _ := stripOf(strip, 1<<20)
		row.Strips = append(row.Strips, made)
		each := s.Span / float64(strip.Cells)
		at := s.Start
		for _, r := range strip.Runs {
			took := each * float64(r.Cells)
			switch r.State {
			case timeline.Overlapped:
				row.Calls = append(row.Calls, Box{millis(at), millis(took), 0, 0, millis(n), 20})
			case timeline.ExposedComm:
				for part := range 3 { // three that overlap
					late := took * float64(part) / 4
					row.Calls = append(row.Calls, Box{millis(at + late), millis(took - late), millis(took - late), 1, millis(n), millis(20 + part)})
				}
			}
			at += took
		}
	}
	if len(d.Steps) == 0 {
		whole.Cells, whole.Runs = cells, []timeline.Run{{Cells: uint16(cells * 4 / 5), State: timeline.Computing}, {Cells: uint16(cells / 5), State: timeline.Idle}}
	}
	made, _ := stripOf(whole, 1<<20)
	row.Strips = append([]StripOnRow{made}, row.Strips...)
}

// drawnReport is a report about a timeline whose GPUs are all drawn.
func drawnReport(t *timeline.Timeline, cells int) *Report {
	r := OfTimeline(t, timelineOptions)
	p := &r.Timeline.Picture
	p.Names = []string{"all_reduce 25 MiB", "all_reduce 7.82 MiB"}
	for i := range p.Rows {
		p.Rows[i].Strips, p.Rows[i].Calls = nil, nil
		busy(&p.Rows[i], t, cells)
	}
	return r
}
