package plot

import (
	"bytes"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The width of a page, and the type sizes in points. At 600 pixels wide a point is about a pixel.
const (
	width  = 576
	margin = 14
	dpi    = 200 // makes the PNG 1600 pixels wide

	titleSize, bodySize, smallSize = 15, 12, 10.5
)

// Page is the title, the legend and the captions around a plot.
type Page struct {
	Name      string // file name without extension
	Title     string
	Subtitle  []string // facts that hold for the whole plot; wrapped to its width
	Caption   []string // how to read it, under the axes
	Rehearsed bool     // no device was measured, which a strip above and a watermark show
}

// drawing is a page with its axes, ready to be painted.
type drawing struct {
	Page
	plots  []*plot.Plot // one above the other
	y      string       // label of their Y axes, because gonum places one on a logarithmic axis too high
	high   vg.Length    // of each
	legend plot.Legend  // beside them
}

// newPlot is a pair of axes.
func newPlot(rehearsed bool) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // captions are beside it
	p.Title.TextStyle = strong(bodySize, ink)
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.Title.Padding = 4
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Color, axis.Label.TextStyle.Font = muted, regular(bodySize, muted).Font
		axis.Tick.Label.Color, axis.Tick.Label.Font = ink, regular(bodySize, ink).Font
		axis.Padding, axis.Label.Padding = 0, 4
		axis.Color, axis.Tick.Color, axis.Tick.Length = ink, ink, 4
	}
	if rehearsed {
		p.Add(painter(func(c draw.Canvas, _ *plot.Plot) {
			style := strong(46, ghost)
			style.Rotation, style.XAlign, style.YAlign = math.Pi/9, draw.XCenter, draw.YCenter
			c.FillText(style, c.Center(), "SIMULATED")
		}))
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = rule, rule
	p.Add(grid)
	return p
}

// painter is something that is drawn on axes.
type painter func(draw.Canvas, *plot.Plot)

// Plot implements plot.Plotter.
func (f painter) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// head are the lines above the axes.
func (d *drawing) head() []string {
	return wrap(regular(smallSize, muted), d.Subtitle, " · ", width-2*margin)
}

// foot are the lines under the axes.
func (d *drawing) foot() []string {
	return wrap(regular(smallSize, muted), strings.Fields(strings.Join(d.Caption, " ")), " ", width-2*margin)
}

// textHeight is that of lines of small text.
func textHeight(lines []string) vg.Length {
	return regular(smallSize, muted).Height(strings.Join(lines, "\n"))
}

const (
	strip = 24 // height of the mark of a simulation
	gap   = 10 // between the parts of a page
)

func (d *drawing) height() vg.Length {
	h := 2*margin + 3*gap + strong(titleSize, ink).Height(d.Title) + textHeight(d.head()) + textHeight(d.foot())
	if d.Rehearsed {
		h += strip
	}
	return h + vg.Length(len(d.plots))*d.high
}

func (d *drawing) paint(c draw.Canvas) {
	if d.Rehearsed {
		c.SetColor(alarm)
		c.Fill(vg.Rectangle{Min: vg.Point{X: c.Min.X, Y: c.Max.Y - strip}, Max: c.Max}.Path())
		white := strong(bodySize, paper)
		white.XAlign, white.YAlign = draw.XCenter, draw.YCenter
		c.FillText(white, vg.Point{X: c.Center().X, Y: c.Max.Y - strip/2},
			"SIMULATED: no device was measured; these values are not about hardware")
		c = draw.Crop(c, 0, 0, 0, -strip)
	}
	c = draw.Crop(c, margin, -margin, margin, -margin)
	write := func(style draw.TextStyle, text string) {
		style.YAlign = draw.YTop
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, text)
		c.Max.Y -= style.Height(text)
	}
	small := regular(smallSize, muted)
	write(strong(titleSize, ink), strings.Join(wrap(strong(titleSize, ink), []string{d.Title}, "", width-2*margin), ""))
	write(small, strings.Join(d.head(), "\n"))
	small.YAlign = draw.YTop
	foot := strings.Join(d.foot(), "\n")
	c.FillText(small, vg.Point{X: c.Min.X, Y: c.Min.Y + small.Height(foot)}, foot)
	c = draw.Crop(c, 0, 0, small.Height(foot)+gap, -2*gap)
	beside := d.legend.Rectangle(c).Size().X
	d.legend.Left, d.legend.Top = true, true
	d.legend.Draw(draw.Crop(c, c.Size().X-beside, 0, 0, 0))
	rows := make([][]*plot.Plot, len(d.plots))
	for i, p := range d.plots {
		rows[i] = []*plot.Plot{p}
	}
	label := regular(bodySize, muted)
	label.Rotation, label.XAlign, label.YAlign = math.Pi/2, draw.XCenter, draw.YTop
	left := c.Min.X
	c = draw.Crop(c, label.Height(d.y)+gap/2, -beside-gap, 0, 0)
	for i, row := range plot.Align(rows, draw.Tiles{Rows: len(rows), Cols: 1, PadY: 2 * gap}, c) {
		d.plots[i].Draw(row[0])
		data := d.plots[i].DataCanvas(row[0])
		c.FillText(label, vg.Point{X: left, Y: data.Center().Y}, d.y)
	}
}

// newLegend draws names beside thumbnails, as narrow as its height permits.
func newLegend(names []string, thumbnails []plot.Thumbnailer, high vg.Length) (l plot.Legend) {
	for _, wide := range []vg.Length{130, 190, 250} {
		l = plot.NewLegend()
		l.TextStyle = regular(bodySize, ink)
		l.Padding, l.ThumbnailWidth = 4, 26
		for i, name := range names {
			l.Add(wrapWords(l.TextStyle, name, wide), thumbnails[i])
		}
		if l.Rectangle(draw.Canvas{}).Size().Y <= high {
			break
		}
	}
	return l
}

// WritePNG draws the plot as a PNG, 1600 pixels wide. The error is w's.
func (d *drawing) WritePNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(width, d.height()), vgimg.UseDPI(dpi))
	d.paint(draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// WriteSVG draws the plot as an SVG. Text stays text, in Liberation Sans or what has its measures. The error is w's.
func (d *drawing) WriteSVG(w io.Writer) error {
	c := vgsvg.New(width, d.height())
	area := draw.New(c)
	area.SetColor(paper)
	area.Fill(area.Rectangle.Path())
	d.paint(area)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")))
	return err
}
