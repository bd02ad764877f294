package compare

import (
	"fmt"
	"io"
	"strings"

	"busbar/internal/document"
	"busbar/internal/stats"
	"busbar/post/atomicfile"
	"busbar/post/plot"
)

// Files are the document as Markdown and JSON, and the plots of all that is compared by size.
func (c Comparison) Files(doc *document.Document) []atomicfile.Named {
	files := []atomicfile.Named{
		{Name: "compare.md", Write: func(w io.Writer) error { return doc.Write(w, document.Markdown) }},
		{Name: "compare.json", Write: func(w io.Writer) error { return doc.Write(w, document.JSON) }},
	}
	var ratios []plot.Ratio
	for _, one := range c {
		if one.hasSizes {
			ratios = append(ratios, one.plots()...)
		}
	}
	for _, p := range plot.Ratios(ratios) {
		files = append(files, atomicfile.Named{Name: p.Name + ".png", Write: p.WritePNG},
			atomicfile.Named{Name: p.Name + ".svg", Write: p.WriteSVG})
	}
	return files
}

// plots are the ratios of every comparison over size: a plot for each table, whatever the world, with a curve for each
// world.
func (c *comparedSides) plots() (all []plot.Ratio) {
	for _, d := range c.comparisons {
		index := map[string]int{}
		for _, points := range d.points.tables() {
			of := points[0].of.(collective)
			curve := plot.Curve{Label: of.shape().Words()}
			for _, j := range points {
				q := j.verdict.Ratio
				if q.N == 0 {
					continue
				}
				xy := plot.XY{X: float64(j.of.(collective).SizeBytes), Y: q.Value, Lo: q.Value, Hi: q.Value}
				if q.Basis != stats.NoBounds {
					xy.Lo, xy.Hi = q.Lo, q.Hi
				}
				curve.Points = append(curve.Points, xy)
			}
			if curve.Points == nil {
				continue
			}
			family := of.FamilyTitle() + behind(of.who)
			i, known := index[family]
			if !known {
				i = len(all)
				index[family], all = i, append(all, d.plot(family))
			}
			all[i].Curves = append(all[i].Curves, curve)
		}
	}
	return all
}

// plot is that of a family of points, without curves.
func (d *sideComparison) plot(family string) plot.Ratio {
	name := strings.NewReplacer(", ", "_", " ", "_").Replace(family)
	return plot.Ratio{
		Page: plot.Page{
			Name:      "compare_" + d.b.letter + "_" + name,
			Title:     family + ": " + d.name(),
			Subtitle:  []string{d.a.intro(), d.b.intro()},
			Caption:   []string{"Bands: " + d.bounds() + "."},
			Rehearsed: d.a.rehearsed || d.b.rehearsed,
		},
		Label:  "time of " + d.b.letter + " / time of " + d.a.letter,
		Margin: d.limits.Margin,
	}
}

// bounds are what the bands of a plot are.
func (d *sideComparison) bounds() string {
	if d.Tested == 0 {
		return "minimum to maximum, none of single launches"
	}
	intervals := fmt.Sprintf("%g %% confidence intervals over launches", 100*(1-d.standard.Alpha))
	if d.Tested < len(d.points) {
		intervals += ", or minimum to maximum"
	}
	return intervals
}
