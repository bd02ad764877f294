package plot

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Limit is what a bus bandwidth can be held against.
type Limit struct {
	GBps   float64 // 0: not known
	Figure string  // the same as people write it: "450 GB/s"
	Name   string  // of the link, in a word or two
	Moot   bool    // there is none, and nothing to note about that
}

const (
	// mostCeilings is how many lines of that kind a picture carries.
	mostCeilings = 3
	// farAbove is the multiple of the largest value from which on a ceiling would leave too little height to the
	// curves.
	farAbove = 2
)

// limit draws the ceilings of bus bandwidths, of curves that stand for these series, and notes what they are.
func (c *chooser) limit(f *Figure, all []series) {
	if c.Limit == nil {
		return
	}
	var limits []Limit
	curves := map[Limit][]string{}
	moot := true
	for _, s := range all {
		l := c.Limit(s.runs, s.cells[len(s.cells)-1].of)
		if l.GBps <= 0 {
			moot = moot && l.Moot
			l = Limit{}
		} else if curves[l] == nil {
			limits = append(limits, l)
		}
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
	most := 0.0
	for _, curve := range f.Curves {
		for _, p := range curve.Points {
			most = max(most, p.Y)
		}
	}
	for _, l := range limits {
		label := "peak: " + l.Figure + ", " + l.Name
		if len(curves) > 1 {
			label += " (" + several(curves[l], "curves") + ")"
		}
		if l.GBps > farAbove*most {
			f.Caption = append(f.Caption, "Above the axis: "+label+".")
			continue
		}
		f.Ceilings = append(f.Ceilings, Ceiling{At: l.GBps, Label: label})
	}
	if len(f.Ceilings) > 0 {
		f.Caption = append(f.Caption, "Peak: line rate of the slowest link on the way.")
	}
}

// curveOf names the curve of one series among others.
func curveOf(s series, all []series) string {
	keys := keysOf(all)
	return cmp.Or(name(keys)[slices.Index(keys, s.key)], s.collective.String())
}

// Remark is a finding on a range of sizes of one series: of what one of its runs measured.
type Remark struct {
	Run      *result.Run
	Case     coll.Case // of any size
	Number   int
	From, To int64  // bytes
	Says     string // without the name of the series, which stands in front where there are several
}

// mostNotes is how many notes a picture carries.
const mostNotes = 5

// remark puts the remarks on the series into a picture of them over sizes. Those of one number, on several series, are
// one note about all their sizes, in the words of the first.
func (c *chooser) remark(f *Figure, all []series) {
	left := map[int]bool{} // numbers
	for _, r := range c.Remarks {
		k := Point{Run: r.Run, Case: r.Case}.key()
		i := slices.IndexFunc(all, func(s series) bool { return s.key == k && s.mode == r.Case.Mode })
		if i < 0 {
			continue
		}
		if i := slices.IndexFunc(f.Notes, func(n Note) bool { return n.Number == r.Number }); i >= 0 {
			n := &f.Notes[i]
			n.From, n.To = min(n.From, float64(r.From)), max(n.To, float64(r.To))
			continue
		}
		if len(f.Notes) == mostNotes {
			left[r.Number] = true
			continue
		}
		says := r.Says
		if len(all) > 1 {
			says = curveOf(all[i], all) + ": " + says
		}
		f.Notes = append(f.Notes, Note{Number: r.Number, From: float64(r.From), To: float64(r.To), Says: says})
	}
	if len(f.Notes) > 0 {
		f.Caption = append(f.Caption, "Numbered ranges: see below.")
	}
	if len(left) > 0 {
		f.Caption = append(f.Caption, units.Count(len(left), "more finding")+" not marked here.")
	}
}
