package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

func newShow(stdout, stderr io.Writer) *cobra.Command {
	ncclTests, peaks := false, []string(nil)
	cmd := &cobra.Command{
		Use:     "show [flags] [FILE|DIR...]",
		Short:   "Show the points of runs as tables in the terminal",
		GroupID: "results",
		Long: `One table for each collective and mode, 80 columns wide. "±%" is half the 95 %
interval of the median, in percent of it. Points that are not ok stand in their
place with status and reason; warnings are footnotes under the run. "%peak" is
busbw in percent of what the slowest link on the way is made for, where that is
in the record or given (--peak); docs/analysis.md, "Ceilings". "model" is the
law of the times over five sizes or more: latency + size / bandwidth, and from
which sizes on another such law holds; docs/analysis.md, "The laws of a curve".

Where runs of one campaign (one launch is one too) were of several backends,
libraries or variants, tables of the ratio of their times follow: each against
the first that was measured alike. The bounds are the ratio's 95 % interval: of
the median over launches from six launches on, else from the intervals within
the one launch. Of two to five launches they are the least and the greatest
ratio seen.

Where nodes were measured in groups (rank --pattern), which node or link is slow
follows, with the times of all pairs (halves) that it is known from.

Training steps (rank --step) have a table of times for each group of points that
differ by their bucket alone: computing, communication, one after the other (in
turn) and overlapped; "best" is the least median ("least" where no other is told
to be slower), "=" no difference from it, "?" too few rounds to tell. Below it:
exposed communication, its share of the step (%step), communication hidden by
the wall clock, by intervals and at most (%wall, %intvl, %bound), how many times
as long computing and communication take beside each other (comp, comm), the
step against one after the other (speed) and what is left of a rank's speed
alone (%weak); docs/step.md has the formulas.

Bandwidths are in GB/s (1e9 bytes per second). In throughput mode, time is that
of one operation; in latency mode, percentiles are over iterations.`,
		Example: `  post show
  post show results/profile_mpi_world4_*.jsonl
  post show --peak 450GB/s
  post show --nccl-tests results > all_reduce.log`,
		ValidArgsFunction: resultFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			given, err := analysis.ParsePeaks(peaks)
			if err == nil && ncclTests && peaks != nil {
				err = errors.New("--nccl-tests has no column for --peak")
			}
			if err != nil {
				return &usageError{err, cmd.CommandPath()}
			}
			out := bufio.NewWriter(stdout)
			err = show(cmd.Context(), out, stderr, args, ncclTests, given)
			if e := out.Flush(); err == nil {
				err = e
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&ncclTests, "nccl-tests", false, "in the layout of nccl-tests (throughput mode only)")
	peakFlag(cmd, &peaks)
	return cmd
}

// peakFlag lets the user say what links are made for.
func peakFlag(cmd *cobra.Command, peaks *[]string) {
	cmd.Flags().StringArrayVar(peaks, "peak", nil, analysis.PeakHelp)
}

// show writes all runs found. The error is that nothing could be read, or had anything to show.
func show(ctx context.Context, w io.Writer, stderr io.Writer, args []string, ncclTests bool, peaks analysis.Peaks) error {
	files, problems, err := find(args)
	if err != nil {
		return err
	}
	shown, compared, judged := 0, &campaigns{}, &patterns{}
	for _, path := range files {
		f, err := readRun(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			problems = append(problems, problemOf(path, err))
			continue
		}
		if f.Run.Step != nil {
			more, err := showSteps(w, path, ncclTests, shown > 0)
			problems = append(problems, more...)
			if err == nil {
				shown++
			}
			continue
		}
		problems = append(problems, f.Problems...)
		if shown > 0 {
			fmt.Fprintln(w)
		}
		if f.Run.Pattern != nil && ncclTests {
			problems = append(problems, result.Problem{Path: path, Text: "was measured in groups of nodes, for which nccl-tests' layout has no place"})
			continue
		}
		if ncclTests {
			if !writeNCCLTests(w, f) {
				problems = append(problems, result.Problem{Path: path, Text: "has no point in throughput mode, which is what nccl-tests' columns are for"})
				continue
			}
		} else if f.Run.Pattern != nil {
			writePatternRun(w, f)
			judged.add(f)
		} else {
			writeRun(w, f, peaks)
			compared.add(f)
		}
		shown++
	}
	if shown == 0 {
		return &result.NothingError{Problems: problems}
	}
	compared.write(w)
	judged.write(w)
	note(stderr, problems)
	return nil
}

// readRun reads a run whole, or until the context ends.
func readRun(ctx context.Context, path string) (*result.File, error) {
	var records []result.Record
	f, err := result.Scan(path, func(r *result.Record) error {
		records = append(records, *r)
		return ctx.Err()
	})
	if err == nil {
		f.Records = records
	}
	return f, err
}

// problemOf is the error of one file, with its path once.
func problemOf(path string, err error) result.Problem {
	return result.Problem{Path: path, Text: strings.TrimPrefix(err.Error(), path+": ")}
}

// writeRun writes one run: what it was, its tables, its footnotes.
func writeRun(w io.Writer, f *result.File, peaks analysis.Peaks) {
	notes, ceilings, said := &footnotes{}, analysis.NewCeilings(peaks), ""
	writeHead(w, f, notes)
	var order []say.Table
	tables := map[say.Table][]*result.Record{}
	for i := range f.Records {
		r := &f.Records[i]
		k := say.Table{Operation: r.ForeignOperation(), Collective: r.Collective, Type: r.Type, Op: r.Op, Root: r.Root, Placement: r.Placement, Mode: r.Mode}
		if tables[k] == nil {
			order = append(order, k)
		}
		tables[k] = append(tables[k], r)
		ceilings.Add(result.Row{Run: &f.Run, Record: r})
	}
	for _, k := range order {
		fmt.Fprintf(w, "\n%s\n", k)
		if k.Mode == coll.Latency {
			writeTable(w, k.Mode, tables[k], notes, analysis.Ceiling{})
			writeModel(w, &f.Run, tables[k])
			continue
		}
		ceiling := ceilings.Of([]*result.Run{&f.Run}, tables[k][0].Case)
		writeTable(w, k.Mode, tables[k], notes, ceiling)
		if text := ceiling.Text(); text != said {
			for _, line := range wrap("peak "+text, 80) {
				fmt.Fprintln(w, line)
			}
			said = text
		}
		writeModel(w, &f.Run, tables[k])
	}
	notes.write(w)
}

// writeModel writes the law that the times of a table follow, where enough of its sizes have one.
func writeModel(w io.Writer, run *result.Run, records []*result.Record) {
	c := analysis.NewCollector()
	for _, r := range records {
		c.Add(result.Row{Run: run, Record: r})
	}
	curves := c.Curves()
	if len(curves) != 1 {
		return
	}
	if words := analysis.ModelOf(curves[0]).Line(); words != "" {
		for _, line := range wrap("model: "+words, 80) {
			fmt.Fprintln(w, line)
		}
	}
}

// beginHead begins what is said of a run: its file, and whether it was rehearsed; line writes what comes behind, wrapped.
func beginHead(w io.Writer, path string, rehearsed bool) (line func(text string)) {
	line = func(text string) {
		for _, l := range wrap(text, 80) {
			fmt.Fprintln(w, l)
		}
	}
	line(path)
	if rehearsed {
		line("REHEARSED: no device was measured; these figures say nothing about hardware")
	}
	return line
}

// writeHead says what was run, where, and how it ended.
func writeHead(w io.Writer, f *result.File, notes *footnotes) {
	r := &f.Run
	line := beginHead(w, f.Path, r.Rehearse)
	if r.Imported != nil {
		writeImported(line, f)
	} else {
		line(fmt.Sprintf("%s (%s), %s on %s of %s", r.Backend.Name, r.Backend.Library, units.Count(r.World, "rank"), units.Count(r.Nodes, "node"), r.Device))
		line(fmt.Sprintf("host %s, %s, %s, sweep %s", r.Machine.Host, r.Start.UTC().Format("2006-01-02 15:04:05 UTC"), r.Tool, r.Sweep.Name) + say.Unusual(&r.Method))
	}
	line(outcome(f) + " " + notes.marks(r.Warnings.Texts()))
}

// outcome says how a run ended and what became of its points.
func outcome(f *result.File) string {
	counts := map[result.Status]int{}
	for _, r := range f.Records {
		counts[r.Status]++
	}
	return endWords(f.End, counts)
}

// endWords say how a run ended, and how many points it has of each status.
func endWords(e *result.End, counts map[result.Status]int) string {
	words := "no end is written: the run goes on, or was killed"
	if e != nil {
		words = string(e.Outcome)
		if e.Reason != "" {
			words += " (" + e.Reason + ")"
		}
		if e.Left > 0 {
			words += fmt.Sprintf(", %s of the plan not reached", units.Count(e.Left, "point"))
		}
	}
	for _, s := range []result.Status{result.OK, result.Unfinished, result.Skipped, result.Unsupported, result.OOM, result.Timeout, result.Wrong, result.Failed} {
		if counts[s] > 0 {
			words += fmt.Sprintf(", %d %s", counts[s], s)
		}
	}
	return words
}
