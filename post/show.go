package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/export"
	"busbar/post/input"
	"busbar/post/show"
	"busbar/post/usage"
)

// shower is what post show was asked to do.
type shower struct {
	streams
	ncclTests bool
	peaks     analysis.Peaks
	sources   map[string]string // of files that were imported, shown in their place
	outputFlags
}

func newShow(to streams) *cobra.Command {
	s, peaks := &shower{streams: to}, []string(nil)
	cmd := &cobra.Command{
		Use:     "show [flags] [FILE|DIR...]",
		Short:   "Print the points of runs as tables",
		GroupID: "results",
		Long: `Prints one table for each collective and mode, 80 columns wide. "±%" is the half
width of the 95 % confidence interval of the median, in percent. Points that
failed or were skipped have their status and reason. Numbers in brackets refer
to warnings below the tables of a run.

"%peak" is busbw in percent of the peak of the slowest link, if the record has
it or --peak gives it (docs/analysis.md, "Ceilings"). "model" is latency +
size / bandwidth, fitted to the times of five sizes or more (docs/analysis.md).

post compare --by backend (or library, variant) compares what runs measured.

Groups of nodes (rank --pattern): which node or link is slow, with the times of
all pairs or halves.

Training steps (rank --step): a table of times for each group of points that
differ in bucket size alone: computation, communication, one after the other
("in turn") and overlapped. "best" has the smallest median ("smallest": no other
is significantly slower), "=" is no significant difference from it, "?" too few
rounds. Below: exposed communication, its share of the step (%step), overlap by
the wall clock, by intervals and at most (%wall, %intvl, %bound), how many times
as long computation and communication take together (comp, comm), the speed-up
against one after the other (speed) and weak scaling (%weak); docs/step.md.

Bandwidths are in GB/s (1e9 bytes per second). In throughput mode, time is that
of one operation; in latency mode, percentiles are over iterations.`,
		Example: `  post show
  post show results/profile_mpi_world4_*.jsonl
  post show --peak 450GB/s
  post show --format json | jq '.runs[].tables[].points[].busbw_GBps'
  post show --nccl-tests results > all_reduce.log`,
		ValidArgsFunction: resultFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if s.peaks, err = analysis.ParsePeaks(peaks); err == nil {
				err = s.Check()
			}
			if err == nil && s.ncclTests && (peaks != nil || cmd.Flags().Changed("format") || s.FailOn != "") {
				err = errors.New("--nccl-tests has a layout of its own: without --peak, --format and --fail-on")
			}
			if err != nil {
				return usage.New(err)
			}
			return s.run(cmd.Context(), args)
		},
	}
	cmd.Flags().BoolVar(&s.ncclTests, "nccl-tests", false, "print the layout of nccl-tests (throughput mode only)")
	rehearsedFlag(cmd, new(result.MergeOptions)) // show never pools runs and always includes them
	cmd.Flags().Lookup("include-simulated").Usage = "accepted for uniformity; show always includes simulated results"
	peakFlag(cmd, &peaks)
	s.flags(cmd.Flags())
	return cmd
}

// run shows all runs found. The error is that no file could be read, or had a point to show.
func (s *shower) run(ctx context.Context, args []string) error {
	files, problems, err := input.Find(args)
	if err != nil {
		return err
	}
	if s.ncclTests {
		all := result.MergeOptions{IncludeRehearsed: true}
		notes, err := export.Formats["nccl-tests"].Write(ctx, all, files, s.stdout)
		if err == nil {
			note(s.stderr, s.Kept(append(problems, notes...)))
		}
		return err
	}
	shown, tables := 0, show.New(s.peaks, s.Shows)
	for _, path := range files {
		f, err := result.ReadFile(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var more []notice.Notice
		if err == nil {
			f.Path = cmp.Or(s.sources[path], path)
			more, err = tables.Add(f)
		}
		problems = append(problems, more...)
		if err != nil {
			problems = append(problems, notice.OfError(path, err))
			continue
		}
		shown++
	}
	if shown == 0 {
		return &result.NothingError{Problems: problems}
	}
	problems = s.Kept(problems)
	note(s.stderr, problems)
	return s.write(tables.Document(problems), s.stdout)
}
