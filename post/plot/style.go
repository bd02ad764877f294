package plot

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/units"
)

// palette is that of Okabe and Ito (2008, "Color Universal Design") without its yellow, which is too pale on white,
// with a grey, and a wine red and an olive of Tol. Dashes and markers distinguish the curves in black-and-white print.
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
	{0x99, 0x99, 0x33, 0xFF}, // olive
}

var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {12, 3}, {9, 2.5, 2, 2.5, 2, 2.5}}

var markers = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{},
	draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}

var (
	paper = color.White
	ink   = color.RGBA{0x1A, 0x1A, 0x1A, 0xFF}
	muted = color.RGBA{0x4D, 0x4D, 0x4D, 0xFF}
	rule  = color.RGBA{0xE2, 0xE2, 0xE2, 0xFF}
	alarm = color.RGBA{0xB0, 0x3A, 0x00, 0xFF}
	ghost = color.RGBA{0xF3, 0xE3, 0xDC, 0xFF}
)

func (c Curve) line() draw.LineStyle {
	return draw.LineStyle{
		Color: palette[c.Style%len(palette)], Width: vg.Points(1.7), Dashes: dashes[c.Style%len(dashes)],
	}
}

func (c Curve) marker() draw.GlyphStyle {
	return draw.GlyphStyle{Color: palette[c.Style%len(palette)], Radius: 2.8, Shape: markers[c.Style%len(markers)]}
}

// band is the fill of a curve's interval.
func (c Curve) band() color.Color {
	p := palette[c.Style%len(palette)]
	return color.NRGBA{p.R, p.G, p.B, 0x38}
}

// regular and strong are styles of text of the given size in points.
func regular(size vg.Length, c color.Color) draw.TextStyle {
	return draw.TextStyle{Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler}
}

func strong(size vg.Length, c color.Color) draw.TextStyle {
	style := regular(size, c)
	style.Font.Weight = 3 // golang.org/x/image/font.WeightBold
	return style
}

// wrap joins parts into lines no wider than the width; a part that is too wide on its own is shortened.
func wrap(style draw.TextStyle, parts []string, separator string, width vg.Length) (lines []string) {
	for _, part := range parts {
		part = units.Printable(part) // an SVG may not hold control characters
		if r := []rune(part); style.Width(part) > width {
			for len(r) > 1 && style.Width(string(r)+"…") > width {
				r = r[:len(r)-1]
			}
			part = strings.TrimRight(string(r), " ") + "…"
		}
		if n := len(lines); n > 0 && style.Width(lines[n-1]+separator+part) <= width {
			lines[n-1] += separator + part
			continue
		}
		lines = append(lines, part)
	}
	return lines
}

// wrapWords breaks a text into lines no wider than the width.
func wrapWords(style draw.TextStyle, text string, width vg.Length) string {
	return strings.Join(wrap(style, strings.Fields(text), " ", width), "\n")
}
