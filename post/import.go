package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/units"
	"busbar/post/foreign"
	"busbar/post/importer"
	"busbar/post/input"
	"busbar/post/usage"
)

// importCommand is what post import was asked to do.
type importCommand struct {
	streams
	words []string // of --set
	importer.Importer
}

func newImport(to streams) *cobra.Command {
	m := &importCommand{streams: to}
	cmd := &cobra.Command{
		Use:     "import [flags] FILE...",
		Short:   "Import the output of other benchmarks as result files",
		GroupID: "results",
		Long: `Reads text, JSON and CSV of nccl-tests and rccl-tests of all years, text of the
OSU and Intel benchmarks and of the collective profiler, tables of DeepSpeed
and all_reduce_bench, and CSV of all-reduce scripts. import detects the layout
by content (docs/import.md). It writes results files into ./results for report,
show and the other commands. Each names the tool and the source file.

A row becomes one record per placement; rows are never merged. A value that the
file lacks stays empty; --set supplies it. Lines outside a known layout are
counted, and the first is printed. A second import replaces the first.`,
		Example: `  post import all_reduce.log
  post import -o baseline logs/*.log && post merge baseline
  post import --set world=16 --set placement=out osu_allgather.txt`,
		Args: atLeastOne("file"),
		RunE: m.run,
	}
	cmd.Flags().StringVarP(&m.Dir, "out", "o", input.DefaultFolder, "write into this `DIR`")
	cmd.Flags().BoolVar(&m.Strict, "strict", false, "fail on unknown lines, incomplete rows and doubtful points")
	cmd.Flags().StringArrayVar(&m.words, "set", nil,
		"supply `KEY=VALUE` if the file lacks it: world, collective,\ntype, placement, mode")
	return cmd
}

func (m *importCommand) run(cmd *cobra.Command, args []string) (err error) {
	if m.Given, err = foreign.ParseGiven(m.words); err != nil {
		return usage.New(fmt.Errorf("--set: %w", err))
	}
	ctx, failed := cmd.Context(), 0
	for _, path := range args {
		made, err := m.File(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if _, full := errors.AsType[*importer.UnwritableError](err); full {
			return err
		}
		if err != nil {
			failed++
			m.say(err.Error())
			continue
		}
		m.report(path, made)
	}
	if failed > 0 {
		err := fmt.Errorf("failed to import %d of %s", failed, units.Count(len(args), "file"))
		if failed < len(args) {
			err = fmt.Errorf("%w; imported: %s", err, m.Summary())
		}
		return err
	}
	m.say(m.Summary())
	return nil
}

// report prints what became of a file.
func (m *importCommand) report(path string, made *importer.Imported) {
	for _, r := range made.Runs {
		fmt.Fprintln(m.stdout, r.Path)
		for _, w := range r.Warnings {
			m.say(path + ": " + w)
		}
	}
	m.say(path + ": " + made.Summary())
	if first := made.Counts.First; first.Fact != nil {
		m.say("the first: " + first.Text())
	}
}

func (m *importCommand) say(text string) { fmt.Fprintln(m.stderr, "post:", document.Printable(text)) }
