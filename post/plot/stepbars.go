package plot

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/step"
	"busbar/post/steps"
)

// StepBars is a picture of what buckets do to a training step: a panel for each group of points, and in it a bar for
// each bucket.
type StepBars struct {
	Name      string // file name without extension
	Title     string
	Subtitle  []string
	Caption   []string
	Panels    []StepPanel
	Rehearsed bool
}

// StepPanel is one group: all but the bucket is the same.
type StepPanel struct {
	Title string
	Bars  []StepBar
}

// StepBar is one bucket: the times of its step in seconds.
type StepBar struct {
	Label, Under string // the cap, and what it makes
	Compute      step.Figure
	Comm         step.Figure
	Sequential   step.Figure
	Overlapped   step.Figure
	// above the bar: "best", "smallest" where no other is significantly slower, or "≈" without a significant difference
	Mark string
}

const (
	panelTitle, panelFoot = 20, 44
	onePanel, eachPanel   = 210, 150 // heights of the area between the axes
)

func (b StepBars) panelHeight() vg.Length {
	if len(b.Panels) == 1 {
		return onePanel
	}
	return eachPanel
}

func (b StepBars) height() vg.Length {
	h := headHeight(b.Subtitle, b.Rehearsed) + vg.Length(len(legendRows(barKeys)))*keyRow + 10
	h += vg.Length(len(b.Panels)) * (panelTitle + b.panelHeight() + panelFoot)
	return h + bodySize*1.4 + vg.Length(len(captionLines(b.Caption)))*lineHeight + margin
}

// WritePNG draws the picture as a PNG, 1600 pixels wide. The error is w's.
func (b StepBars) WritePNG(w io.Writer) error { return writePNG(w, b.height(), b.draw) }

// WriteSVG draws the picture as an SVG. The error is w's.
func (b StepBars) WriteSVG(w io.Writer) error { return writeSVG(w, b.height(), b.draw) }

var barKeys = []legendKey{
	{filled(computeFill), "computing"},
	{filled(hiddenFill), "communication hidden behind computing"},
	{striped, "exposed communication"},
	{func(c draw.Canvas, r vg.Rectangle) {
		mid := (r.Min.X + r.Max.X) / 2
		box(c, vg.Rectangle{Min: r.Min, Max: vg.Point{X: mid, Y: r.Max.Y}}, paleCompute)
		box(c, vg.Rectangle{Min: vg.Point{X: mid, Y: r.Min.Y}, Max: r.Max}, paleComm)
	}, "one after the other: computing, then communication"},
}

func (b StepBars) draw(c draw.Canvas) {
	top := legend(c, header(c, b.Title, b.Subtitle, b.Rehearsed), barKeys)
	y := msScale(longestStep(b.Panels) * 1.09) // for the marks
	for _, p := range b.Panels {
		b.panel(c, top, y, p)
		top -= panelTitle + b.panelHeight() + panelFoot
	}
	label := regular(bodySize, muted)
	label.put(c, c.Center().X, top-label.cap()+6, 0.5,
		"size at which a bucket is full, and how many operations that makes")
	captioned(c, b.Caption)
}

// msScale is a linear axis of milliseconds from 0.
func msScale(seconds float64) scale {
	return scale{min: 0, max: seconds * 1e3, ticks: linearTicks(seconds*1e3, 5)}
}

func (b StepBars) panel(c draw.Canvas, top vg.Length, y scale, p StepPanel) {
	body, small := regular(bodySize, ink), regular(smallSize, muted)
	left := c.Min.X + margin
	title := strong(bodySize, ink)
	title.put(c, left, top-title.cap(), 0, shorten(title, p.Title, width-2*margin))
	for _, t := range y.ticks {
		left = max(left, c.Min.X+margin+body.width(t.label)+2*body.cap()+10)
	}
	data := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: left, Y: top - panelTitle - b.panelHeight()},
		Max: vg.Point{X: c.Max.X - margin, Y: top - panelTitle},
	}}
	if b.Rehearsed {
		watermark(data)
	}
	msAxis(c, data, y)
	slot := (data.Max.X - data.Min.X) / vg.Length(len(p.Bars))
	for i, bar := range p.Bars {
		middle := data.Min.X + slot*(vg.Length(i)+0.5)
		bar.draw(data, y, middle, min(slot, 110))
		body.put(c, middle, data.Min.Y-5-body.cap(), 0.5, shorten(body, bar.Label, slot-2))
		small.put(c, middle, data.Min.Y-7-2*body.cap()-2, 0.5, shorten(small, bar.Under, slot-2))
	}
	line := draw.LineStyle{Color: ink, Width: vg.Points(0.8)}
	c.StrokeLine2(line, data.Min.X, data.Min.Y, data.Max.X, data.Min.Y)
}

// msAxis draws the grid and the ticks of an axis of milliseconds.
func msAxis(c, data draw.Canvas, y scale) {
	body := regular(bodySize, ink)
	for _, t := range y.ticks {
		at := data.Y(y.norm(t.value))
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: vg.Points(0.6)}, data.Min.X, at, data.Max.X, at)
		body.put(c, data.Min.X-6, at-body.cap()/2, 1, t.label)
	}
	regular(bodySize, muted).putTurned(c, c.Min.X+margin+body.cap()/2, data.Center().Y, math.Pi/2, "time of a step (ms)")
}

// draw draws the overlapped step as a bar of its parts, and beside it, pale, what one after the other takes.
func (b StepBar) draw(data draw.Canvas, y scale, middle, slot vg.Length) {
	at := func(seconds float64) vg.Length { return data.Y(y.norm(seconds * 1e3)) }
	left, mid, right := middle-slot*0.36, middle+slot*0.1, middle+slot*0.36
	part := func(from, to vg.Length, low, high float64) vg.Rectangle {
		return vg.Rectangle{Min: vg.Point{X: from, Y: at(low)}, Max: vg.Point{X: to, Y: at(high)}}
	}
	compute := min(b.Compute.Value, b.Sequential.Value)
	box(data, part(mid+2, right, 0, compute), paleCompute)
	box(data, part(mid+2, right, compute, b.Sequential.Value), paleComm)
	parts := steps.PartsOf(b.Compute.Value, b.Comm.Value, b.Overlapped.Value)
	box(data, part(left, mid, 0, parts.Computing), computeFill)
	box(data, part(left, mid, parts.Computing, parts.Computing+parts.Hidden), hiddenFill)
	if parts.Exposed > 0 {
		striped(data, part(left, mid, parts.Computing+parts.Hidden, b.Overlapped.Value))
	}
	whisker(data, (left+mid)/2, at, b.Overlapped, ink)
	whisker(data, (mid+2+right)/2, at, b.Sequential, muted)
	if b.Mark != "" {
		p := strong(smallSize, ink)
		p.put(data, (left+mid)/2, at(max(b.Overlapped.Hi, b.Overlapped.Value))+3, 0.5, b.Mark)
	}
}

// whisker draws an interval, where there is one.
func whisker(c draw.Canvas, x vg.Length, at func(float64) vg.Length, f step.Figure, tint color.Color) {
	if f.Hi <= f.Lo {
		return
	}
	style := draw.LineStyle{Color: tint, Width: vg.Points(1)}
	lo, hi := at(f.Lo), at(f.Hi)
	c.StrokeLine2(style, x, lo, x, hi)
	c.StrokeLine2(style, x-3, lo, x+3, lo)
	c.StrokeLine2(style, x-3, hi, x+3, hi)
}
