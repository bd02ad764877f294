package plot

import (
	"image/color"
	"io"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/result"
	"busbar/post/steps"
)

// StepLanes is a picture of single steps over time: of each a row of computing and one of communication.
type StepLanes struct {
	Name      string // file name without extension
	Title     string
	Subtitle  []string
	Caption   []string
	Rows      []StepRow
	Rehearsed bool
}

// StepRow is one step.
type StepRow struct {
	Title string
	*result.StepTimeline
}

const (
	computeLane, commLane = 22, 46
	laneRow               = panelTitle + computeLane + 4 + commLane + 16
	laneNames             = 86
)

func (l StepLanes) height() vg.Length {
	h := headHeight(l.Subtitle, l.Rehearsed) + vg.Length(len(legendRows(l.keys())))*keyRow + 10
	return h + vg.Length(len(l.Rows))*laneRow + 3*bodySize + vg.Length(len(captionLines(l.Caption)))*lineHeight + margin
}

// WritePNG draws the picture as a PNG, 1600 pixels wide. The error is w's.
func (l StepLanes) WritePNG(w io.Writer) error { return writePNG(w, l.height(), l.draw) }

// WriteSVG draws the picture as an SVG. The error is w's.
func (l StepLanes) WriteSVG(w io.Writer) error { return writeSVG(w, l.height(), l.draw) }

// workFills are the colours of segments by what they stand for.
var workFills = []struct {
	work string
	fill color.Color
}{{"forward", forwardFill}, {"backward", computeFill}, {"optimizer", optimizeFill}}

func workFill(work string) color.Color {
	for _, w := range workFills {
		if w.work == work {
			return w.fill
		}
	}
	return computeFill
}

// keys are those of the kinds of work that there are, and of communication.
func (l StepLanes) keys() (keys []legendKey) {
	for _, w := range workFills {
		if slices.ContainsFunc(l.Rows, func(r StepRow) bool {
			return slices.ContainsFunc(r.Segments, func(s result.StepSpan) bool { return s.Work == w.work })
		}) {
			keys = append(keys, legendKey{filled(w.fill), w.work})
		}
	}
	return append(keys, legendKey{filled(hiddenFill), "communication, hidden"},
		legendKey{striped, "communication, exposed"})
}

func (l StepLanes) draw(c draw.Canvas) {
	top := legend(c, header(c, l.Title, l.Subtitle, l.Rehearsed), l.keys())
	longest := 0.0
	for _, r := range l.Rows {
		longest = max(longest, r.Span)
	}
	x := scale{min: 0, max: longest * 1e3, ticks: linearTicks(longest*1e3, 6)}
	data := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: c.Min.X + margin + laneNames, Y: top - vg.Length(len(l.Rows))*laneRow},
		Max: vg.Point{X: c.Max.X - margin - 8, Y: top},
	}}
	if l.Rehearsed {
		watermark(data)
	}
	body := regular(bodySize, ink)
	for _, t := range x.ticks {
		body.put(c, data.X(x.norm(t.value)), data.Min.Y-4-body.cap(), 0.5, t.label)
	}
	regular(bodySize, muted).put(c, data.Center().X, data.Min.Y-8-2.4*body.cap(), 0.5,
		"time from the beginning of the step (ms)")
	for _, r := range l.Rows {
		r.draw(c, data, x, top)
		top -= laneRow
	}
	captioned(c, l.Caption)
}

func (r StepRow) draw(c, data draw.Canvas, x scale, top vg.Length) {
	title, small := strong(bodySize, ink), regular(smallSize, muted)
	title.put(c, c.Min.X+margin, top-title.cap(), 0, shorten(title, r.Title, width-2*margin))
	at := func(seconds float64) vg.Length { return data.X(x.norm(seconds * 1e3)) }
	high := top - panelTitle
	for _, t := range x.ticks {
		c.StrokeLine2(draw.LineStyle{Color: rule, Width: vg.Points(0.6)}, at(t.value/1e3), top-laneRow+6, at(t.value/1e3),
			high+3)
	}
	low := high - computeLane
	small.put(c, c.Min.X+margin, (high+low)/2-small.cap()/2, 0, "computing")
	for _, s := range r.Segments {
		lane := vg.Rectangle{Min: vg.Point{X: at(s.Start), Y: low}, Max: vg.Point{X: at(s.End), Y: high}}
		box(c, lane, workFill(s.Work))
		named(c, lane, regular(smallSize, ink), s.Name, s.Work)
		if lane.Max.X-lane.Min.X > 3 {
			c.StrokeLine2(draw.LineStyle{Color: paper, Width: vg.Points(0.8)}, lane.Max.X, low, lane.Max.X, high)
		}
	}
	high = low - 4
	low = high - commLane
	small.put(c, c.Min.X+margin, (high+low)/2-small.cap()/2, 0, "communication")
	laid, lanes := steps.Lay(r.Ops)
	for _, op := range laid {
		each := commLane / vg.Length(lanes)
		lane := vg.Rectangle{Min: vg.Point{X: at(op.Start), Y: high - vg.Length(op.Lane+1)*each},
			Max: vg.Point{X: at(op.End), Y: high - vg.Length(op.Lane)*each}}
		if each > 5 {
			lane.Min.Y++
		}
		box(c, lane, hiddenFill)
		for _, part := range steps.ExposedParts(op.StepSpan, r.Segments) {
			striped(c, vg.Rectangle{Min: vg.Point{X: at(part[0]), Y: lane.Min.Y}, Max: vg.Point{X: at(part[1]), Y: lane.Max.Y}})
		}
		if lane.Max.X-lane.Min.X > 3 {
			c.StrokeLine2(draw.LineStyle{Color: paper, Width: vg.Points(0.8)}, lane.Max.X, lane.Min.Y, lane.Max.X, lane.Max.Y)
		}
		number(c, lane, op.Number)
	}
	end := at(r.Span)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(1)}, end, low-3, end, top-panelTitle+3)
}

// named writes the longest of names that fits a box; none where none does.
func named(c draw.Canvas, lane vg.Rectangle, p pen, names ...string) {
	for _, name := range names {
		if p.width(name)+6 < lane.Max.X-lane.Min.X && name != "" {
			p.put(c, (lane.Min.X+lane.Max.X)/2, (lane.Min.Y+lane.Max.Y)/2-p.cap()/2, 0.5, name)
			return
		}
	}
}

// number writes which bucket a box is, on a plate of its own, since a box may be striped; not where it does not fit.
func number(c draw.Canvas, lane vg.Rectangle, n int) {
	size := min(smallSize, float64(lane.Max.Y-lane.Min.Y)-1)
	text, p := strconv.Itoa(n), strong(size, ink)
	if wide := p.width(text) + 4; size < 6 || wide+2 > lane.Max.X-lane.Min.X {
		return
	}
	x, y, half := (lane.Min.X+lane.Max.X)/2, (lane.Min.Y+lane.Max.Y)/2, p.width(text)/2+2
	high := p.cap()/2 + 1.5
	box(c, vg.Rectangle{Min: vg.Point{X: x - half, Y: y - high}, Max: vg.Point{X: x + half, Y: y + high}}, paper)
	p.put(c, x, y-p.cap()/2, 0.5, text)
}
