package report

import (
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/title"
	"fmt"
)

func pointsOf(curves []*analysis.Curve) (points int) {
	for _, c := range curves {
		points += len(c.Points)
	}
	return points
}

// charted makes pageData, with the numbers of what it has once.
type charted struct {
	*pageData
	families units.Numbers[analysis.Condition]
	notes    units.Numbers[string]
}

// addCurves adds curves, and where what was found on them is.
func (b *builder) addCurves(r *Report, f analysed) {
	to := charted{pageData: &r.charts}
	number := map[*analysis.Curve]int{}
	for i, c := range f.Curves {
		number[c] = i
		made := to.curveOf(c)
		if f.Ceilings != nil && c.Mode == coll.Throughput {
			made.setPeak(f.Ceilings(c))
		}
		if f.Models != nil {
			made.setModel(f.Models(c))
		}
		to.Curves = append(to.Curves, made)
	}
	if len(r.answers) > 0 {
		to.First = to.Curves[number[r.answers[0].Curve]].Family
	}
	for _, one := range f.Findings {
		for _, p := range one.Places() {
			to.Regions = append(to.Regions, region{one.Number, one.Code(), one.Severity, number[p.Curve], p.From, p.To})
		}
	}
	if f.More > 0 {
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{
			Shown: len(f.Findings), Of: len(f.Findings) + f.More, What: notice.LeftFindings,
		})
	}
}

func (d *charted) familyOf(under analysis.Condition) int {
	of := analysis.FamilyOf(under)
	n, added := d.families.Of(of)
	if added {
		d.Families = append(d.Families, family{
			Title: of.FamilyTitle(), Collective: of.Collective.String(), Root: of.Root, Mode: of.Mode.String(),
			Way:       title.Unusual(&result.Method{Rotate: of.Rotate, Aggregate: of.Aggregate, Average: of.Average}),
			Type:      title.Known(of.Type != 0, of.Type.String),
			Op:        title.Known(of.Op != 0, of.Op.String),
			Placement: title.KnownPlacement(of.Placement),
		})
	}
	return n
}

func (d *charted) note(text string) int {
	n, added := d.notes.Of(text)
	if added {
		d.Notes = append(d.Notes, text)
	}
	return n
}

func (d *charted) curveOf(c *analysis.Curve) curve {
	n, shape := len(c.Points), analysis.ShapeOf(c.Condition)
	made := curve{
		Family: d.familyOf(c.Condition), Who: c.Who, Backend: c.Backend, World: c.World, shape: shape,
		Label: c.Who + ", " + shape.Words(), Factor: c.Collective.BusFactor(c.World),
		Simulated: c.Rehearsed, Imported: c.Tool != "", Crowded: c.Crowded != nil, Lo: make(figures, n),
		Hi: make(figures, n),
	}
	notes := make([][]int, n)
	for i, p := range c.Points {
		made.Sizes, made.Time = append(made.Sizes, p.SizeBytes), append(made.Time, 1e6*p.Time.Value)
		made.Bases, made.Launches = append(made.Bases, int(p.Basis)), append(made.Launches, max(1, len(p.Launches)))
		if p.Basis != stats.NoBounds {
			made.Lo[i], made.Hi[i] = 1e6*p.Time.Lo, 1e6*p.Time.Hi
		}
		for kind, text := range warned {
			if p.Warned[kind] > 0 {
				notes[i] = append(notes[i], d.note(text))
			}
		}
		if p.Path != nil {
			notes[i] = append(notes[i], d.note("path: "+p.Path.String()))
		}
		if notes[i] != nil {
			made.Notes = notes
		}
	}
	return made
}

// warned are the notes on points by the kind of the warning.
var warned = []string{
	analysis.Bimodal:  "bimodal: the median describes at most one mode",
	analysis.Drifting: "drift: times rose or fell during the measurement",
}

func (c *curve) setPeak(of analysis.Ceiling) {
	switch {
	case of.Known():
		c.Peak = &peak{of.BusBW / 1e9, of.Name}
		if c.peakNote = "peak: " + of.Text(); of.Source != "" {
			c.peakNote += " (" + of.Source + ")"
		}
	case of.Fact != nil:
		c.peakNote = "no peak: " + of.Words()
	}
}

func (c *curve) setModel(of analysis.Model) {
	if fact := of.Fact(); fact != nil && len(of.Segments) > 0 {
		c.model = fmt.Sprintf("%s (%s)", notice.Message(fact), of.Bounds())
	}
	for _, l := range of.Segments {
		c.Segments = append(c.Segments, segment{l.From, l.To, figures{1e6 * l.Alpha, 1e6 * l.PerByte}})
	}
}

func (c *curve) busBW(size int64, seconds float64) float64 { return c.Factor * float64(size) / seconds }
