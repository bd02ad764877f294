package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/atomicfile"
	"busbar/post/input"
	"busbar/post/plot"
	"busbar/post/usage"
)

// plotter is what post plot was asked to do.
type plotter struct {
	streams
	result.MergeOptions
	out                              string
	formats, bandwidths, collectives []string
	peaks                            []string
}

var (
	bandwidths  = []string{"busbw", "algbw"}
	bandwidthOf = map[string]plot.Measure{"busbw": plot.BusBW, "algbw": plot.AlgBW}
)

func newPlot(to streams) *cobra.Command {
	p := &plotter{streams: to}
	cmd := &cobra.Command{
		Use:     "plot [flags] [FILE|DIR...]",
		Short:   "Plot bandwidth, latency and scaling (PNG and SVG)",
		GroupID: "results",
		Long: `Draws one plot per backend and world size with all collectives. It draws one
more for all_reduce, and for each collective that was measured with several
backends, world sizes, placements or settings. Two world sizes or more add a
scaling plot.

Points are medians. Shaded bands are the 95 % CI of the median, or the range
over several launches; the caption states which. Points that are not ok are
left out. Bandwidth is of throughput mode; times of each mode have their own
plot.

A dashed line in plots of bus bandwidth is the peak of the slowest link, if it
is recorded or given with --peak.

Patterns (rank --pattern) have a matrix of each case, except halves.

Training steps (rank --step) have one bar chart per backend and world size
(step_...): computation, hidden and exposed communication by bucket size.

Plots go into plots/ in the folder that was read, or in the current folder if
there were several.`,
		Example: `  post plot
  post plot --bandwidth busbw,algbw --collective all_reduce
  post plot -o figures --format svg run1 run2`,
		ValidArgsFunction: resultFiles,
		RunE:              p.run,
	}
	cmd.Flags().StringVarP(&p.out, "out", "o", "", "write into this `DIR`")
	cmd.Flags().StringSliceVar(&p.formats, "format", plot.Formats, "write `THESE`: png, svg")
	cmd.Flags().StringSliceVar(&p.bandwidths, "bandwidth", []string{"busbw"}, "draw `THESE`: busbw, algbw")
	cmd.Flags().StringSliceVar(&p.collectives, "collective", nil, "draw only `THESE`, each alone too (default all)")
	rehearsedFlag(cmd, &p.MergeOptions)
	peakFlag(cmd, &p.peaks)
	return cmd
}

// options reads the flags.
func (p *plotter) options() (o plot.Options, err error) {
	if o.Formats, err = usage.Words("format", p.formats, plot.Formats); err != nil {
		return o, err
	}
	words, err := usage.Words("bandwidth", p.bandwidths, bandwidths)
	if err != nil {
		return o, err
	}
	for _, word := range words {
		o.Bandwidths = append(o.Bandwidths, bandwidthOf[word])
	}
	if p.collectives != nil && len(p.collectives) == 0 {
		return o, errors.New("--collective names nothing; without it all are drawn")
	}
	for _, word := range p.collectives {
		c, err := coll.ParseCollective(word)
		if err != nil {
			return o, err
		}
		o.Collectives = append(o.Collectives, c)
	}
	return o, nil
}

func (p *plotter) run(cmd *cobra.Command, args []string) error {
	options, err := p.options()
	if err != nil {
		return usage.New(err)
	}
	peaks, err := analysis.ParsePeaks(p.peaks)
	if err != nil {
		return usage.New(err)
	}
	files, overlooked, err := input.Find(args)
	if err != nil {
		return err
	}
	data, err := result.MergeContext(cmd.Context(), files, p.MergeOptions)
	if err != nil {
		return err
	}
	dir, err := input.Folder(p.out, args)
	if err != nil {
		return err
	}
	if p.out == "" {
		dir = filepath.Join(dir, "plots")
	}
	points, err := plot.Gather(cmd.Context(), data, peaks)
	if err != nil {
		return err
	}
	note(p.stderr, slices.Concat(overlooked, points.Notes))
	plots, notDrawn, err := points.Files(options)
	if len(plots) == 0 && points.OnlyGroups() { // halves have no plot
		return nil
	}
	for _, words := range notDrawn {
		fmt.Fprintln(p.stderr, "post: not drawn:", words)
	}
	if err != nil {
		if p.collectives != nil {
			err = fmt.Errorf("%w, none to draw of %s", err, units.Some(p.collectives))
		}
		return fmt.Errorf("nothing to draw: %w, in %s", err, units.Some(files))
	}
	return atomicfile.WriteAll(cmd.Context(), dir, plots, func(path string) { fmt.Fprintln(p.stdout, path) })
}
