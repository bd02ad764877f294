package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/post/atomicfile"
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
		Long: `Compares files or folders of results: each with the first, point by point. Or,
with --by, the parts of what is read that differ in the variant, library,
backend, device, host, tool, campaign, launch, date or an environment variable
(env:NCCL_ALGO); the oldest is the first, or the one that --base names.

What counts is launches (one mpirun or srun each), since they differ by more
than an interval within one of them shows. A verdict takes four of each side;
measure them in turns: A B A B A B A B. The verdicts:

  worse, better  the sides differ by more than launches of one side do. With no
                 difference, at most 5 % of comparisons have such a verdict
                 anywhere, however many points they have (--strict: 1 %, and
                 five launches of each side)
  same           the ratio's interval lies inside the margin (--margin)
  inconclusive   neither; with how many more launches it would probably take

Points are compared where all else is equal: collective, type, placement, mode,
size, world and so on. Training steps (rank --step) are compared by their
overlapped step, in a table of their own: same model, bucket, computing, world.
Points without a partner, and points that failed on one side, are listed; so is
what else differs between the sides. docs/compare.md has the formulas, the
recipe of a nightly check, and the files.`,
		Example: `  post compare baseline results
  post compare --by variant results
  post compare --fail-above 5% baseline tonight        # exit status 7 if worse
  post compare -o comparison baseline monday tuesday   # and Markdown, JSON`,
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&c.by, "by", "", "what tells the sides apart: `WORD` is variant, library, …")
	f.StringVar(&c.base, "base", "", "compare with the side of this `NAME`")
	f.StringVarP(&c.out, "out", "o", "", "also write compare.md and compare.json into this `DIR`")
	f.StringVar(&c.margin, "margin", "3%", "differences up to this `PERCENT` are none")
	f.StringVar(&c.failAbove, "fail-above", "",
		"exit status 7 if a point is worse by more than this `PERCENT`, or fails")
	f.BoolVar(&c.strict, "strict", false, "err in 1 % of comparisons, not in 5 %; intervals of 99 %")
	f.Uint64Var(&c.seed, "seed", 1, "`NUMBER` that draws start from, where there are too many launches for all ways")
	rehearsedFlag(cmd, &c.MergeOptions)
	c.flags(f)
	return cmd
}

func (c *comparer) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	limits, err := c.limits(cmd)
	if err == nil {
		err = c.Check()
	}
	if err != nil {
		return usage.New(err)
	}
	all, lacking, notes, err := compare.Results(ctx, &compare.Options{
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
		wrote := func(path string) { fmt.Fprintln(c.stderr, "post: wrote", path) }
		files := []atomicfile.Named{
			{Name: "compare.md", Write: func(w io.Writer) error { return doc.Write(w, document.Markdown) }},
			{Name: "compare.json", Write: func(w io.Writer) error { return doc.Write(w, document.JSON) }},
		}
		if err := atomicfile.WriteAll(ctx, c.out, files, wrote); err != nil {
			return err
		}
	}
	err = c.write(doc, c.stdout)
	note(c.stderr, notes)
	if failOn := (*notices.FailOnError)(nil); err != nil && !errors.As(err, &failOn) {
		return err
	}
	return cmp.Or(all.Exceeded(), err)
}

// limits are those that flags give.
func (c *comparer) limits(cmd *cobra.Command) (l compare.Limits, err error) {
	if l.Margin, err = compare.ParsePercent(c.margin); err != nil {
		return l, fmt.Errorf("--margin %w", err)
	}
	if cmd.Flags().Changed("fail-above") {
		if l.FailAbove, err = compare.ParsePercent(c.failAbove); err != nil {
			return l, fmt.Errorf("--fail-above %w", err)
		}
	}
	return l, nil
}
