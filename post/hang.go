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
them; evidence of some ranks is enough. The verdict has a confidence, evidence
and what contradicts it. docs/hang.md describes how to collect evidence.`,
		Example: `  post hang dumps logs
  post hang --format json hang/ | jq .verdict`,
		Args: atLeastOne("file or folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return diagnose(cmd.Context(), to, args, format) },
	}
	formatFlag(cmd.Flags(), &format)
	return cmd
}

// diagnose prints the verdict on what files hold.
func diagnose(ctx context.Context, to streams, paths []string, format document.Format) error {
	found, notes, err := hang.Read(ctx, paths)
	note(to.stderr, notes)
	if err != nil {
		return err
	}
	d := hangdoc.Of(hang.Analyze(*found))
	d.Notices = append(notes, d.Notices...)
	return (&outputFlags{format: format}).write(d, to.stdout)
}
