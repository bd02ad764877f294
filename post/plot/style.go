package plot

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/units"
)

// palette is Okabe and Ito's (2008, "Color Universal Design") without its yellow, which is too pale for lines on
// white; a grey and Tol's wine make it nine. Dashes and markers tell the curves apart in grey print.
var palette = []color.RGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermillion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x00, 0x00, 0x00, 0xFF}, // black
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x76, 0x76, 0x76, 0xFF}, // grey
	{0x88, 0x22, 0x55, 0xFF}, // wine
}

var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {12, 3}, {9, 2.5, 2, 2.5, 2, 2.5}}

var (
	paper  = color.White
	ink    = color.RGBA{0x1A, 0x1A, 0x1A, 0xFF}
	muted  = color.RGBA{0x4D, 0x4D, 0x4D, 0xFF}
	rule   = color.RGBA{0xE2, 0xE2, 0xE2, 0xFF}
	leader = color.RGBA{0xAD, 0xAD, 0xAD, 0xFF} // no colour, lest it be taken for data
	alarm  = color.RGBA{0xB0, 0x3A, 0x00, 0xFF}
	same   = color.RGBA{0xEC, 0xF1, 0xEA, 0xFF} // the range in which nothing differs
	shade  = color.RGBA{0xFB, 0xF1, 0xDA, 0xFF} // what a note is about
	ghost  = color.RGBA{0xF3, 0xE3, 0xDC, 0xFF}
)

func (c Curve) line() draw.LineStyle {
	i := c.Style
	if c.Dash > 0 {
		i = c.Dash - 1
	}
	width := vg.Points(1.7)
	if c.Hollow {
		i, width = i+1, vg.Points(1.1)
	}
	return draw.LineStyle{Color: palette[c.Style%len(palette)], Width: width, Dashes: dashes[i%len(dashes)]}
}

func (c Curve) marker() marker {
	m := markers[c.Style%len(markers)]
	m.hollow = m.hollow || c.Hollow
	return m
}

// band is the fill of a curve's interval.
func (c Curve) band() color.Color {
	p := palette[c.Style%len(palette)]
	return color.NRGBA{p.R, p.G, p.B, 0x38}
}

var fonts = font.NewCache(liberation.Collection())

// pen writes text in one face and colour.
type pen struct {
	face  font.Face
	color color.Color
}

// regular and strong are pens of the given size in points.
func regular(size float64, c color.Color) pen {
	return pen{fonts.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Points(size)), c}
}

func strong(size float64, c color.Color) pen {
	const bold = 3 // golang.org/x/image/font.WeightBold
	return pen{fonts.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans", Weight: bold}, vg.Points(size)), c}
}

func (p pen) width(s string) vg.Length { return p.face.Width(s) }

// cap is the height of a capital letter.
func (p pen) cap() vg.Length { return p.face.Font.Size * 0.72 }

// put writes s with its baseline at y and the share align of its width left of x: 0 starts there, 1 ends there.
func (p pen) put(c draw.Canvas, x, y, align vg.Length, s string) {
	s = units.Printable(s) // an SVG may not hold control characters
	c.SetColor(p.color)
	c.FillString(p.face, vg.Point{X: x - align*p.width(s), Y: y}, s)
}

// putTurned writes s centred on x, y, turned by angle (radians, counterclockwise).
func (p pen) putTurned(c draw.Canvas, x, y vg.Length, angle float64, s string) {
	c.Push()
	c.Translate(vg.Point{X: x, Y: y})
	c.Rotate(angle)
	p.put(c, 0, -p.cap()/2, 0.5, s)
	c.Pop()
}
