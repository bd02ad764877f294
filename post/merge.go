package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/input"
	"busbar/post/usage"
)

// merger is what post merge was asked to do.
type merger struct {
	stdout, stderr io.Writer
	result.MergeOptions
	out     string
	formats []string
}

var (
	tableFormats = []string{"csv", "jsonl", "md"}
	tableFormat  = map[string]result.Format{"csv": result.CSV, "jsonl": result.JSONL, "md": result.Markdown}
)

func newMerge(stdout, stderr io.Writer) *cobra.Command {
	m := &merger{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "merge [flags] [FILE|DIR...]",
		Short:   "Put all runs into one table (merged.csv, merged.jsonl)",
		GroupID: "results",
		Long: `One row per point and run, units in the column names (docs/file-format.md lists
the columns). Runs of several worlds, backends and launches go into one table.
No record is taken twice, however often its file is named; along a chain of
resumed runs an ok point stands for one that was not, but for wrong data, which
stays. Interrupted runs, torn lines, and files and folders that cannot be read
are named on stderr and the rest is merged.

Training steps (rank --step) go into a table of their own, steps.csv; the others
are written only where collectives were measured.

The table is written into the one folder read, or into the current folder if
there were several. What merge wrote is never read as input.`,
		Example: `  post merge
  post merge --format md results
  post merge -o tables run1 run2 run3/profile_mpi_world4_20260301T120000Z.jsonl`,
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return m.run(cmd.Context(), cmd, args) },
	}
	cmd.Flags().StringVarP(&m.out, "out", "o", "", "write into this `DIR`")
	cmd.Flags().StringSliceVar(&m.formats, "format", tableFormats[:2], "write `THESE`: csv, jsonl, md")
	rehearsedFlag(cmd, &m.MergeOptions)
	return cmd
}

func (m *merger) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	formats, err := words("format", m.formats, tableFormats)
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	files, passed, err := input.Find(args)
	if err != nil {
		return err
	}
	data, err := result.MergeContext(ctx, files, m.MergeOptions)
	if err != nil {
		return err
	}
	dir := m.out
	if dir == "" {
		if dir, err = input.Folder(args); err != nil {
			return err
		}
	}
	notes := slices.Clone(passed)
	points, err := m.cases(ctx, data, formats, dir)
	if err != nil {
		return err
	}
	trained, problems := result.ReadStepRuns(data.StepFiles())
	steps, err := m.steps(ctx, trained, dir, &problems)
	if err != nil {
		return err
	}
	notes = slices.Concat(notes, data.Notes(), problems)
	if points+steps == 0 {
		return &result.NothingError{Problems: notes}
	}
	note(m.stderr, notes)
	runs, counted := data.Runs(), units.Count(points+steps, "point")
	if steps > 0 {
		counted += fmt.Sprintf(" (%d of training steps)", steps)
	}
	fmt.Fprintf(m.stderr, "post: %s, %s, of %s\n", counted, units.Count(len(runs), "run"), contents(runs))
	return nil
}

// errNoPoints says that a table would be empty, and is not written.
var errNoPoints = errors.New("no points")

// cases writes the tables of collectives, unless there are none, and returns the number of rows.
func (m *merger) cases(
	ctx context.Context, data *result.Dataset, formats []string, dir string,
) (points int, err error) {
	var paths []string
	for _, format := range formats {
		paths = append(paths, filepath.Join(dir, "merged."+format))
	}
	err = atomicfile.Write(ctx, paths, func(w []io.Writer) (err error) {
		outputs := make([]result.Output, len(w))
		for i, format := range formats {
			outputs[i] = result.Output{Format: tableFormat[format], Writer: w[i]}
		}
		if points, err = data.Write(outputs...); err == nil && points == 0 {
			err = errNoPoints
		}
		return err
	})
	return points, m.wrote(paths, err)
}

// steps writes the table of training steps, unless there are none, and returns the number of rows. Problems are added.
func (m *merger) steps(
	ctx context.Context, trained []*result.StepFile, dir string, problems *[]notice.Notice,
) (points int, err error) {
	rows, found := result.MergeSteps(trained)
	*problems = append(*problems, found...)
	if len(rows) == 0 {
		return 0, nil
	}
	path := filepath.Join(dir, "steps.csv")
	err = atomicfile.Write(ctx, []string{path}, func(w []io.Writer) error { return result.WriteStepsCSV(w[0], rows) })
	return len(rows), m.wrote([]string{path}, err)
}

// wrote says which files were written; that there was nothing to write is no error.
func (m *merger) wrote(paths []string, err error) error {
	if errors.Is(err, errNoPoints) {
		return nil
	}
	if err == nil {
		for _, path := range paths {
			fmt.Fprintln(m.stdout, path)
		}
	}
	return err
}

// contents says which backends, worlds and launches there are.
func contents(runs []*result.Run) string {
	var backends, worlds, launches []string
	for _, r := range slices.SortedFunc(slices.Values(runs), func(a, b *result.Run) int { return a.World - b.World }) {
		backends = units.AddOnce(backends, r.Backend.Name)
		worlds = units.AddOnce(worlds, fmt.Sprint(r.World))
		launches = units.AddOnce(launches, r.Launch)
	}
	return fmt.Sprintf("%s, %s (%s), %s", units.Count(len(backends), "backend"), units.Count(len(worlds), "world"),
		units.Some(worlds), units.Count(len(launches), "launch"))
}

// words are the values, each once. The error is that there is none, or one that is not among the known ones.
func words(kind string, values, known []string) (once []string, err error) {
	for _, v := range values {
		if !slices.Contains(known, v) {
			return nil, coll.Unknown(kind, v, known)
		}
		once = units.AddOnce(once, v)
	}
	if once == nil {
		return nil, fmt.Errorf("--%s names nothing; known: %s", kind, strings.Join(known, ", "))
	}
	return once, nil
}
