package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/atomicfile"
	"busbar/post/plot"
)

// output is one file of a report.
type output struct {
	name  string
	write func(io.Writer) error
}

// comparison writes the report that sets backends side by side.
func (r *reporter) comparison(ctx context.Context, f *findings) error {
	outputs := append(f.tables(),
		output{"full_results.md", written(f.fullResults, document.Markdown)},
		output{"summary_by_config.md", written(f.summary, document.Markdown)},
		output{"analysis.txt", written(f.analysis, document.Text)})
	pictures, passed := plot.Comparison(f.points(), pictured)
	for _, p := range pictures {
		outputs = append(outputs, output{p.Name + ".png", p.WritePNG})
	}
	for _, words := range passed {
		fmt.Fprintln(r.stderr, "post: not drawn:", words)
	}
	for _, o := range outputs {
		path := filepath.Join(r.out, o.name)
		if err := atomicfile.Write(ctx, []string{path}, func(w []io.Writer) error { return o.write(w[0]) }); err != nil {
			return err
		}
		fmt.Fprintln(r.stdout, path)
	}
	f.noteStale(r.out, outputs)
	return nil
}

// written writes a document once it is asked for.
func written(of func() *document.Document, format document.Format) func(io.Writer) error {
	return func(w io.Writer) error { return of().Write(w, format) }
}

// pictured is the size in bytes at which backends are set side by side in a picture of their own.
const pictured = 100 << 20

// points are the rows as the drawing takes them.
func (f *findings) points() []plot.Point {
	points := make([]plot.Point, len(f.rows))
	for i, row := range f.rows {
		points[i] = plot.Point{Run: row.Run, Case: row.Record.Case}
		if row.Record.Timed() {
			points[i].Time = *row.Record.Time
		}
	}
	return points
}

// noteStale notes tables and pictures that lie in the folder from earlier and were not written now.
func (f *findings) noteStale(dir string, written []output) {
	for _, form := range []string{"*_benchmark.csv", "allreduce_*.png"} {
		paths, _ := filepath.Glob(filepath.Join(escaped(dir), form)) // the only error is of the form
		for _, path := range paths {
			if !slices.ContainsFunc(written, func(o output) bool { return o.name == filepath.Base(path) }) {
				f.notes = append(f.notes, notice.InFile(path, 0, notice.StaleOutput{}))
			}
		}
	}
}

// escaped is a path that stands for itself in a form.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
