package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// marker is a regular polygon (a disc where corners is 0) standing on a corner or a side, filled or hollow.
type marker struct {
	corners int
	turn    float64 // of the first corner, in radians
	hollow  bool
}

var markers = []marker{
	{0, 0, false}, {4, math.Pi / 4, false}, {3, math.Pi / 2, false}, {4, 0, false}, {3, -math.Pi / 2, false},
	{0, 0, true}, {4, math.Pi / 4, true}, {3, math.Pi / 2, true}, {4, 0, true},
}

// draw puts the marker at a place; hollow ones hide the line behind them.
func (m marker) draw(c draw.Canvas, at vg.Point, line color.Color) {
	const radius = 2.8
	var path vg.Path
	if m.corners == 0 {
		path.Move(vg.Point{X: at.X + radius, Y: at.Y})
		path.Arc(at, radius, 0, 2*math.Pi)
	}
	for i := range m.corners {
		angle := m.turn + 2*math.Pi*float64(i)/float64(m.corners)
		corner := at.Add(vg.Point{X: radius * 1.2 * vg.Length(math.Cos(angle)), Y: radius * 1.2 * vg.Length(math.Sin(angle))})
		if i == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
	fill := line
	if m.hollow {
		fill = paper
	}
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: line, Width: vg.Points(1)})
	c.Stroke(path)
}
