package main

import (
	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/plot"
)

// marks are what pictures have beside their curves: ceilings and findings.
type marks struct {
	ceilings *analysis.Ceilings
	curves   *analysis.Collector
}

func newMarks(peaks analysis.Peaks) *marks {
	return &marks{analysis.NewCeilings(peaks), analysis.NewCollector()}
}

func (m *marks) Add(r result.Row) {
	m.ceilings.Add(r)
	m.curves.Add(r)
}

func (m *marks) limit(runs []*result.Run, of coll.Case) plot.Limit {
	c := m.ceilings.Of(runs, of)
	return plot.Limit{GBps: c.BusBW / 1e9, Figure: c.Figure(), Name: c.Name, Moot: c.Moot}
}

// remarks are the findings on curves, the most serious first.
func (m *marks) remarks() (remarks []plot.Remark) {
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
