package plot

import "fmt"

// Ratio is what a picture of ratios over sizes shows: a curve for each of what was compared, such as a world.
type Ratio struct {
	Name, Title string
	Subtitle    []string
	Label       string // of the Y axis
	Curves      []RatioCurve
	Margin      float64 // ratios up to 1+Margin, and down to its inverse, count as the same; 0: not one for all
	Bounds      string  // what the bands are
	Rehearsed   bool
}

// RatioCurve is one curve of ratios against sizes in bytes.
type RatioCurve struct {
	Label  string
	Points []XY
}

// Ratios draws comparisons. Where there are too many curves for one picture there are several.
func Ratios(all []Ratio) (figs []Figure) {
	for _, r := range all {
		for part := 0; part*maxCurves < len(r.Curves); part++ {
			curves := r.Curves[part*maxCurves : min((part+1)*maxCurves, len(r.Curves))]
			f := Figure{Name: fileName(r.Name), Title: r.Title, Subtitle: r.Subtitle, Rehearsed: r.Rehearsed,
				X: Axis{"message size", Bytes}, Y: Axis{r.Label, Times},
				Level: &Level{1, 1 / (1 + r.Margin), 1 + r.Margin}, Caption: []string{"Bands: " + r.Bounds + "."}}
			if r.Margin > 0 {
				f.Caption = append(f.Caption, fmt.Sprintf("Around 1: within %.3g %%, which counts as the same.", 100*r.Margin))
			}
			if part > 0 {
				f.Name += fmt.Sprintf("_%d", part+1)
			}
			for i, c := range curves {
				f.Curves = append(f.Curves, Curve{Label: c.Label, Style: i, Points: c.Points})
			}
			figs = append(figs, f)
		}
	}
	return figs
}
