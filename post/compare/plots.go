package compare

import (
	"fmt"
	"io"
	"strings"

	"busbar/internal/document"
	"busbar/internal/stats"
	"busbar/post/analysis"
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

// plots are the ratios of every comparison over size, a picture for each table and a curve for each world in it.
func (c *comparedSides) plots() (all []plot.Ratio) {
	type id struct {
		d      *sideComparison
		family analysis.Condition
		who    string
	}
	index, curve := map[id]int{}, map[id]map[analysis.Condition]int{}
	for _, d := range c.comparisons {
		for _, j := range d.points {
			if j.verdict.Ratio.N == 0 {
				continue
			}
			under := j.of.(collective)
			k := id{d, analysis.FamilyOf(under.Condition), under.who}
			i, there := index[k]
			if !there {
				i = len(all)
				index[k], curve[k] = i, map[analysis.Condition]int{}
				all = append(all, d.picture(under, j.limit.Margin))
			}
			r := &all[i]
			if r.Margin != j.limit.Margin {
				r.Margin = 0
			}
			n, there := curve[k][analysis.TableOf(under.Condition)]
			if !there {
				n = len(r.Curves)
				curve[k][analysis.TableOf(under.Condition)] = n
				r.Curves = append(r.Curves, plot.Curve{Label: under.shape().Words()})
			}
			q := j.verdict.Ratio
			xy := plot.XY{X: float64(under.SizeBytes), Y: q.Value, Lo: q.Value, Hi: q.Value}
			if q.Basis != stats.NoBounds {
				xy.Lo, xy.Hi = q.Lo, q.Hi
			}
			r.Curves[n].Points = append(r.Curves[n].Points, xy)
		}
	}
	return all
}

// picture is that of a family of points, without curves.
func (d *sideComparison) picture(of collective, margin float64) plot.Ratio {
	family := analysis.FamilyOf(of.Condition).FamilyTitle() + of.who
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
		Margin: margin,
	}
}

// bounds are what the bands of a picture are.
func (d *sideComparison) bounds() string {
	intervals := fmt.Sprintf("%g %% intervals over launches", 100*(1-d.standard.Alpha))
	switch {
	case d.Tested == len(d.points):
		return intervals
	case d.Tested == 0 && len(d.a.launches)+len(d.b.launches) == 2:
		return "none (single launches)"
	case d.Tested == 0:
		return "minimum to maximum"
	}
	return intervals + ", or minimum to maximum"
}
