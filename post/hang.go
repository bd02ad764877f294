package main

import (
	"context"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/post/hang"
	"busbar/post/hangdoc"
)

func newHang(to streams) *cobra.Command {
	var format document.Format
	cmd := &cobra.Command{
		Use:     "hang [flags] FILE|DIR...",
		Short:   "Diagnose a hung or dead training job",
		GroupID: "job",
		Long: `Finds which rank hung a job, and why, from what the job left: dumps of PyTorch's
Flight Recorder, logs of ranks and launchers, ncclras, NCCL logs, py-spy dump or
faulthandler, results of rank. All files named are one job; content identifies
them. The verdict has a confidence, evidence and what contradicts it.`,
		Example: `  post hang dumps logs
  post hang --format json hang/ | jq .verdict`,
		Args: atLeastOne("file or folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return diagnose(cmd.Context(), to, args, format) },
	}
	formatFlag(cmd.Flags(), &format)
	return cmd
}

// diagnose prints the verdict.
func diagnose(ctx context.Context, to streams, paths []string, format document.Format) error {
	found, notes, err := hang.Read(ctx, paths)
	if note(to.stderr, notes); err != nil {
		return err
	}
	return (&outputFlags{format: format}).write(hangdoc.Of(hang.Analyze(*found), notes...), to.stdout)
}
