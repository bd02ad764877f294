package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
	"busbar/post/anonymizer"
	"busbar/post/atomicfile"
	"busbar/post/input"
	"busbar/post/report"
	"busbar/post/sidebyside"
	"busbar/post/timeline"
	"busbar/post/usage"
)

// reporter is what post report was asked to do.
type reporter struct {
	streams
	outputFlags
	result.MergeOptions
	out, layout string
	written     filesData
	anonymize   bool
	peaks       []string
	ceilings    analysis.Peaks
	traces      []string   // files and folders of --timeline
	names       traceNames // of names in them
	traced      timeline.Options
}

// comparison is the layout that sets backends side by side.
const comparison = "comparison"

func newReport(to streams) *cobra.Command {
	r := &reporter{streams: to}
	cmd := &cobra.Command{
		Use:     "report [flags] [FILE|DIR...]",
		Short:   "Write a report: headlines, curves, findings, data quality",
		GroupID: "results",
		Long: `Writes report.html (a page that works offline) and report.md, and prints the
summary. It also writes merged.csv, merged.jsonl (post merge) and plots/ (post
plot). The files go into the folder that was read, or into the current folder
if there were several.

The report has peak bus bandwidth, small-message latency, findings with advice,
curves with 95 % CIs, data quality, method and environment. Bandwidth is
compared with the peak of the links, if it is recorded or given with --peak
(docs/report.md; docs/analysis.md, "Ceilings").

--timeline adds profiler traces, as post timeline reads them: GPU activity over
time, exposed communication, stragglers, and collectives compared with these
results. Without results, the report covers the timeline alone.

--layout comparison compares backends, such as Gloo on CPUs with NCCL on GPUs.
It writes these files (docs/comparison.md has the columns):

  gloo_cpu_benchmark.csv, nccl_gpu_benchmark.csv   all points of a backend;
            other backends have similar files
  combined_benchmark.csv   all points, and the backends without results
  allreduce_time_vs_datasize.png, allreduce_bandwidth_vs_datasize.png
  allreduce_backend_comparison_100mb.png   at the size nearest to 100 MiB
  full_results.md, summary_by_config.md   all points; medians over launches
  analysis.txt   the headlines of the report`,
		Example: `  post report
  post report -o report run1 run2
  post report --timeline traces results   # a folder with a trace of each rank
  post report --timeline rank0.sqlite --step-pattern '^step' results
  post report --layout comparison -o report cpu-results gpu-results`,
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return r.run(cmd.Context(), cmd, args) },
	}
	cmd.Flags().StringVarP(&r.out, "out", "o", "", "write into this `DIR`")
	cmd.Flags().StringVar(&r.layout, "layout", "", "another `LAYOUT` of the report: "+comparison)
	cmd.Flags().StringArrayVar(&r.traces, "timeline", nil,
		"add the timeline of a trace or a folder of them; may be given several times (`FILE|DIR`)")
	r.names.flags(cmd.Flags())
	rehearsedFlag(cmd, &r.MergeOptions)
	peakFlag(cmd, &r.peaks)
	r.flags(cmd.Flags())
	anonymizeFlag(cmd.Flags(), &r.anonymize)
	return cmd
}

func (r *reporter) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	if err := r.check(cmd.Flags()); err != nil {
		return usage.New(err)
	}
	if r.anonymize {
		var err error
		if args, err = r.anonymized(ctx, args); err != nil {
			return err
		}
	}
	if r.layout == comparison {
		return r.comparison(ctx, args)
	}
	return r.full(ctx, args)
}

// check finds what is wrong with a call before anything is read.
func (r *reporter) check(flags *pflag.FlagSet) (err error) {
	if flags.Changed("layout") {
		if r.layout != comparison {
			return coll.Unknown("layout", r.layout, []string{comparison})
		}
		for _, other := range []string{"peak", "format", "ignore", "fail-on", "timeline"} {
			if flags.Changed(other) {
				return fmt.Errorf("--layout %s does not support --%s", r.layout, other)
			}
		}
	}
	if r.names != (traceNames{}) && r.traces == nil {
		return errors.New("--comm-pattern and --step-pattern are about traces: name them with --timeline")
	}
	if r.anonymize && r.out == "" {
		return errors.New("--anonymize requires -o DIR, into which the anonymized copies of the results go too")
	}
	if r.ceilings, err = analysis.ParsePeaks(r.peaks); err == nil {
		err = r.Check()
	}
	if err != nil {
		return err
	}
	return r.names.set(&r.traced)
}

// anonymized copies what is read into the folder of the report, and returns the copies.
func (r *reporter) anonymized(ctx context.Context, args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{input.DefaultFolder}
	}
	copies, left, err := anonymizer.Copy(ctx, r.out, slices.Concat(args, r.traces))
	if err != nil {
		return nil, err
	}
	note(r.stderr, left)
	r.traces = copies[len(args):]
	return copies[:len(args)], nil
}

// comparison writes the files that set backends side by side, with the headlines of the report.
func (r *reporter) comparison(ctx context.Context, args []string) error {
	r.NoSteps = true
	data, passed, err := input.Merge(ctx, args, r.MergeOptions)
	if err != nil {
		return err
	}
	found, err := sidebyside.Gather(ctx, data)
	if err != nil {
		return err
	}
	made, err := report.Of(ctx, report.Sources{Data: data, Notes: passed, Shows: r.Shows}, r.options())
	if err != nil {
		return err
	}
	if r.out, err = input.Folder(r.out, args); err != nil {
		return err
	}
	outputs, notDrawn := found.Files(made.Summary())
	for _, words := range notDrawn {
		fmt.Fprintln(r.stderr, "post: not drawn:", words)
	}
	err = atomicfile.WriteAll(ctx, r.out, outputs, func(path string) { fmt.Fprintln(r.stdout, path) })
	note(r.stderr, slices.Concat(passed, found.Notes()))
	return err
}
