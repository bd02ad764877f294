// Package sidebyside sets backends side by side: the tables and plots of post report --layout comparison, and the
// headlines that compare backends.
package sidebyside

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
	"busbar/post/plot"
)

// Results are the rows that are compared, by contender, condition and run.
type Results struct {
	data   *result.Dataset
	rows   []result.Row
	curves []*analysis.Curve
	name   map[analysis.Contender]string
	lacks  analysis.Incomparable
}

// Gather reads a dataset. The error may be that it has no row to compare.
func Gather(ctx context.Context, data *result.Dataset) (*Results, error) {
	f := &Results{data: data}
	err := data.Each(func(row result.Row) error {
		if !f.lacks.Add(row) {
			f.rows = append(f.rows, row)
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	if len(f.rows) == 0 {
		return nil, &result.NothingError{Problems: f.Notes()}
	}
	slices.SortStableFunc(f.rows, func(a, b result.Row) int {
		return cmp.Or(analysis.CompareContenders(analysis.ContenderOf(a.Run), analysis.ContenderOf(b.Run)),
			analysis.CompareConditions(analysis.ConditionOf(a.Run, a.Record), analysis.ConditionOf(b.Run, b.Record)),
			a.Run.Start.Compare(b.Run.Start), cmp.Compare(a.Record.N, b.Record.N))
	})
	f.collect()
	return f, nil
}

// collect makes curves of the rows, and names their contenders.
func (f *Results) collect() {
	times := analysis.NewCollector()
	for _, row := range f.rows {
		times.Add(row)
	}
	f.curves = times.Curves()
	f.name = names(analysis.ContendersOf(f.curves))
}

// names are contenders with their names; simulated ones are marked.
func names(all []analysis.Contender) map[analysis.Contender]string {
	name := analysis.Names(all)
	for _, who := range all {
		if who.Rehearsed {
			name[who] += " (simulated)"
		}
	}
	return name
}

// Notes are on what was read.
func (f *Results) Notes() []notice.Notice { return slices.Concat(f.data.Notes(), f.lacks.Notices()) }

// plottedSize is the size in bytes at which a plot sets backends side by side.
const plottedSize = 100 << 20

// Files are the files of the layout, with the headlines of the report on the same dataset. notDrawn are the reasons why
// plots are missing.
func (f *Results) Files(headlines *document.Document) (files []atomicfile.Named, notDrawn []string) {
	files = append(f.tables(), atomicfile.Named{Name: "full_results.md", Write: f.writeFull},
		atomicfile.Named{Name: "summary_by_config.md", Write: func(w io.Writer) error {
			return f.summary().Write(w, document.Markdown)
		}},
		atomicfile.Named{Name: "analysis.txt", Write: func(w io.Writer) error {
			return headlines.Write(w, document.Text)
		}})
	points := make([]plot.Point, len(f.rows))
	for i, row := range f.rows {
		points[i] = plot.Point{Run: row.Run, Case: row.Record.Case}
		if row.Record.Timed() {
			points[i].Time = *row.Record.Time
		}
	}
	plots, notDrawn := plot.Comparison(points, plottedSize)
	for _, p := range plots {
		files = append(files, atomicfile.Named{Name: p.Name + ".png", Write: p.WritePNG})
	}
	return files, notDrawn
}

// writeFull writes every point of every run, as in merged.md.
func (f *Results) writeFull(w io.Writer) error {
	if f.simulated() {
		fmt.Fprintf(w, "%s\n\n", notice.Message(notice.SimulatedRuns{}))
	}
	_, err := f.data.Write(result.Output{Format: result.Markdown, Writer: w})
	return err
}

func (f *Results) simulated() bool {
	return slices.ContainsFunc(f.rows, func(row result.Row) bool { return row.Run.Rehearse })
}
