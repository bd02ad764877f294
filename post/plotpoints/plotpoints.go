// Package plotpoints gathers what plots show: points with their peaks and findings.
package plotpoints

import (
	"context"
	"fmt"
	"io"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
	"busbar/post/plot"
	"busbar/post/steps"
)

// Points are the points of a dataset as plots take them, with their peaks and findings.
type Points struct {
	Notes    []notice.Notice // on what was read; complete once it is
	points   []plot.Point
	measured int                   // points that are ok
	lacking  analysis.Incomparable // points that lack what a plot needs
	ceilings *analysis.Ceilings
	curves   *analysis.Collector
	trained  []*steps.Run
}

// Gather reads a dataset. Records that are not ok become points without a time.
func Gather(ctx context.Context, data *result.Dataset, peaks analysis.Peaks) (*Points, error) {
	m := &Points{ceilings: analysis.NewCeilings(peaks), curves: analysis.NewCollector()}
	err := data.Each(func(r result.Row) error {
		if m.lacking.Add(r) {
			return context.Cause(ctx)
		}
		p := plot.Point{Run: r.Run, Case: r.Record.Case}
		if r.Record.Status == result.OK && r.Record.Time != nil {
			p.Time = *r.Record.Time
			m.measured++
		}
		m.points = append(m.points, p)
		m.ceilings.Add(r)
		m.curves.Add(r)
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	trained, unread, err := steps.Read(ctx, data)
	if err != nil {
		return nil, err
	}
	m.trained, m.Notes = trained, slices.Concat(data.Notes(), unread, m.lacking.Notices())
	return m, nil
}

// OnlyGroups reports whether nothing was measured but groups of nodes, which have no plots.
func (m *Points) OnlyGroups() bool { return len(m.points) == 0 && m.lacking.Groups }

// Options are what is drawn, and how.
type Options struct {
	Formats     []string // png, svg
	Bandwidths  []plot.Measure
	Collectives []coll.Collective // only these, without training steps; all when empty
}

// picture is what is drawn, whatever it shows.
type picture interface {
	WritePNG(w io.Writer) error
	WriteSVG(w io.Writer) error
}

// Files are the files of all plots, in each format; notDrawn is what is left out and why. The error counts the points
// where there is nothing to draw.
func (m *Points) Files(o Options) (files []atomicfile.Named, notDrawn []string, err error) {
	add := func(name string, one picture) {
		for _, format := range o.Formats {
			draw := one.WritePNG
			if format == "svg" {
				draw = one.WriteSVG
			}
			files = append(files, atomicfile.Named{Name: name + "." + format, Write: draw})
		}
	}
	figures, notDrawn := plot.Figures(m.points, plot.Options{
		Bandwidths: o.Bandwidths, Collectives: o.Collectives, Limit: m.limit, Remarks: m.remarks(),
	})
	for _, f := range figures {
		add(f.Name, f)
	}
	if o.Collectives == nil {
		for _, b := range plot.Steps(m.trained) {
			add(b.Name, b)
		}
	}
	if len(files) == 0 {
		err = fmt.Errorf("of %s, %d ok", units.Count(len(m.points), "point"), m.measured)
	}
	return files, notDrawn, err
}

// limit is the peak of a case of runs.
func (m *Points) limit(runs []*result.Run, of coll.Case) plot.Limit {
	c := m.ceilings.Of(runs, of)
	return plot.Limit{GBps: c.BusBW / 1e9, Figure: c.Figure(), Name: c.Name, Moot: c.Moot}
}

// remarks are the findings on curves, the most serious first.
func (m *Points) remarks() (remarks []plot.Remark) {
	found, _ := analysis.Find(m.curves.Curves(), analysis.Options{Ceiling: m.ceilings.OfCurve})
	for _, f := range found {
		for _, p := range f.Places() {
			if p.From > 0 && p.To > 0 && len(p.Curve.Runs) > 0 {
				remarks = append(remarks,
					plot.Remark{Run: p.Curve.Runs[0], Case: p.Curve.Condition.Case, Number: f.Number,
						From: p.From, To: p.To, Says: p.Brief()})
			}
		}
	}
	return remarks
}
