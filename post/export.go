package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/atomicfile"
	"busbar/post/export"
	"busbar/post/input"
	"busbar/post/usage"
)

// exportCommand is what post export was asked to do.
type exportCommand struct {
	streams
	result.MergeOptions
	out     string
	formats []string
}

func newExport(to streams) *cobra.Command {
	e := &exportCommand{streams: to}
	cmd := &cobra.Command{
		Use:     "export --format FORMAT [flags] [FILE|DIR...]",
		Short:   "Export results as CSV, JSON, nccl-tests or Prometheus text",
		GroupID: "results",
		Long: `csv is the merged table, json a list of its rows, nccl-tests the text of
nccl-tests (throughput mode, with what it has no columns for in comments), and
prometheus a file for node_exporter's textfile collector: of each point the
newest figure. One format goes to stdout; with -o each has a file in DIR:
busbar.csv, busbar.json, busbar_nccl-tests.log, busbar.prom. Files appear whole.`,
		Example: `  post export --format json results | jq '.[] | .busbw_GBps'
  post export --format prometheus -o /var/lib/prometheus/node-exporter
  post export --format nccl-tests results > all_reduce.log`,
		ValidArgsFunction: resultFiles,
		RunE:              e.run,
	}
	cmd.Flags().StringVarP(&e.out, "out", "o", "", "write into this `DIR`, not to stdout")
	cmd.Flags().StringSliceVar(&e.formats, "format", nil, "write `THESE`: csv, json, nccl-tests, prometheus")
	rehearsedFlag(cmd, &e.MergeOptions)
	return cmd
}

func (e *exportCommand) run(cmd *cobra.Command, args []string) error {
	formats, err := usage.Words("format", e.formats, export.Names)
	if err == nil && len(formats) > 1 && e.out == "" {
		err = errors.New("stdout takes one format; several go into a folder, named with -o")
	}
	if err != nil {
		return usage.New(err)
	}
	files, problems, err := input.Find(args)
	if err != nil {
		return err
	}
	for _, format := range formats {
		notes, err := e.format(cmd.Context(), export.Formats[format], files)
		if err != nil {
			return err
		}
		if format == formats[0] {
			problems = append(problems, notes...)
		}
	}
	note(e.stderr, problems)
	return nil
}

// format writes one format, whole.
func (e *exportCommand) format(ctx context.Context, f export.Format, files []string) (notes []notice.Notice,
	err error) {
	write := func(w io.Writer) (err error) {
		notes, err = f.Write(ctx, e.MergeOptions, files, w)
		return err
	}
	if e.out == "" {
		err = write(e.stdout)
		return notes, err
	}
	err = atomicfile.WriteAll(ctx, e.out, []atomicfile.Named{{Name: f.File, Write: write}},
		func(path string) { fmt.Fprintln(e.stdout, path) })
	return notes, err
}
