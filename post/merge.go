package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"busbar/internal/result"
	"busbar/post/export"
	"busbar/post/input"
	"busbar/post/usage"
)

// merger is what post merge was asked to do.
type merger struct {
	streams
	result.MergeOptions
	out     string
	formats []string
}

func newMerge(to streams) *cobra.Command {
	m := &merger{streams: to}
	cmd := &cobra.Command{
		Use:     "merge [flags] [FILE|DIR...]",
		Short:   "Merge all runs into one table (merged.csv, merged.jsonl)",
		GroupID: "results",
		Long: `Writes one row per point and run. Column names contain the units
(docs/file-format.md). Runs of all world sizes, backends and launches go into
one table. A record counts once, also if its file is named twice. In a chain of
resumed runs, an ok point replaces a failed one; wrong data stays. merge
reports interrupted runs, torn lines and unreadable files on stderr, and merges
the rest.

Training steps (rank --step) go into steps.csv.

The files go into the folder that was read, or into the current folder if there
were several. merge never reads its own files.`,
		Example: `  post merge
  post merge --format markdown results
  post merge -o tables run1 run2 run3/profile_mpi_world4_20260301T120000Z.jsonl`,
		ValidArgsFunction: resultFiles,
		RunE:              m.run,
	}
	cmd.Flags().StringVarP(&m.out, "out", "o", "", "write into this `DIR`")
	cmd.Flags().StringSliceVar(&m.formats, "format", export.TableFormats[:2], "write `THESE`: csv, jsonl, markdown")
	rehearsedFlag(cmd, &m.MergeOptions)
	return cmd
}

func (m *merger) run(cmd *cobra.Command, args []string) error {
	formats, err := usage.Words("format", m.formats, export.TableFormats)
	if err != nil {
		return usage.New(err)
	}
	data, passed, err := input.Merge(cmd.Context(), args, m.MergeOptions)
	if err != nil {
		return err
	}
	dir, err := input.Folder(m.out, args)
	if err != nil {
		return err
	}
	merged, err := export.Merge(cmd.Context(), data, formats, dir)
	for _, path := range merged.Paths {
		fmt.Fprintln(m.stdout, path)
	}
	if err != nil {
		return err
	}
	notes := slices.Concat(passed, merged.Notes)
	if len(merged.Paths) == 0 {
		return &result.NothingError{Problems: notes}
	}
	note(m.stderr, notes)
	fmt.Fprintln(m.stderr, "post:", merged.Summary())
	return nil
}
