package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/atomicfile"
	"busbar/post/compare"
	"busbar/post/notices"
	"busbar/post/usage"
)

// comparer is what post compare was asked to do.
type comparer struct {
	streams
	compare.Options
	outputFlags
	out, baseline, margin, failAbove string
}

func newCompare(to streams) *cobra.Command {
	c := &comparer{streams: to}
	cmd := &cobra.Command{
		Use:     "compare [flags] A B [C...]  or  compare --by WORD [flags] [FILE|DIR...]",
		Short:   "Compare runs: regressions, improvements, significance",
		GroupID: "results",
		Long: `Compares files or folders of results point by point, each with the first. With
--by it compares parts of the results that differ in variant, library, backend,
device, host, tool, campaign, launch, date or an environment variable
(env:NCCL_ALGO). The first side is the oldest, or the one that --base names.

Launches (one mpirun or srun each) are compared, because they differ by more
than the confidence interval within a launch. A verdict requires at least 4
launches per side, ideally interleaved: A B A B A B A B. The verdicts:

  worse, better  a significant difference. Family-wise false-positive rate: at
                 most 5 % (--strict: 1 %, with 5 launches per side)
  same           the ratio's 95 % CI lies inside the margin (--margin)
  inconclusive   neither; with the number of launches that would decide

Points are compared if collective, type, placement, mode, size, world size and
settings are equal. Training steps (rank --step) are compared by their
overlapped step: same model, bucket size, computation and world size. compare
lists points without a partner, points that failed on one side, and other
differences between the sides. docs/compare.md has the formulas and a nightly
check.

With --baseline it compares nodes, or sets of nodes, of tonight (what is named)
with the fleet, and with their own earlier nights (DIR). The verdicts: failed,
below (the fleet), slower (than before), missing, within, without-verdict (fewer
than 8 nodes).`,
		Example: `  post compare baseline results
  post compare --by variant results
  post compare --fail-above 5% baseline tonight        # exit status 7 if worse
  post compare -o comparison baseline monday tuesday   # and Markdown, JSON
  post compare --baseline nights nights/2026-11-28     # each node of a fleet`,
		ValidArgsFunction: resultFiles,
		RunE:              c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.By, "by", "", "split by this `WORD`: variant, library, …")
	f.StringVar(&c.baseline, "baseline", "", "compare the nodes of a fleet, with earlier nights in `DIR`")
	f.StringVar(&c.Base, "base", "", "compare with the side of this `NAME`")
	f.StringVarP(&c.out, "out", "o", "", "also write compare.md, compare.json and a chart of nodes\ninto this `DIR`")
	f.StringVar(&c.failAbove, "fail-above", "",
		"exit status 7 if a point is worse by more than this `PERCENT`, or fails")
	c.statistics(cmd)
	return cmd
}

// statistics adds the flags of all that compares launches.
func (c *comparer) statistics(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.margin, "margin", "3%", "differences up to this `PERCENT` are none")
	f.BoolVar(&c.Strict, "strict", false, "err in 1 % of comparisons, not in 5 %; intervals of 99 %")
	f.Uint64Var(&c.Seed, "seed", 1, "`NUMBER` that draws start from, where there are too many launches for all ways")
	rehearsedFlag(cmd, &c.MergeOptions)
	c.flags(f)
}

func (c *comparer) wrote(path string) { fmt.Fprintln(c.stderr, "post: wrote", path) }

func (c *comparer) run(cmd *cobra.Command, args []string) error {
	limits, err := compare.ParseLimits(c.margin, c.failAbove, cmd.Flags().Changed("fail-above"))
	if err = errors.Join(err, c.Check()); err != nil {
		return usage.New(err)
	}
	c.Limits, c.Args, c.Divide = limits, args, cmd.Flags().Changed("by")
	if cmd.Flags().Changed("baseline") {
		f, notes, err := compare.NewFleet(cmd.Context(), &c.Options, c.baseline)
		if err != nil {
			return err
		}
		return c.finish(cmd.Context(), f.Document(c.Kept), notes, f.Exceeded(), f.Charts())
	}
	all, lacking, notes, err := compare.Results(cmd.Context(), &c.Options)
	if err != nil {
		return err
	}
	all.Ignore(c.Shows)
	return c.finish(cmd.Context(), all.Document(c.Kept(lacking)), notes, all.Exceeded(), nil)
}

// finish writes and prints a document, with the notices on what was read.
func (c *comparer) finish(
	ctx context.Context, doc *document.Document, notes []notice.Notice, exceeded error, charts []atomicfile.Named,
) error {
	notes = c.Kept(notes)
	doc.Notices = append(slices.Clone(notes), doc.Notices...)
	if c.out != "" {
		if err := compare.Save(ctx, c.out, doc, c.wrote, charts...); err != nil {
			return err
		}
	}
	err := c.write(doc, c.stdout)
	note(c.stderr, notes)
	if _, failOn := errors.AsType[*notices.FailOnError](err); err != nil && !failOn {
		return err
	}
	return cmp.Or(exceeded, err)
}
