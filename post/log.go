package main

import (
	"context"

	"github.com/spf13/cobra"

	"busbar/post/logreport"
	"busbar/post/usage"
)

// logger holds the options of post log.
type logger struct {
	streams
	logreport.Sources
	outputFlags
}

func newLog(to streams) *cobra.Command {
	l := &logger{streams: to}
	cmd := &cobra.Command{
		Use:     "log [flags] FILE|DIR...",
		Short:   "Diagnose NCCL logs, or compare two",
		GroupID: "job",
		Long: `Reads the debug logs (NCCL_DEBUG=INFO) of NCCL 2.8 to 2.30, RCCL or NCCLX, alone
or within other output, from all ranks in one file or with a file for each; the
Inspector's JSON lines; and the output of ncclras. All files named are one run.

Prints versions, ranks, transports, channels, algorithm and protocol by size,
what ranks called, and what is wrong, with evidence and advice. Warnings of the
library are explained where their cause is known.

With --against, A is what is named first, and B what follows that flag: how they
differ, and what may explain a difference in speed. docs/log.md describes how to
record a log and what it costs.`,
		Example: `  NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,GRAPH,NET,TUNING \
    NCCL_DEBUG_FILE=logs/nccl.%h.%p mpirun -np 16 ./train
  post log logs
  post log healthy.log --against slow.log
  post log --format json logs | jq '.notices[].message'`,
		Args: atLeastOne("file or folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return usage.New(err)
			}
			l.Paths = args
			return l.run(cmd.Context())
		},
	}
	l.flags(cmd.Flags())
	anonymizeFlag(cmd.Flags(), &l.Anonymize)
	cmd.Flags().StringArrayVar(&l.Against, "against", nil,
		"compare with the log in this `FILE` or folder; may be given several\ntimes, for the files of one run")
	return cmd
}

func (l *logger) run(ctx context.Context) error {
	r, notes, err := logreport.Read(ctx, l.Sources)
	if err != nil {
		return err
	}
	d := r.Document(l.Kept)
	notes = l.Kept(notes)
	note(l.stderr, notes)
	d.Notices = append(notes, d.Notices...)
	return l.write(d, l.stdout)
}
