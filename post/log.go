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

	"busbar/internal/document"
	"busbar/internal/notice"
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
			if err := l.check(); err != nil {
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

// logReport is a log with what was found in it, and, where it is compared, the other.
type logReport struct {
	log      *nccllog.Log
	findings []notice.Notice
	ignored  int          // findings that --ignore leaves out
	other    *nccllog.Log // nil: it is not compared
	contrast *nccllog.Contrast
}

// logData is what the JSON of post log has beside notices; docs/log.md describes the fields.
type logData struct {
	Log      *nccllog.Log      `json:"log"`
	Against  *nccllog.Log      `json:"against"` // null: nothing was compared
	Contrast *nccllog.Contrast `json:"contrast"`
}

// runAnonymized reads copies with other names.
func (l *logger) runAnonymized(ctx context.Context, args []string) (err error) {
	dir, err := os.MkdirTemp("", "post-log-")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(dir)) }()
	copies, left, err := anonymized(ctx, dir, slices.Concat(args, l.against))
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
	all := log.Findings()
	r := &logReport{log: log, findings: l.kept(all)}
	r.ignored = len(all) - len(r.findings)
	if len(l.against) > 0 {
		if r.other, err = l.read(ctx, l.against); err != nil {
			return err
		}
		r.contrast = nccllog.Compare(r.log, r.other)
		for _, notices := range []*[]notice.Notice{&r.contrast.Headlines, &r.contrast.OnlyA, &r.contrast.OnlyB} {
			*notices = l.kept(*notices)
		}
	}
	d := r.document()
	notes := l.kept(l.notes)
	note(l.stderr, notes)
	d.Notices = append(notes, d.Notices...)
	return l.write(d, l.stdout)
}

// document is all of it.
func (r *logReport) document() *document.Document {
	d := &document.Document{
		Kind:    "log",
		Title:   r.log.Title(),
		Notices: r.findings,
		Data:    &logData{r.log, r.other, r.contrast},
	}
	if r.contrast == nil {
		d.Add(r.sections()...)
		return d
	}
	d.Title = "A against B"
	d.Notices = append(slices.Clone(r.contrast.Headlines), d.Notices...)
	for _, n := range r.contrast.OnlyB {
		who := "B"
		if n.At.Subject != "" {
			who += ", " + n.At.Subject
		}
		n.At.Subject = who
		d.Notices = append(d.Notices, n)
	}
	d.Add(r.contrastSections()...)
	return d
}
