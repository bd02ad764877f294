// Package plotpoints gathers what plots show: points with their peaks and findings.
package plotpoints

import (
	"context"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/plot"
)

// Points are the points of a dataset as plots take them, with their peaks and findings.
type Points struct {
	Points   []plot.Point
	Measured int                   // points that are ok
	Lacking  analysis.Incomparable // points that lack what a plot needs
	ceilings *analysis.Ceilings
	curves   *analysis.Collector
}

// Gather reads a dataset. Records that are not ok become points without a time.
func Gather(ctx context.Context, data *result.Dataset, peaks analysis.Peaks) (*Points, error) {
	m := &Points{ceilings: analysis.NewCeilings(peaks), curves: analysis.NewCollector()}
	err := data.Each(func(r result.Row) error {
		if m.Lacking.Add(r) {
			return context.Cause(ctx)
		}
		p := plot.Point{Run: r.Run, Case: r.Record.Case}
		if r.Record.Status == result.OK && r.Record.Time != nil {
			p.Time = *r.Record.Time
			m.Measured++
		}
		m.Points = append(m.Points, p)
		m.ceilings.Add(r)
		m.curves.Add(r)
		return context.Cause(ctx)
	})
	return m, err
}

// Limit is the peak of a case of runs.
func (m *Points) Limit(runs []*result.Run, of coll.Case) plot.Limit {
	c := m.ceilings.Of(runs, of)
	return plot.Limit{GBps: c.BusBW / 1e9, Figure: c.Figure(), Name: c.Name, Moot: c.Moot}
}

// Remarks are the findings on curves, the most serious first.
func (m *Points) Remarks() (remarks []plot.Remark) {
	found, _ := analysis.Find(m.curves.Curves(), analysis.Options{Ceiling: m.ceilings.OfCurve})
	for _, f := range found {
		for _, p := range f.Places() {
			if p.From > 0 && p.To > 0 && len(p.Curve.Runs) > 0 {
				remarks = append(remarks, plot.Remark{Run: p.Curve.Runs[0], Case: p.Curve.Condition.Case, Number: f.Number,
					From: p.From, To: p.To, Says: p.Brief()})
			}
		}
	}
	return remarks
}
