package plot

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"busbar/internal/coll"
	"busbar/internal/pattern"
	"busbar/internal/units"
)

// The most rows with names, and with values in their cells; more are thinner.
const namedRows, tallest = 64, 1000

// axes are what the rows and columns of a pattern are.
var axes = map[string]string{pattern.Pairs: "rows and columns: nodes", pattern.Rails: "rows: nodes, columns: rails",
	pattern.GPUs: "rows and columns: local ranks"}

// matrixOf draws the nodes or GPUs of a pattern.
func matrixOf(page Page, m pattern.Matrix) *drawing {
	p := newPlot(page.Rehearsed)
	p.NominalX(m.Columns...)
	rows := slices.Clone(m.Rows)
	slices.Reverse(rows) // the first is at the top
	if len(rows) <= namedRows {
		p.NominalY(rows...)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(m.Columns))-0.5, -0.5, float64(len(rows))-0.5
	p.Add(painter(func(c draw.Canvas, p *plot.Plot) {
		x, y := p.Transforms(&c)
		most := slices.Max(slices.Concat(m.Values...))
		for i, row := range m.Values {
			for k, value := range row {
				left, right, at := x(float64(k)-0.5), x(float64(k)+0.5), float64(len(rows)-1-i)
				low, high := y(at-0.5), y(at+0.5)
				if value <= 0 {
					continue
				}
				c.FillPolygon(color.NRGBA{G: 0x72, B: 0xB2, A: uint8(0xB0 * value / most)},
					[]vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
				if style := regular(smallSize, ink); len(rows) <= namedRows {
					style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
					c.FillText(style, vg.Point{X: (left + right) / 2, Y: (low + high) / 2}, units.Times(value))
				}
			}
		}
	}))
	return &drawing{Page: page, plots: []*plot.Plot{p}, high: min(tallest, vg.Length(40+16*len(rows))),
		legend: newLegend(nil, nil, 0)}
}

// matricesOf are the plots of patterns.
func matricesOf(of *pattern.Runs) (all []*drawing) {
	seen := map[string]int{}
	for _, chain := range of.Chains() {
		run := chain.Run
		chain.Each(func(c coll.Case, v pattern.Verdict) {
			for _, m := range v.Matrices(run.Pattern.Hosts) {
				caption := m.Name + " in " + m.Unit
				if m.Name == "" {
					caption = "multiples of " + m.Unit
				}
				page := Page{Title: run.Pattern.Kind + ": " + c.String(), Rehearsed: run.Rehearse,
					Caption:  []string{caption + ", " + axes[run.Pattern.Kind]},
					Subtitle: []string{run.Backend.Title(), run.Start.UTC().Format("2006-01-02")}}
				page.Name = numbered(seen, fileName(run.Pattern.Kind, run.Backend.Name, c.String(), m.Name))
				all = append(all, matrixOf(page, m))
			}
		})
	}
	return all
}
