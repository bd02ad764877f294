package plot

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The picture's size, which notes add to, and the type sizes in points. At 600 pixels wide a point is about a pixel.
const (
	width, height = 576, 372
	margin        = 14

	titleSize, bodySize, smallSize = 15, 12, 10.5
	lineHeight                     = smallSize * 1.3
)

// layout is a figure with its places on the canvas.
type layout struct {
	Figure
	c        draw.Canvas
	data     draw.Canvas // the area between the axes
	x, y     scale
	labels   []endLabel
	captions []string
	notes    []noteLine
}

// draw puts the whole picture on a canvas.
func (f Figure) draw(c draw.Canvas) {
	l := layout{Figure: f, c: c}
	top := header(c, f.Title, f.Subtitle, f.Rehearsed)
	_, rows := l.noteRows()
	l.place(top - vg.Length(rows)*noteRow)
	l.shades()
	l.grid()
	l.level()
	l.ceilings()
	for _, curve := range f.Curves {
		l.band(curve)
	}
	for _, curve := range f.Curves {
		l.curve(curve)
	}
	l.endLabels()
	l.axes()
	l.footer()
}

// header draws the strip of a rehearsal, title and subtitle, and returns where the rest may begin.
func header(c draw.Canvas, titled string, subtitle []string, rehearsed bool) vg.Length {
	y := c.Max.Y
	if rehearsed {
		const strip = 24
		c.SetColor(alarm)
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: y - strip}, Max: c.Max}.Path())
		white := strong(bodySize, paper)
		white.put(c, c.Center().X, y-strip/2-white.cap()/2, 0.5,
			"SIMULATED: no device was measured; these values are not about hardware")
		y -= strip
	}
	y -= margin
	title := strong(titleSize, ink)
	y -= title.cap()
	title.put(c, c.Min.X+margin, y, 0, titled)
	y -= 3
	sub := regular(smallSize, muted)
	for _, line := range wrap(sub, subtitle, " · ", width-2*margin) {
		y -= sub.face.Font.Size * 1.3
		sub.put(c, c.Min.X+margin, y, 0, line)
	}
	return y - 14
}

// place decides where the axes stand: what the labels on all sides need is taken off first.
func (l *layout) place(top vg.Length) {
	var xs, ys []float64
	for _, c := range l.Curves {
		for _, p := range c.Points {
			xs = append(xs, p.X)
			ys = append(ys, p.Y, p.Hi)
			if p.Lo > 0 {
				ys = append(ys, p.Lo)
			}
		}
	}
	if l.Level != nil {
		ys = append(ys, l.Level.Lo, l.Level.Hi)
	}
	for _, v := range l.Ceilings {
		ys = append(ys, v.At*labelRoom)
	}
	l.y = newScale(l.Y.Unit, ys, 6)

	small := regular(smallSize, muted)
	l.captions = wrap(small, l.Caption, "  ", width-2*margin)
	l.notes = l.noteLines()
	body := regular(bodySize, ink)
	bottom := l.c.Min.Y + margin + vg.Length(len(l.captions))*lineHeight + noteHeight(l.notes) + 2*bodySize*1.5 + 6
	l.labels = newEndLabels(body, l.Curves, top-bottom+bodySize)
	var left, right vg.Length
	for _, t := range l.y.ticks {
		left = max(left, body.width(t.label))
	}
	for _, e := range l.labels {
		right = max(right, e.width(body))
	}
	l.data = draw.Canvas{Canvas: l.c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{
			X: l.c.Min.X + margin + 2*body.cap() + left + 10,
			Y: bottom,
		},
		Max: vg.Point{X: l.c.Max.X - margin - right - labelGap, Y: top},
	}}
	const tick = 3 * bodySize // "32 MiB", and what keeps it apart from the next
	l.x = newScale(l.X.Unit, xs, max(4, min(8, int((l.data.Max.X-l.data.Min.X)/tick))))
}

// at is the place of a value pair on the canvas.
func (l *layout) at(x, y float64) vg.Point {
	return vg.Point{X: l.data.X(l.x.norm(x)), Y: l.data.Y(l.y.norm(y))}
}

// watermark writes the mark of a rehearsal across an area.
func watermark(c draw.Canvas) {
	mid := c.Center()
	strong(58, ghost).putTurned(c, mid.X, mid.Y, math.Pi/9, "SIMULATED")
}

