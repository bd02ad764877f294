package plot

import (
	"context"
	"fmt"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
	"busbar/post/steps"
)

// Data are what plots show of a dataset, with its peaks.
type Data struct {
	Notes    []notice.Notice // on what was read; complete once it is
	points   []Point
	measured int                   // points that are ok
	lacking  analysis.Incomparable // points that lack what a plot needs
	ceilings *analysis.Ceilings
	trained  []*steps.Run
	patterns pattern.Runs
}

// Gather reads a dataset. Records that are not ok become points without a time.
func Gather(ctx context.Context, data *result.Dataset, peaks analysis.Peaks) (*Data, error) {
	m := &Data{ceilings: analysis.NewCeilings(peaks)}
	err := data.Each(func(r result.Row) error {
		m.patterns.Add(r)
		if m.lacking.Add(r) {
			return context.Cause(ctx)
		}
		p := Point{Run: r.Run, Case: r.Record.Case, nodes: r.Record.Nodes, perNode: r.Record.RanksPerNode}
		if r.Record.Status == result.OK && r.Record.Time != nil {
			p.Time = *r.Record.Time
			m.measured++
		}
		m.points = append(m.points, p)
		m.ceilings.Add(r)
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

// OnlyGroups reports whether nothing was measured but groups of nodes.
func (m *Data) OnlyGroups() bool { return len(m.points) == 0 && m.lacking.Groups }

// Files are the files of all plots, in each format; notDrawn lists omitted plots with the reason. The error counts the
// points if no plot is possible.
func (m *Data) Files(o Options) (files []atomicfile.Named, notDrawn []string, err error) {
	add := func(d *drawing) {
		for _, format := range o.Formats {
			draw := d.WritePNG
			if format == "svg" {
				draw = d.WriteSVG
			}
			files = append(files, atomicfile.Named{Name: d.Name + "." + format, Write: draw})
		}
	}
	o.limit = m.ceilings.Of
	figures, notDrawn := Figures(m.points, o)
	for _, f := range figures {
		add(f.drawing())
	}
	if o.Collectives == nil {
		for _, b := range barsOf(m.trained) {
			add(b.drawing())
		}
		for _, d := range matricesOf(&m.patterns) {
			add(d)
		}
	}
	if len(files) == 0 {
		err = fmt.Errorf("of %s, %d ok", units.Count(len(m.points), "point"), m.measured)
	}
	return files, notDrawn, err
}
