package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/atomicfile"
	"busbar/post/input"
	"busbar/post/usage"
)

// exporter is what post export was asked to do.
type exporter struct {
	stdout, stderr io.Writer
	result.MergeOptions
	out     string
	formats []string
}

// exportFile is one form that results are given to other programs in.
type exportFile struct {
	name  string
	write func(e *exporter, ctx context.Context, files []string, w io.Writer) (notes []notice.Notice, err error)
}

var (
	exportFormats = []string{"csv", "json", "nccl-tests", "prometheus"}
	exportFiles   = map[string]exportFile{
		"csv":        {"busbar.csv", (*exporter).csv},
		"json":       {"busbar.json", (*exporter).json},
		"nccl-tests": {"busbar_nccl-tests.log", (*exporter).ncclTests},
		"prometheus": {"busbar.prom", (*exporter).prometheus},
	}
)

func newExport(stdout, stderr io.Writer) *cobra.Command {
	e := &exporter{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "export --format FORMAT [flags] [FILE|DIR...]",
		Short:   "Give results to other programs (CSV, JSON, nccl-tests, Prometheus)",
		GroupID: "results",
		Long: `csv is the merged table, json a list of its rows, nccl-tests the text of
nccl-tests (throughput mode, with what it has no columns for in comments), and
prometheus a file for node_exporter's textfile collector: of each point the
newest figure. One format goes to stdout; with -o each has a file in DIR:
busbar.csv, busbar.json, busbar_nccl-tests.log, busbar.prom. Files appear whole.`,
		Example: `  post export --format json results | jq '.[] | .busbw_GBps'
  post export --format prometheus -o /var/lib/node_exporter
  post export --format nccl-tests results > all_reduce.log`,
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return e.run(cmd.Context(), cmd, args) },
	}
	cmd.Flags().StringVarP(&e.out, "out", "o", "", "write into this `DIR`, not to stdout")
	cmd.Flags().StringSliceVar(&e.formats, "format", nil, "write `THESE`: csv, json, nccl-tests, prometheus")
	e.NoSteps = true
	rehearsedFlag(cmd, &e.MergeOptions)
	return cmd
}

func (e *exporter) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	formats, err := words("format", e.formats, exportFormats)
	if err == nil && len(formats) > 1 && e.out == "" {
		err = errors.New("stdout takes one format; several go into a folder, named with -o")
	}
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	files, problems, err := input.Find(args)
	if err != nil {
		return err
	}
	for _, format := range formats {
		notes, err := e.format(ctx, exportFiles[format], files)
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

// format writes one form, whole.
func (e *exporter) format(ctx context.Context, f exportFile, files []string) (notes []notice.Notice, err error) {
	if e.out == "" {
		w := bufio.NewWriter(e.stdout)
		notes, err = f.write(e, ctx, files, w)
		if flushed := w.Flush(); err == nil {
			err = flushed
		}
		return notes, err
	}
	path := filepath.Join(e.out, f.name)
	err = atomicfile.Write(ctx, []string{path}, func(w []io.Writer) (err error) {
		b := bufio.NewWriter(w[0])
		if notes, err = f.write(e, ctx, files, b); err == nil {
			err = b.Flush()
		}
		return err
	})
	if err == nil {
		fmt.Fprintln(e.stdout, path)
	}
	return notes, err
}

func (e *exporter) csv(ctx context.Context, files []string, w io.Writer) ([]notice.Notice, error) {
	return e.table(ctx, files, result.Output{Format: result.CSV, Writer: w})
}

func (e *exporter) json(ctx context.Context, files []string, w io.Writer) ([]notice.Notice, error) {
	list := &jsonList{w: w}
	notes, err := e.table(ctx, files, result.Output{Format: result.JSONL, Writer: list})
	if err == nil {
		err = list.close()
	}
	return notes, err
}

// table writes the merged table.
func (e *exporter) table(ctx context.Context, files []string, o result.Output) ([]notice.Notice, error) {
	data, err := result.MergeContext(ctx, files, e.MergeOptions)
	if err != nil {
		return nil, err
	}
	rows, err := data.Write(o)
	if err == nil && rows == 0 {
		err = &result.NothingError{Problems: data.Notes()}
	}
	return data.Notes(), err
}

// jsonList makes one JSON list of lines of JSON, which it gets whole.
type jsonList struct {
	w     io.Writer
	begun bool
}

func (l *jsonList) Write(lines []byte) (int, error) {
	if len(lines) == 0 {
		return 0, nil
	}
	begin := ",\n"
	if !l.begun {
		begin, l.begun = "[\n", true
	}
	text := bytes.ReplaceAll(bytes.TrimSuffix(lines, []byte("\n")), []byte("\n"), []byte(",\n"))
	if _, err := io.WriteString(l.w, begin); err != nil {
		return 0, err
	}
	if _, err := l.w.Write(text); err != nil {
		return 0, err
	}
	return len(lines), nil
}

func (l *jsonList) close() error {
	end := "\n]\n"
	if !l.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(l.w, end)
	return err
}

// ncclTests writes run after run in the layout of nccl-tests. What it cannot hold is noted.
func (e *exporter) ncclTests(ctx context.Context, files []string, w io.Writer) (notes []notice.Notice, err error) {
	shown, measured, rehearsed, trained := 0, "", "", 0
	for _, path := range files {
		f, err := readRun(ctx, path)
		if ctx.Err() != nil {
			return notes, context.Cause(ctx)
		}
		if err != nil {
			notes = append(notes, notice.OfError(path, err))
			continue
		}
		if f.Run.Step != nil {
			trained++
			continue
		}
		if f.Run.Rehearse {
			rehearsed = path
		} else {
			measured = path
		}
		if measured != "" && rehearsed != "" && !e.IncludeRehearsed {
			return notes, &result.RehearsedError{Rehearsed: []string{rehearsed}, Measured: []string{measured}}
		}
		notes = append(notes, f.Problems...)
		if shown > 0 {
			fmt.Fprintln(w)
		}
		if left := notInNCCLTests(f); left != (notice.NotInNCCLTests{}) {
			notes = append(notes, notice.InFile(path, 0, left))
		}
		if writeNCCLTests(w, f) {
			shown++
		}
	}
	if trained > 0 {
		notes = append(notes, notice.New(notice.StepsSkipped{Files: trained}))
	}
	if shown == 0 {
		return notes, &result.NothingError{Problems: notes}
	}
	return notes, nil
}

// notInNCCLTests counts the points that the layout of nccl-tests cannot hold.
func notInNCCLTests(f *result.File) (left notice.NotInNCCLTests) {
	for i := range f.Records {
		switch r := &f.Records[i]; {
		case inNCCLTests(r):
		case r.Lacks() == (notice.Lack{}):
			left.Latency++
		default:
			left.Others++
		}
	}
	return left
}
