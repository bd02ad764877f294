package sidebyside

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/atomicfile"
	"busbar/post/plot"
)

// Files are the files of the layout, and why pictures are not drawn.
func (f *Results) Files() (files []atomicfile.Named, notDrawn []string) {
	files = append(f.tables(),
		atomicfile.Named{Name: "full_results.md", Write: written(f.fullResults, document.Markdown)},
		atomicfile.Named{Name: "summary_by_config.md", Write: written(f.summary, document.Markdown)},
		atomicfile.Named{Name: "analysis.txt", Write: written(f.analysis, document.Text)})
	pictures, notDrawn := plot.Comparison(f.points(), pictured)
	for _, p := range pictures {
		files = append(files, atomicfile.Named{Name: p.Name + ".png", Write: p.WritePNG})
	}
	return files, notDrawn
}

// written writes a document once it is asked for.
func written(of func() *document.Document, format document.Format) func(io.Writer) error {
	return func(w io.Writer) error { return of().Write(w, format) }
}

// pictured is the size in bytes at which backends are set side by side in a picture of their own.
const pictured = 100 << 20

// points are the rows as the drawing takes them.
func (f *Results) points() []plot.Point {
	points := make([]plot.Point, len(f.rows))
	for i, row := range f.rows {
		points[i] = plot.Point{Run: row.Run, Case: row.Record.Case}
		if row.Record.Timed() {
			points[i].Time = *row.Record.Time
		}
	}
	return points
}

// NoteStale notes tables and pictures that lie in the folder from earlier and were not written now.
func (f *Results) NoteStale(dir string, written []atomicfile.Named) {
	for _, form := range []string{"*_benchmark.csv", "allreduce_*.png"} {
		paths, _ := filepath.Glob(filepath.Join(escaped(dir), form)) // the only error is of the form
		for _, path := range paths {
			if !slices.ContainsFunc(written, func(o atomicfile.Named) bool { return o.Name == filepath.Base(path) }) {
				f.Notes = append(f.Notes, notice.InFile(path, 0, notice.StaleOutput{}))
			}
		}
	}
}

// escaped is a path that stands for itself in a form.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
