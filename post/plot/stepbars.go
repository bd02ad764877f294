package plot

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/steps"
)

// stepBars is a plot of what buckets do to a training step: a panel for each group of points, and in it a bar for
// each bucket.
type stepBars struct {
	Page
	groups []*steps.Group // with their timed points alone
}

// beside is how far the two stacks of a bucket are from its middle, as a share of the room of a bucket.
const beside = 0.17

// barParts are the parts of the two stacks of a bucket, from the bottom up, in the colours of the timeline page.
var barParts = []struct {
	name string
	fill color.RGBA
	at   float64
}{
	{"computation", color.RGBA{0x8F, 0xB4, 0xD6, 0xFF}, -beside},
	{"communication overlapped with computation", color.RGBA{0x00, 0x80, 0x5E, 0xFF}, -beside},
	{"exposed communication", color.RGBA{0xEA, 0x82, 0x40, 0xFF}, -beside},
	{"sequential: computation", color.RGBA{0xDC, 0xE8, 0xF2, 0xFF}, beside},
	{"sequential: communication", color.RGBA{0xF8, 0xE0, 0xD0, 0xFF}, beside},
}

// heights are the times of barParts.
func heights(f *step.Figures) []float64 {
	compute, sequential := f.Compute.Value, f.Sequential.Value
	p := steps.PartsOf(compute, f.Comm.Value, f.Overlapped.Value)
	return []float64{p.Computing, p.Hidden, p.Exposed, min(compute, sequential), max(0, sequential-compute)}
}

func (b stepBars) drawing() *drawing {
	d := &drawing{Page: b.Page, y: "time of a step (ms)", high: 270}
	if len(b.groups) > 1 {
		d.high = 215
	}
	longest := 1e-9
	for _, g := range b.groups {
		for _, p := range g.Points {
			one, other := p.Figures.Overlapped, p.Figures.Sequential
			longest = max(longest, one.Value, one.Hi, other.Value, other.Hi)
		}
	}
	var names []string
	var samples []plot.Thumbnailer
	for _, part := range barParts {
		names, samples = append(names, part.name), append(samples, &plotter.BarChart{Color: part.fill})
	}
	d.legend = newLegend(names, samples, d.high)
	for i, g := range b.groups {
		p := newPlot(b.Rehearsed)
		p.Title.Text = g.Title()
		if i == len(b.groups)-1 {
			p.X.Label.Text = "bucket size and number of operations"
		}
		addBars(p, g)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(g.Points))-0.5, 0, 1.12e3*longest // for the marks
		d.plots = append(d.plots, p)
	}
	return d
}

// addBars adds the stacks of all buckets, with confidence intervals and marks.
func addBars(p *plot.Plot, g *steps.Group) {
	var labels []string
	for _, one := range g.Points {
		label := steps.Bucket(one.Bucket)
		if n := len(one.Ops); n > 0 {
			label += "\n" + units.Count(n, "op")
		}
		labels = append(labels, label)
	}
	p.NominalX(labels...)
	p.Y.Padding, p.X.Tick.Label.Font.Size = 0, 9
	p.Y.Tick.Marker = linear(number)
	under := map[float64]*plotter.BarChart{}
	for i, part := range barParts {
		chart := &plotter.BarChart{Width: min(36, 100/vg.Length(len(g.Points))), Color: part.fill, XMin: part.at}
		for _, one := range g.Points {
			chart.Values = append(chart.Values, 1e3*heights(one.Figures)[i])
		}
		if below := under[part.at]; below != nil {
			chart.StackOn(below)
		}
		under[part.at] = chart
		p.Add(chart)
	}
	p.Add(painter(func(c draw.Canvas, p *plot.Plot) {
		x, y := p.Transforms(&c)
		for i, one := range g.Points {
			overlapped := one.Figures.Overlapped.Figure
			for at, f := range map[float64]step.Figure{-beside: overlapped, beside: one.Figures.Sequential.Figure} {
				if f.HasInterval() {
					at := x(float64(i) + at)
					c.StrokeLine2(draw.LineStyle{Color: ink, Width: vg.Points(1)}, at, y(1e3*f.Lo), at, y(1e3*f.Hi))
				}
			}
			mark := strong(smallSize, ink)
			mark.XAlign = draw.XCenter
			top := y(1e3 * max(overlapped.Hi, overlapped.Value))
			c.FillText(mark, vg.Point{X: x(float64(i) - beside), Y: top + 3},
				barMarks[g.Compared(one).Verdict].mark)
		}
	}))
}

// mostPanels is the maximum number of groups in a plot of steps.
const mostPanels = 6

// barsOf chooses the plots of runs of training steps: bars of all groups.
func barsOf(runs []*steps.Run) (bars []stepBars) {
	seen := map[string]int{}
	for _, r := range runs {
		var groups []*steps.Group
		for _, g := range r.Groups {
			timed := *g
			timed.Points = slices.DeleteFunc(slices.Clone(g.Points), func(p *steps.Point) bool { return !p.Timed() })
			if len(timed.Points) > 0 {
				groups = append(groups, &timed)
			}
		}
		run := r.Newest()
		page := Page{Name: fileName("step", run.Backend.Name, fmt.Sprint("world", run.World)),
			Title: "A training step of " + r.Step().Model + " by bucket size", Caption: barCaption(r),
			Rehearsed: run.Rehearse}
		for _, text := range []string{r.Library(), prefixed("variant ", run.Variant), r.World(), run.Device,
			prefixed("host ", run.Machine.Host), run.Start.UTC().Format("2006-01-02"),
			"computing by " + r.Step().Computing,
			run.Tool} {
			page.Subtitle = add(page.Subtitle, text)
		}
		for part := range slices.Chunk(groups, mostPanels) {
			p := page
			p.Name = numbered(seen, page.Name)
			bars = append(bars, stepBars{p, part})
		}
	}
	return bars
}

// barMarks are what is above a bar, and in the caption.
var barMarks = map[step.Verdict]struct{ mark, meaning string }{
	step.Best:         {"best", "best: smallest median."},
	step.Smallest:     {"smallest", "smallest: no other is significantly slower."},
	step.NoDifference: {"≈", "≈: not significantly slower."},
	step.TooFewRounds: {"?", "?: too few rounds."},
}

// barCaption explains the plot and its marks.
func barCaption(r *steps.Run) []string {
	caption := []string{"Parts of a bar are medians. Exposed communication: overlapped step minus computation. " +
		"The rest of communication is overlapped.", "Whiskers: 95 % CI of the median over rounds of one launch."}
	for _, g := range r.Groups {
		for _, p := range g.Points {
			caption = add(caption, barMarks[g.Compared(p).Verdict].meaning)
			if p.Status == result.Unfinished {
				caption = add(caption, "The run was cut off: some points have fewer rounds.")
			}
		}
	}
	return caption
}
