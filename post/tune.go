package main

import (
	"errors"

	"github.com/spf13/cobra"

	"busbar/post/compare"
	"busbar/post/tune"
	"busbar/post/usage"
)

func newTune(to streams) *cobra.Command {
	c, verify := &comparer{streams: to}, false
	cmd := &cobra.Command{
		Use:   "tune [flags] [FILE|DIR...]  or  tune --verify [flags] BEFORE AFTER",
		Short: "Write NCCL's tuner file from a campaign", GroupID: "results", Long: tune.Help,
		Example: "  post tune results/tune -o tuner.csv\n  post tune --verify before after",
		RunE: func(cmd *cobra.Command, args []string) error {
			if verify {
				c.failAbove = c.margin
				return c.run(cmd, args)
			}
			limits, err := compare.ParseLimits(c.margin, "", false)
			if err = errors.Join(err, c.Check()); err != nil {
				return usage.New(err)
			}
			found, err := tune.Read(cmd.Context(), args, tune.Options{
				MergeOptions: c.MergeOptions, Margin: limits.Margin, Strict: c.Strict, Seed: c.Seed})
			if err != nil {
				return err
			}
			return errors.Join(found.Save(cmd.Context(), c.out, c.wrote), c.write(found.Document(c.Kept), c.stdout))
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "compare runs without and with the file")
	cmd.Flags().StringVarP(&c.out, "out", "o", "", "write this `FILE`; --verify: compare.md and .json in a folder")
	c.statistics(cmd)
	return cmd
}