// grid draws the lines behind the curves, and the mark of a rehearsal.
func (l *layout) grid() {
	if l.Rehearsed {
		watermark(l.data)
	}
	if v := l.Level; v != nil {
		l.c.SetColor(same)
		l.c.Fill(vg.Rectangle{Min: vg.Point{X: l.data.Min.X, Y: l.data.Y(l.y.norm(v.Lo))},
			Max: vg.Point{X: l.data.Max.X, Y: l.data.Y(l.y.norm(v.Hi))}}.Path())
	}
	style := draw.LineStyle{Color: rule, Width: vg.Points(0.6)}
	for _, t := range l.y.ticks {
		if y := l.data.Y(l.y.norm(t.value)); t.label != "" {
			l.c.StrokeLine2(style, l.data.Min.X, y, l.data.Max.X, y)
		}
	}
	for _, t := range l.x.ticks {
		if x := l.data.X(l.x.norm(t.value)); t.label != "" {
			l.c.StrokeLine2(style, x, l.data.Min.Y, x, l.data.Max.Y)
		}
	}
}

// level draws the line that curves are seen against.
func (l *layout) level() {
	if v := l.Level; v != nil {
		y := l.data.Y(l.y.norm(v.At))
		l.c.StrokeLine2(draw.LineStyle{Color: muted, Width: vg.Points(0.9)}, l.data.Min.X, y, l.data.Max.X, y)
	}
}

// band fills the interval of a curve, apart from its gaps.
func (l *layout) band(c Curve) {
	for _, part := range c.parts() {
		var outline []vg.Point
		wide := false
		for _, p := range part {
			outline = append(outline, l.at(p.X, p.Hi))
			wide = wide || p.Hi > p.Lo
		}
		for _, p := range slices.Backward(part) {
			outline = append(outline, l.at(p.X, l.low(p)))
		}
		if wide && len(part) > 1 {
			l.c.FillPolygon(c.band(), outline)
		}
	}
}

// low is the lower bound of a point's band, as far as the axis shows it.
func (l *layout) low(p XY) float64 { return max(p.Lo, l.y.min) }

// curve draws the line and its markers; the interval of a point that stands alone becomes a bar.
func (l *layout) curve(c Curve) {
	for _, part := range c.parts() {
		line := make([]vg.Point, len(part))
		for i, p := range part {
			line[i] = l.at(p.X, p.Y)
		}
		if p := part[0]; len(part) == 1 && p.Hi > p.Lo {
			bar := draw.LineStyle{Color: c.line().Color, Width: 1}
			l.c.StrokeLine2(bar, line[0].X, l.at(p.X, l.low(p)).Y, line[0].X, l.at(p.X, p.Hi).Y)
		}
		l.c.StrokeLines(c.line(), line)
		for _, p := range line {
			c.marker().draw(l.c, p, c.line().Color)
		}
	}
}

// axes draws lines, ticks and labels of both axes.
func (l *layout) axes() {
	line := draw.LineStyle{Color: ink, Width: vg.Points(0.8)}
	body := regular(bodySize, ink)
	left, bottom := l.data.Min.X, l.data.Min.Y
	l.c.StrokeLine2(line, left, bottom, l.data.Max.X, bottom)
	l.c.StrokeLine2(line, left, bottom, left, l.data.Max.Y)
	for _, t := range l.x.ticks {
		x := l.data.X(l.x.norm(t.value))
		l.c.StrokeLine2(line, x, bottom, x, bottom-tickLength(t))
		body.put(l.c, x, bottom-7-body.cap(), 0.5, t.label)
	}
	for _, t := range l.y.ticks {
		y := l.data.Y(l.y.norm(t.value))
		l.c.StrokeLine2(line, left-tickLength(t), y, left, y)
		body.put(l.c, left-7, y-body.cap()/2, 1, t.label)
	}
	label := regular(bodySize, muted)
	label.put(l.c, l.data.Center().X, bottom-12-2*body.cap()-5, 0.5, l.X.Label)
	label.putTurned(l.c, l.c.Min.X+margin+body.cap()/2, l.data.Center().Y, math.Pi/2, l.Y.Label)
}

func tickLength(t tick) vg.Length {
	if t.label == "" {
		return 2
	}
	return 4.5
}

// footer writes the caption.
func (l *layout) footer() {
	small := regular(smallSize, muted)
	for i, line := range l.captions {
		y := l.c.Min.Y + margin + noteHeight(l.notes) + vg.Length(len(l.captions)-1-i)*lineHeight
		small.put(l.c, l.c.Min.X+margin, y, 0, line)
	}
	l.writeNotes()
}

// wrap joins parts into lines no wider than the width; a part that is too wide on its own is shortened.
func wrap(p pen, parts []string, separator string, width vg.Length) []string {
	var lines []string
	for _, part := range parts {
		part = shorten(p, part, width)
		if n := len(lines); n > 0 && p.width(lines[n-1]+separator+part) <= width {
			lines[n-1] += separator + part
			continue
		}
		lines = append(lines, part)
	}
	return lines
}

// shorten cuts a text that is too wide and puts an ellipsis in the place.
func shorten(p pen, s string, width vg.Length) string {
	if p.width(s) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 1 && p.width(string(r)+"…") > width {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}
