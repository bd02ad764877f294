package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/analysis"
	"busbar/post/reporter"
	"busbar/post/usage"
)

// reportCommand is what post report was asked to do.
type reportCommand struct {
	streams
	output outputFlags
	reporter.Reporter
	layout string
	peaks  []string
	names  traceNames // in the traces
}

// comparison is the layout that sets backends side by side.
const comparison = "comparison"

func newReport(to streams) *cobra.Command {
	r := &reportCommand{streams: to}
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
		RunE:              r.run,
	}
	cmd.Flags().StringVarP(&r.Out, "out", "o", "", "write into this `DIR`")
	cmd.Flags().StringVar(&r.layout, "layout", "", "another `LAYOUT` of the report: "+comparison)
	cmd.Flags().StringArrayVar(&r.Traces, "timeline", nil,
		"add the timeline of a trace or a folder of them; may be given several times (`FILE|DIR`)")
	r.names.flags(cmd.Flags())
	rehearsedFlag(cmd, &r.MergeOptions)
	peakFlag(cmd, &r.peaks)
	r.output.flags(cmd.Flags())
	anonymizeFlag(cmd.Flags(), &r.Anonymize)
	return cmd
}

func (r *reportCommand) run(cmd *cobra.Command, args []string) error {
	if err := r.check(cmd.Flags()); err != nil {
		return usage.New(err)
	}
	toStdout := func(path string) { fmt.Fprintln(r.stdout, path) }
	r.Stderr, r.Wrote, r.Note = r.stderr, toStdout, func(notes []notice.Notice) { note(r.stderr, notes) }
	if r.layout == comparison {
		return r.Comparison(cmd.Context(), args)
	}
	if r.output.format == document.JSON {
		r.Wrote = func(string) {}
	}
	summary, err := r.Full(cmd.Context(), args)
	if err != nil {
		return err
	}
	if r.output.format != document.JSON {
		fmt.Fprintln(r.stdout)
	}
	return r.output.write(summary, r.stdout)
}

// check finds what is wrong with a call before anything is read.
func (r *reportCommand) check(flags *pflag.FlagSet) (err error) {
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
	if r.names != (traceNames{}) && r.Traces == nil {
		return errors.New("--comm-pattern and --step-pattern are about traces: name them with --timeline")
	}
	if r.Anonymize && r.Out == "" {
		return errors.New("--anonymize requires -o DIR, into which the anonymized copies of the results go too")
	}
	if r.Peaks, err = analysis.ParsePeaks(r.peaks); err == nil {
		err = r.output.Check()
	}
	if err != nil {
		return err
	}
	r.Selection, r.Mark = r.output.Selection, toolName
	return r.names.set(&r.Traced)
}
