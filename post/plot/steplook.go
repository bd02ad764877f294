package plot

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours of a training step's parts, those of timelines on the page. Exposed communication is striped too, so that
// it is told apart without colour.
var (
	computeFill  = color.RGBA{0x8F, 0xB4, 0xD6, 0xFF}
	hiddenFill   = color.RGBA{0x00, 0x80, 0x5E, 0xFF}
	exposedFill  = color.RGBA{0xEA, 0x82, 0x40, 0xFF}
	exposedLine  = color.RGBA{0xFB, 0xD9, 0xBF, 0xFF}
	forwardFill  = color.RGBA{0x5B, 0x8F, 0xBF, 0xFF}
	optimizeFill = color.RGBA{0x9A, 0x9A, 0x9A, 0xFF}
	paleCompute  = color.RGBA{0xDC, 0xE8, 0xF2, 0xFF}
	paleComm     = color.RGBA{0xF8, 0xE0, 0xD0, 0xFF}
)

// box fills a rectangle.
func box(c draw.Canvas, r vg.Rectangle, fill color.Color) {
	c.SetColor(fill)
	c.Fill(r.Path())
}

// striped fills a rectangle as exposed communication.
func striped(c draw.Canvas, r vg.Rectangle) {
	const apart = 4
	box(c, r, exposedFill)
	style := draw.LineStyle{Color: exposedLine, Width: vg.Points(0.9)}
	high := r.Max.Y - r.Min.Y
	for x := r.Min.X - high + apart; x < r.Max.X; x += apart { // lines at 45°, cut at the sides
		from, to := max(x, r.Min.X), min(x+high, r.Max.X)
		if to > from {
			c.StrokeLine2(style, from, r.Min.Y+from-x, to, r.Min.Y+to-x)
		}
	}
}

// legendKey is a sample and what it stands for.
type legendKey struct {
	paint func(draw.Canvas, vg.Rectangle)
	says  string
}

func filled(fill color.Color) func(draw.Canvas, vg.Rectangle) {
	return func(c draw.Canvas, r vg.Rectangle) { box(c, r, fill) }
}

// legendRows deals keys out to rows no wider than the picture.
func legendRows(keys []legendKey) (rows [][]legendKey) {
	p, x := regular(smallSize, ink), vg.Length(0)
	for _, k := range keys {
		wide := keyWidth(p, k)
		if len(rows) == 0 || x+wide > width-2*margin {
			rows, x = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], k)
		x += wide
	}
	return rows
}

const keySample, keyGap, keyRow = 16, 14, 15

func keyWidth(p pen, k legendKey) vg.Length { return keySample + 5 + p.width(k.says) + keyGap }

// legend writes keys from the top down, and returns where the rest may begin.
func legend(c draw.Canvas, top vg.Length, keys []legendKey) vg.Length {
	p := regular(smallSize, ink)
	for _, row := range legendRows(keys) {
		x := c.Min.X + margin
		top -= keyRow
		for _, k := range row {
			k.paint(c, vg.Rectangle{Min: vg.Point{X: x, Y: top}, Max: vg.Point{X: x + keySample, Y: top + 9}})
			p.put(c, x+keySample+5, top+1, 0, k.says)
			x += keyWidth(p, k)
		}
	}
	return top - 10
}

// captioned writes sentences at the foot of a picture.
func captioned(c draw.Canvas, caption []string) {
	small := regular(smallSize, muted)
	lines := captionLines(caption)
	for i, line := range lines {
		small.put(c, c.Min.X+margin, c.Min.Y+margin+vg.Length(len(lines)-1-i)*lineHeight, 0, line)
	}
}

func captionLines(caption []string) []string {
	return wrap(regular(smallSize, muted), strings.Fields(strings.Join(caption, " ")), " ", width-2*margin)
}

// headHeight is what a header takes of a picture's height.
func headHeight(subtitle []string, rehearsed bool) vg.Length {
	lines := wrap(regular(smallSize, muted), subtitle, " · ", width-2*margin)
	h := margin + vg.Length(titleSize)*0.72 + 3 + vg.Length(len(lines))*lineHeight + 14
	if rehearsed {
		h += 24
	}
	return h
}
