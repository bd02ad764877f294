package plot

import (
	"cmp"
	"slices"
)

const (
	// mostCeilings is the maximum number of peak lines in a plot.
	mostCeilings = 3
	// farAbove is the multiple of the largest value from which on a ceiling would leave too little height to the
	// curves.
	farAbove = 2
)

// ceilings draws the peak bus bandwidth of the curves, with a caption.
func (c *chooser) ceilings(f *Figure, all []series) {
	if c.limit == nil {
		return
	}
	most, moot := 0.0, true
	for _, curve := range f.Curves {
		for _, p := range curve.Points {
			most = max(most, p.Y)
		}
	}
	var limits []Ceiling
	curves := map[Ceiling][]string{}
	for _, s := range all {
		of, l := c.limit(s.runs, s.cells[len(s.cells)-1].of), Ceiling{}
		if of.Known() {
			if l = (Ceiling{of.BusBW / 1e9, "peak: " + of.Figure() + ", " + of.Name}); curves[l] == nil {
				limits = append(limits, l)
			}
		}
		moot = moot && of.Moot
		curves[l] = add(curves[l], curveOf(s, all))
	}
	switch {
	case len(limits) == 0 && moot:
		return
	case len(limits) == 0:
		f.Caption = append(f.Caption, "Peak: unknown (post show gives the reason).")
		return
	case len(limits) > mostCeilings || f.X.Unit == Ranks && len(curves) > 1:
		f.Caption = append(f.Caption, "Peaks are not drawn, because they differ (post show has them).")
		return
	}
	for _, l := range limits {
		if of := curves[l]; len(curves) > 1 {
			l.Label += " (" + several(of, "curves") + ")"
		}
		if l.At > farAbove*most {
			f.Caption = append(f.Caption, "Above the axis: "+l.Label+".")
			continue
		}
		f.Ceilings = append(f.Ceilings, l)
	}
	if len(f.Ceilings) > 0 {
		f.Caption = append(f.Caption, "Peak: line rate of the slowest link on the way.")
	}
}

// curveOf names the curve of one series among others.
func curveOf(s series, all []series) string {
	keys := keysOf(all)
	return cmp.Or(name(keys)[slices.Index(keys, s.key)], s.Collective.String())
}
