package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/atomicfile"
)

// TableFormats are the formats of merged tables.
var TableFormats = []string{"csv", "jsonl", "markdown"}

var tables = map[string]struct {
	result.Format
	file string
}{
	"csv": {result.CSV, "merged.csv"}, "jsonl": {result.JSONL, "merged.jsonl"},
	"markdown": {result.Markdown, "merged.md"},
}

// Merged is what was written of a dataset.
type Merged struct {
	Paths  []string        // of the files
	Notes  []notice.Notice // on what was read
	runs   []*result.Run
	points int // of collectives
	steps  int // points of training steps
}

// Merge writes the tables of a dataset into a folder: that of collectives in each format, and that of training steps.
// A table without rows is not written. With an error, it returns the paths of the tables written before.
func Merge(ctx context.Context, data *result.Dataset, formats []string, dir string) (*Merged, error) {
	m := &Merged{runs: data.Runs()}
	if err := m.collectives(ctx, data, formats, dir); err != nil {
		return m, err
	}
	trained, problems := result.ReadStepRuns(data.StepFiles())
	rows, more := result.MergeSteps(trained)
	if m.steps = len(rows); m.steps > 0 {
		path := filepath.Join(dir, "steps.csv")
		err := atomicfile.Write(ctx, []string{path}, func(w []io.Writer) error {
			return result.WriteStepsCSV(w[0], rows)
		})
		if err != nil {
			return m, err
		}
		m.Paths = append(m.Paths, path)
	}
	m.Notes = slices.Concat(data.Notes(), problems, more)
	return m, nil
}

// errNoPoints is that a table would be empty; the file is not written.
var errNoPoints = errors.New("no points")

// collectives writes the tables of collectives.
func (m *Merged) collectives(ctx context.Context, data *result.Dataset, formats []string, dir string) error {
	var paths []string
	for _, format := range formats {
		paths = append(paths, filepath.Join(dir, tables[format].file))
	}
	err := atomicfile.Write(ctx, paths, func(w []io.Writer) (err error) {
		outputs := make([]result.Output, len(w))
		for i, format := range formats {
			outputs[i] = result.Output{Format: tables[format].Format, Writer: w[i]}
		}
		if m.points, err = data.Write(outputs...); err == nil && m.points == 0 {
			err = errNoPoints
		}
		return err
	})
	switch {
	case errors.Is(err, errNoPoints):
		return nil
	case err != nil:
		return err
	}
	m.Paths = paths
	return nil
}

// Summary counts points, runs, backends, worlds and launches.
func (m *Merged) Summary() string {
	var backends, worlds, launches []string
	runs := slices.Clone(m.runs)
	units.SortBy(runs, func(r *result.Run) int { return r.World })
	for _, r := range runs {
		backends = units.AddOnce(backends, r.Backend.Name)
		worlds = units.AddOnce(worlds, fmt.Sprint(r.World))
		launches = units.AddOnce(launches, r.Launch)
	}
	points := units.Count(m.points+m.steps, "point")
	if m.steps > 0 {
		points += fmt.Sprintf(" (%d of training steps)", m.steps)
	}
	return fmt.Sprintf("%s, %s, of %s, %s (%s), %s", points, units.Count(len(m.runs), "run"),
		units.Count(len(backends), "backend"), units.Count(len(worlds), "world"), units.Some(worlds),
		units.Count(len(launches), "launch"))
}
