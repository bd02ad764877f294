package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"busbar/internal/notice"
	"busbar/post/anonymizer"
	"busbar/post/logreport"
	"busbar/post/nccllog"
	"busbar/post/usage"
)

// logger is what post log was asked to do.
type logger struct {
	stdout, stderr io.Writer
	notes          []notice.Notice // on files
	against        []string
	anonymize      bool
	shown          string // what paths begin with that are not shown so: of copies
	outputFlags
}

func newLog(stdout, stderr io.Writer) *cobra.Command {
	l := &logger{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "log [flags] FILE|DIR...",
		Short:   "Diagnose NCCL logs, or compare two",
		GroupID: "job",
		Long: `Reads the debug logs (NCCL_DEBUG=INFO) of NCCL 2.4 to 2.30, RCCL or NCCLX, alone
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
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage.New(errors.New("post log requires the files or folders to read"), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return usage.New(err, cmd.CommandPath())
			}
			if l.anonymize {
				return l.runAnonymized(cmd.Context(), args)
			}
			return l.run(cmd.Context(), args)
		},
	}
	l.flags(cmd.Flags())
	anonymizeFlag(cmd.Flags(), &l.anonymize)
	cmd.Flags().
		StringArrayVar(&l.against, "against", nil,
			"compare with the log in this `FILE` or folder; may be given several\ntimes, for the files of one run")
	return cmd
}

// runAnonymized reads copies with other names.
func (l *logger) runAnonymized(ctx context.Context, args []string) (err error) {
	dir, err := os.MkdirTemp("", "post-log-")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	copies, left, err := anonymizer.Copy(ctx, dir, slices.Concat(args, l.against))
	if err != nil {
		return err
	}
	l.shown, l.notes = dir+string(filepath.Separator), left
	l.against = copies[len(args):]
	return l.run(ctx, copies[:len(args)])
}

func (l *logger) run(ctx context.Context, args []string) error {
	log, err := l.read(ctx, args)
	if err != nil {
		return err
	}
	r := logreport.New(log)
	if len(l.against) > 0 {
		other, err := l.read(ctx, l.against)
		if err != nil {
			return err
		}
		r.CompareWith(other)
	}
	d := r.Document(l.Kept)
	notes := l.Kept(l.notes)
	note(l.stderr, notes)
	d.Notices = append(notes, d.Notices...)
	return l.write(d, l.stdout)
}

// read reads the files of one run.
func (l *logger) read(ctx context.Context, paths []string) (*nccllog.Log, error) {
	log, notes, err := logreport.Read(ctx, paths, l.shown)
	l.notes = append(l.notes, notes...)
	return log, err
}
