package plot

import (
	"cmp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Limit is what a bus bandwidth can be held against.
type Limit struct {
	GBps   float64 // 0: not known
	Figure string  // the same as people write it: "450 GB/s"
	Name   string  // of the link, in a word or two
	Moot   bool    // nothing is to be said of it
}

const (
	// mostCeilings is how many lines of that kind a picture carries.
	mostCeilings = 3
	// farAbove is the multiple of the largest figure from which on a ceiling would leave too little height to the curves.
	farAbove = 2
)

// limit draws the ceilings of bus bandwidths, of curves that stand for these series, and says what they are.
func (c *chooser) limit(f *Figure, all []series) {
	if c.Limit == nil {
		return
	}
	type group struct {
		limit  Limit
		curves []string
	}
	var groups []group
	unknown, moot := 0, true
	for _, s := range all {
		l := c.Limit(s.runs, s.cells[len(s.cells)-1].of)
		if l.GBps <= 0 {
			unknown, moot = unknown+1, moot && l.Moot
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.limit == l })
		if i < 0 {
			i, groups = len(groups), append(groups, group{limit: l})
		}
		groups[i].curves = add(groups[i].curves, c.curveOf(s, all))
	}
	switch {
	case len(groups) == 0 && moot:
		return
	case len(groups) == 0:
		f.Caption = append(f.Caption, "Peak: unknown (post show gives the reason).")
		return
	case len(groups) > mostCeilings || f.X.Unit == Ranks && (len(groups) > 1 || unknown > 0):
		f.Caption = append(f.Caption, "Ceilings are not drawn, for they differ (post show has them).")
		return
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(len(b.curves), len(a.curves)) })
	most := highest(f.Curves)
	for i, g := range groups {
		label := g.limit.Figure
		if i > 0 || unknown > 0 {
			label += " (" + several(g.curves, "curves") + ")"
		} else {
			label += ", " + g.limit.Name
		}
		if g.limit.GBps > farAbove*most {
			f.Caption = append(f.Caption, "Ceiling above the axis: "+label+".")
			continue
		}
		f.Ceilings = append(f.Ceilings, Ceiling{At: g.limit.GBps, Label: label})
	}
	if len(f.Ceilings) > 0 {
		f.Caption = append(f.Caption, "Dashed: what the slowest link on the way is made for.")
	}
}

// curveOf names the curve of one series among others.
func (c *chooser) curveOf(s series, all []series) string {
	keys := make([]key, len(all))
	for i, t := range all {
		keys[i] = t.key
	}
	for i, name := range name(keys) {
		if keys[i] == s.key {
			return cmp.Or(strings.TrimSpace(name), s.collective.String())
		}
	}
	return s.collective.String()
}

// highest is the largest figure of curves.
func highest(curves []Curve) (most float64) {
	for _, c := range curves {
		for _, p := range c.Points {
			most = max(most, p.Y)
		}
	}
	return most
}

// Remark is something that is said of a range of sizes of one series: of what one of its runs measured.
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
			says = c.curveOf(all[i], all) + ": " + says
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
