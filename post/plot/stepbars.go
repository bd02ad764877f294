package plot

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/step"
	"busbar/post/steps"
)

// StepBars is a picture of what buckets do to a training step: a panel for each group of points, and in it a bar for
// each bucket.
type StepBars struct {
	Page
	Panels []StepPanel
}

// StepPanel is one group: all but the bucket is the same.
type StepPanel struct {
	Title string
	Bars  []StepBar
}

// StepBar is one bucket: the times of its step in seconds.
type StepBar struct {
	Label      string // the cap, and how many operations that makes
	Compute    step.Figure
	Comm       step.Figure
	Sequential step.Figure
	Overlapped step.Figure
	// above the bar: "best", "smallest" where no other is significantly slower, or "≈" without a significant difference
	Mark string
}

// WritePNG draws the picture as a PNG, 1600 pixels wide. The error is w's.
func (b StepBars) WritePNG(w io.Writer) error { return b.drawing().writePNG(w) }

// WriteSVG draws the picture as an SVG. The error is w's.
func (b StepBars) WriteSVG(w io.Writer) error { return b.drawing().writeSVG(w) }

// beside is how far the two stacks of a bucket are from its middle, as a share of the room of a bucket.
const beside = 0.17

// barParts are the parts of the two stacks of a bucket, from the bottom up. The colours are those of timelines on the
// page.
var barParts = []struct {
	name string
	fill color.RGBA
	at   float64
	of   func(StepBar) float64
}{
	{"computing", color.RGBA{0x8F, 0xB4, 0xD6, 0xFF}, -beside, func(b StepBar) float64 { return b.parts().Computing }},
	{"communication hidden behind computing", color.RGBA{0x00, 0x80, 0x5E, 0xFF}, -beside,
		func(b StepBar) float64 { return b.parts().Hidden }},
	{"exposed communication", color.RGBA{0xEA, 0x82, 0x40, 0xFF}, -beside,
		func(b StepBar) float64 { return b.parts().Exposed }},
	{"one after the other: computing", color.RGBA{0xDC, 0xE8, 0xF2, 0xFF}, beside,
		func(b StepBar) float64 { return min(b.Compute.Value, b.Sequential.Value) }},
	{"then communication", color.RGBA{0xF8, 0xE0, 0xD0, 0xFF}, beside,
		func(b StepBar) float64 { return max(0, b.Sequential.Value-b.Compute.Value) }},
}

func (b StepBar) parts() steps.Parts {
	return steps.PartsOf(b.Compute.Value, b.Comm.Value, b.Overlapped.Value)
}

func (b StepBars) drawing() *drawing {
	d := &drawing{Page: b.Page, y: "time of a step (ms)", high: 270}
	if len(b.Panels) > 1 {
		d.high = 215
	}
	longest := 1e-9
	for _, panel := range b.Panels {
		for _, bar := range panel.Bars {
			longest = max(longest, bar.Overlapped.Value, bar.Overlapped.Hi, bar.Sequential.Value, bar.Sequential.Hi)
		}
	}
	var names []string
	var samples []plot.Thumbnailer
	for _, part := range barParts {
		names, samples = append(names, part.name), append(samples, &plotter.BarChart{Color: part.fill})
	}
	d.legend = newLegend(names, samples, d.high)
	for i, panel := range b.Panels {
		p := newPlot(b.Rehearsed)
		p.Title.Text = panel.Title
		if i == len(b.Panels)-1 {
			p.X.Label.Text = "size at which a bucket is full, and how many operations that makes"
		}
		panel.add(p)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(panel.Bars))-0.5, 0, 1.12e3*longest // for the marks
		d.plots = append(d.plots, p)
	}
	return d
}

// add adds the stacks of all buckets, with confidence intervals and marks.
func (s StepPanel) add(p *plot.Plot) {
	var labels []string
	for _, bar := range s.Bars {
		labels = append(labels, bar.Label)
	}
	p.NominalX(labels...)
	p.Y.Padding, p.X.Tick.Label.Font.Size = 0, 9
	p.Y.Tick.Marker = linear(number)
	under := map[float64]*plotter.BarChart{}
	for _, part := range barParts {
		chart := &plotter.BarChart{Width: min(36, 100/vg.Length(len(s.Bars))), Color: part.fill, XMin: part.at}
		for _, bar := range s.Bars {
			chart.Values = append(chart.Values, 1e3*part.of(bar))
		}
		if below := under[part.at]; below != nil {
			chart.StackOn(below)
		}
		under[part.at] = chart
		p.Add(chart)
	}
	p.Add(painter(func(c draw.Canvas, p *plot.Plot) {
		x, y := p.Transforms(&c)
		for i, bar := range s.Bars {
			for at, f := range map[float64]step.Figure{-beside: bar.Overlapped, beside: bar.Sequential} {
				if f.HasInterval() {
					at := x(float64(i) + at)
					c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(1)}, at, y(1e3*f.Lo), at, y(1e3*f.Hi))
				}
			}
			mark := strong(smallSize, ink)
			mark.XAlign = draw.XCenter
			top := y(1e3 * max(bar.Overlapped.Hi, bar.Overlapped.Value))
			c.FillText(mark, vg.Point{X: x(float64(i) - beside), Y: top + 3}, bar.Mark)
		}
	}))
}
