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
	rgb(0x0072B2), // blue
	rgb(0xD55E00), // vermillion
	rgb(0x009E73), // bluish green
	rgb(0xE69F00), // orange
	rgb(0x000000), // black
	rgb(0xCC79A7), // reddish purple
	rgb(0x56B4E9), // sky blue
	rgb(0x767676), // grey
	rgb(0x882255), // wine
	rgb(0x999933), // olive
}

// rgb is an opaque colour.
func rgb(hex uint32) color.RGBA {
	return color.RGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xFF}
}

var dashes = [][]vg.Length{nil, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {4, 2}, {12, 3}, {9, 2.5, 2, 2.5, 2, 2.5}}

var markers = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{},
	draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}

var (
	paper = color.White
	ink   = rgb(0x1A1A1A)
	muted = rgb(0x4D4D4D)
	rule  = rgb(0xE2E2E2)
	alarm = rgb(0xB03A00)
	ghost = rgb(0xF3E3DC)
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
