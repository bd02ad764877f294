package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/post/analysis"
	"busbar/post/compare"
	"busbar/post/expectdoc"
	"busbar/post/importer"
	"busbar/post/usage"
)

// expecter is what post expect was asked to do.
type expecter struct {
	streams
	expectdoc.Options
	failBelow, save, out string
	below                float64 // share
	outputFlags
}

func newExpect(to streams) *cobra.Command {
	e, peaks := &expecter{streams: to}, []string(nil)
	cmd := &cobra.Command{
		Use:     "expect [flags] [FILE|DIR...]",
		Short:   "Compare bandwidth with published values: is it normal?",
		GroupID: "results",
		Long: `Reads results and logs of other benchmarks, and compares the bus bandwidth with
values that others published for the same GPU, ranks per node, nodes, network
and collective. The verdict is below, within or above, or no-reference with
fewer than three sources. docs/expect.md has the rules and the coverage.`,
		Example: `  post expect
  post expect --fabric EFA all_reduce.log
  post expect --fail-below 90% results             # exit status 7 if lower
  post expect --save mine results && post expect --reference mine.csv new`,
		ValidArgsFunction: resultFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if e.Peaks, err = analysis.ParsePeaks(peaks); err == nil && e.failBelow != "" {
				if e.below, err = compare.ParsePercent(e.failBelow); err != nil {
					err = fmt.Errorf("--fail-below %w", err)
				}
			}
			if e.save != filepath.Base(e.save) && e.save != "" {
				err = errors.Join(err, fmt.Errorf("--save %s: must be a name; -o sets its folder", e.save))
			}
			if err = errors.Join(err, e.Check()); err != nil {
				return usage.New(err)
			}
			return e.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&e.Fabric, "fabric", "", "`NETWORK` between the nodes: EFA, InfiniBand, RoCE, TCPXO, …")
	f.StringArrayVar(&e.Reference, "reference", nil, "also compare with the values in this `FILE` (repeatable)")
	f.StringVar(&e.failBelow, "fail-below", "",
		"exit status 7 if a bandwidth is below this `PERCENT` of the\nmedian of the published values")
	f.StringVar(&e.save, "save", "", "also write the values into `NAME`.csv, for --reference")
	f.StringVarP(&e.out, "out", "o", ".", "folder `DIR` of --save")
	peakFlag(cmd, &peaks)
	e.flags(f)
	return cmd
}

func (e *expecter) run(ctx context.Context, args []string) error {
	e.Note = func(path string, made *importer.Imported) {
		fmt.Fprintf(e.stderr, "post: %s: %s\n", document.Printable(path), made.Summary())
	}
	found, err := expectdoc.Read(ctx, args, e.Options)
	if err != nil {
		return err
	}
	note(e.stderr, e.Kept(found.Problems))
	if e.save != "" {
		wrote := func(path string) { fmt.Fprintln(e.stderr, "post: wrote", path) }
		if err := found.Save(ctx, e.out, e.save, wrote); err != nil {
			return err
		}
	}
	return errors.Join(e.write(found.Document(e.Shows), e.stdout), found.Failed(e.below))
}
