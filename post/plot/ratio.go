package plot

import (
	"fmt"
	"slices"
)

// Ratio is what a picture of ratios over sizes shows: a curve for each of what was compared, such as a world.
type Ratio struct {
	Page
	Label  string  // of the Y axis
	Curves []Curve // over sizes in bytes
	Margin float64 // ratios up to 1+Margin, and down to its inverse, count as the same; 0: not one for all
}

// Ratios draws comparisons. Where there are too many curves for one picture there are several.
func Ratios(all []Ratio) (figs []Figure) {
	names := map[string]int{}
	for _, r := range all {
		if r.Margin > 0 {
			r.Caption = append(
				r.Caption,
				fmt.Sprintf("Around 1: within %.3g %%, which counts as the same.", 100*r.Margin),
			)
		}
		for curves := range slices.Chunk(r.Curves, maxCurves) {
			f := Figure{Page: r.Page, X: Axis{"message size", Bytes}, Y: Axis{r.Label, Times}, Curves: curves,
				Level: &Level{1, 1 / (1 + r.Margin), 1 + r.Margin}}
			f.Name = numbered(names, fileName(r.Name))
			for i := range curves {
				curves[i].Style = i
			}
			figs = append(figs, f)
		}
	}
	return figs
}
