package plot

import (
	"bytes"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi makes the PNG 1600 pixels wide.
const dpi = 200

// WritePNG draws the figure as a PNG, 1600 pixels wide. The error is w's.
func (f Figure) WritePNG(w io.Writer) error { return writePNG(w, f.height(), f.draw) }

// WriteSVG draws the figure as an SVG. Text stays text, in Liberation Sans or what has its measures. The error is w's.
func (f Figure) WriteSVG(w io.Writer) error { return writeSVG(w, f.height(), f.draw) }

func writePNG(w io.Writer, height vg.Length, paint func(draw.Canvas)) error {
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	paint(draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func writeSVG(w io.Writer, height vg.Length, paint func(draw.Canvas)) error {
	c := vgsvg.New(width, height)
	d := draw.New(c)
	d.SetColor(paper)
	d.Fill(vg.Rectangle{Max: vg.Point{X: width, Y: height}}.Path())
	paint(d)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")))
	return err
}
