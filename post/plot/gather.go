package plot

import (
	"context"
	"fmt"
	"io"
	"slices"

	"busbar/internal/notice"
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
}

// Gather reads a dataset. Records that are not ok become points without a time.
func Gather(ctx context.Context, data *result.Dataset, peaks analysis.Peaks) (*Data, error) {
	m := &Data{ceilings: analysis.NewCeilings(peaks)}
	err := data.Each(func(r result.Row) error {
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

// OnlyGroups reports whether nothing was measured but groups of nodes, which have no plots.
func (m *Data) OnlyGroups() bool { return len(m.points) == 0 && m.lacking.Groups }

// Files are the files of all plots, in each format; notDrawn lists omitted plots with the reason. The error counts the
// points if no plot is possible.
func (m *Data) Files(o Options) (files []atomicfile.Named, notDrawn []string, err error) {
	add := func(name string, one interface{ drawing() *drawing }) {
		for _, format := range o.Formats {
			write := (*drawing).writePNG
			if format == "svg" {
				write = (*drawing).writeSVG
			}
			files = append(files, atomicfile.Named{Name: name + "." + format,
				Write: func(w io.Writer) error { return write(one.drawing(), w) }})
		}
	}
	o.limit = m.ceilings.Of
	figures, notDrawn := Figures(m.points, o)
	for _, f := range figures {
		add(f.Name, f)
	}
	if o.Collectives == nil {
		for _, b := range barsOf(m.trained) {
			add(b.Name, b)
		}
	}
	if len(files) == 0 {
		err = fmt.Errorf("of %s, %d ok", units.Count(len(m.points), "point"), m.measured)
	}
	return files, notDrawn, err
}
