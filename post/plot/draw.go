package plot

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// WritePNG draws the figure as a PNG, 1600 pixels wide. The error is w's.
func (f Figure) WritePNG(w io.Writer) error { return f.drawing().WritePNG(w) }

const figureHeight = 280

// drawing puts the curves on axes.
func (f Figure) drawing() *drawing {
	d := &drawing{Page: f.Page, y: units.Printable(f.Y.Label), high: figureHeight}
	p := newPlot(f.Rehearsed)
	d.plots = []*plot.Plot{p}
	var names []string
	var samples []plot.Thumbnailer
	// The labels beside the curves are in the order in which these end.
	for _, c := range slices.SortedStableFunc(slices.Values(f.Curves), func(a, b Curve) int {
		return cmp.Compare(b.Points[len(b.Points)-1].Y, a.Points[len(a.Points)-1].Y)
	}) {
		names, samples = append(names, c.Label), append(samples, sample{c})
	}
	for _, v := range f.Ceilings {
		names, samples = append(names, v.Label), append(samples, &plotter.Line{LineStyle: ceilingStyle})
	}
	d.legend = newLegend(names, samples, figureHeight)
	f.scale(p, int(width-2*margin-d.legend.Rectangle(draw.Canvas{}).Size().X)/48)
	p.Add(painter(f.behind))
	for _, c := range f.Curves {
		p.Add(painter(c.plot))
	}
	return d
}

// scale sets the axes, with up to so many labels of sizes.
func (f Figure) scale(p *plot.Plot, labels int) {
	var xs, ys []float64
	for _, c := range f.Curves {
		for _, v := range c.Points {
			xs, ys = append(xs, v.X), append(ys, v.Y, v.Hi)
			if v.Lo > 0 {
				ys = append(ys, v.Lo)
			}
		}
	}
	for _, v := range f.Ceilings {
		ys = append(ys, v.At)
	}
	p.X.Label.Text = f.X.Label
	f.X.Unit.scale(&p.X, xs, labels)
	f.Y.Unit.scale(&p.Y, ys, 6)
}

// scale fits an axis to values.
func (u Unit) scale(a *plot.Axis, values []float64, labels int) {
	lo, hi := slices.Min(values), slices.Max(values)
	if u == Linear {
		a.Min, a.Max, a.Tick.Marker = 0, hi*1.04, linear(number)
		return
	}
	a.Scale = plot.LogScale{}
	around, least := 1.15, 4.0 // a margin, and the smallest factor from end to end
	switch u {
	case Bytes:
		a.Tick.Marker = binaryTicks(labels)
	case Ranks:
		around, least = 1.12, 2
		a.Tick.Marker = rankTicks(values)
	case Seconds:
		around, least = 1.3, 8
		a.Tick.Marker = decades(formatSeconds)
	case Times:
		around, least = 1.02, 1.1
		a.Tick.Marker = decades(number)
	}
	around = max(around, math.Sqrt(least*lo/hi))
	a.Min, a.Max = lo/around, hi*around
}

var ceilingStyle = draw.LineStyle{Color: muted, Width: vg.Points(1), Dashes: []vg.Length{5, 3}}

// behind draws the ceilings, behind the curves.
func (f Figure) behind(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, v := range f.Ceilings {
		c.StrokeLine2(ceilingStyle, c.Min.X, y(v.At), c.Max.X, y(v.At))
	}
}

// plot draws bands, lines and markers of a curve; the interval of a single point is a bar.
func (c Curve) plot(area draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&area)
	for _, part := range c.parts() {
		var line, lows, outline []vg.Point
		for _, v := range part {
			line = append(line, vg.Point{X: x(v.X), Y: y(v.Y)})
			outline = append(outline, vg.Point{X: x(v.X), Y: y(v.Hi)})
			lows = append(lows, vg.Point{X: x(v.X), Y: y(max(v.Lo, p.Y.Min))})
		}
		if len(part) == 1 {
			bar := draw.LineStyle{Color: c.line().Color, Width: 1}
			area.StrokeLine2(bar, lows[0].X, lows[0].Y, lows[0].X, outline[0].Y)
		} else {
			slices.Reverse(lows)
			area.FillPolygon(c.band(), append(outline, lows...))
		}
		area.StrokeLines(c.line(), line)
		for _, at := range line {
			area.DrawGlyph(c.marker(), at)
		}
	}
}

// sample is the piece of a curve in front of its name.
type sample struct{ Curve }

// Thumbnail implements plot.Thumbnailer.
func (s sample) Thumbnail(c *draw.Canvas) {
	c.StrokeLine2(s.line(), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
	c.DrawGlyph(s.marker(), c.Center())
}

// binaryTicks are ticks at powers of two, up to so many with labels.
type binaryTicks int

// Ticks implements plot.Ticker.
func (labels binaryTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	first, last := max(int(math.Ceil(math.Log2(lo))), 0), int(math.Floor(math.Log2(hi)))
	step := 1
	for _, step = range []int{1, 2, 3, 5, 10, 20} {
		if (last-first)/step < int(labels) {
			break
		}
	}
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if e%step == 0 {
			t.Label = coll.FormatSize(1<<e, true)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// rankTicks labels the worlds that were measured, or their powers of two where they are many.
func rankTicks(worlds []float64) (ticks plot.ConstantTicks) {
	worlds = slices.Compact(slices.Sorted(slices.Values(worlds)))
	for _, w := range worlds {
		t := plot.Tick{Value: w}
		if len(worlds) <= 6 || math.Exp2(math.Round(math.Log2(w))) == w {
			t.Label = strconv.Itoa(int(w))
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// linear labels up to seven steps of equal difference.
type linear func(float64) string

// Ticks implements plot.Ticker.
func (format linear) Ticks(lo, hi float64) (ticks []plot.Tick) {
	step := math.Pow10(int(math.Floor(math.Log10((hi - lo) / 6))))
	if !(step > 0) || math.IsInf(step, 0) { // no steps between such values
		return nil
	}
	for _, larger := range []float64{2, 2.5, 2} {
		if (hi-lo)/step > 6 {
			step *= larger
		}
	}
	for i := math.Ceil(lo/step-1e-9) + 0; i*step <= hi; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: format(i * step)})
	}
	return ticks
}

// decades labels powers of ten, 2 and 5 times them too where they are few, and steps of equal difference where the ends
// of the axis differ by less than a factor of 3.
type decades func(float64) string

// Ticks implements plot.Ticker.
func (format decades) Ticks(lo, hi float64) (ticks []plot.Tick) {
	if hi < 3*lo {
		return linear(format).Ticks(lo, hi)
	}
	for e := math.Floor(math.Log10(lo)); e <= math.Log10(hi); e++ {
		for digit := range 9 {
			t := plot.Tick{Value: float64(digit+1) * math.Pow(10, e)}
			if digit == 0 || hi < 100*lo && (digit == 1 || digit == 4) {
				t.Label = format(t.Value)
			}
			if t.Value >= lo && t.Value <= hi {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// formatSeconds writes a time with the unit that people use for it: 20 µs, 1 ms, 2 s.
func formatSeconds(s float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}} {
		if s < 999.5*u.size {
			return number(s/u.size) + " " + u.name
		}
	}
	return number(s) + " s"
}
