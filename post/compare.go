package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"busbar/internal/result"
	"busbar/post/compare"
	"busbar/post/notices"
	"busbar/post/usage"
)

// comparer is what post compare was asked to do.
type comparer struct {
	streams
	result.MergeOptions
	outputFlags
	by, base, out     string
	margin, failAbove string
	strict            bool
	seed              uint64
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
check.`,
		Example: `  post compare baseline results
  post compare --by variant results
  post compare --fail-above 5% baseline tonight        # exit status 7 if worse
  post compare -o comparison baseline monday tuesday   # and Markdown, JSON`,
		ValidArgsFunction: resultFiles,
		RunE:              c.run,
	}
	f := cmd.Flags()
	f.StringVar(&c.by, "by", "", "split by this `WORD`: variant, library, …")
	f.StringVar(&c.base, "base", "", "compare with the side of this `NAME`")
	f.StringVarP(&c.out, "out", "o", "", "also write compare.md and compare.json into this `DIR`")
	f.StringVar(&c.failAbove, "fail-above", "",
		"exit status 7 if a point is worse by more than this `PERCENT`, or fails")
	c.statistics(cmd)
	return cmd
}

// statistics adds the flags of all that compares launches.
func (c *comparer) statistics(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.margin, "margin", "3%", "differences up to this `PERCENT` are none")
	f.BoolVar(&c.strict, "strict", false, "err in 1 % of comparisons, not in 5 %; intervals of 99 %")
	f.Uint64Var(&c.seed, "seed", 1, "`NUMBER` that draws start from, where there are too many launches for all ways")
	rehearsedFlag(cmd, &c.MergeOptions)
	c.flags(f)
}

func (c *comparer) wrote(path string) { fmt.Fprintln(c.stderr, "post: wrote", path) }

func (c *comparer) run(cmd *cobra.Command, args []string) error {
	limits, err := compare.ParseLimits(c.margin, c.failAbove, cmd.Flags().Changed("fail-above"))
	if err = errors.Join(err, c.Check()); err != nil {
		return usage.New(err)
	}
	all, lacking, notes, err := compare.Results(cmd.Context(), &compare.Options{
		MergeOptions: c.MergeOptions, Args: args, Divide: cmd.Flags().Changed("by"), By: c.by, Base: c.base,
		Limits: limits, Strict: c.strict, Seed: c.seed,
	})
	if err != nil {
		return err
	}
	all.Ignore(c.Shows)
	doc := all.Document(c.Kept(lacking))
	notes = c.Kept(notes)
	doc.Notices = append(slices.Clone(notes), doc.Notices...)
	if c.out != "" {
		if err := compare.Save(cmd.Context(), c.out, doc, c.wrote); err != nil {
			return err
		}
	}
	err = c.write(doc, c.stdout)
	note(c.stderr, notes)
	if _, failOn := errors.AsType[*notices.FailOnError](err); err != nil && !failOn {
		return err
	}
	return cmp.Or(all.Exceeded(), err)
}
