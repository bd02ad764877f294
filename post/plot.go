package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"busbar/post/plotpoints"
	"busbar/post/steps"
	"busbar/post/usage"
)

// plotter is what post plot was asked to do.
type plotter struct {
	stdout, stderr io.Writer
	result.MergeOptions
	out                              string
	formats, bandwidths, collectives []string
	peaks                            []string
}

var (
	pictureFormats = []string{"png", "svg"}
	bandwidthWords = []string{"busbw", "algbw"}
)

func newPlot(stdout, stderr io.Writer) *cobra.Command {
	p := &plotter{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "plot [flags] [FILE|DIR...]",
		Short:   "Draw bandwidth, time and scaling (PNG and SVG)",
		GroupID: "results",
		Long: `For each backend and world: all collectives side by side. For all_reduce, and
every collective measured with several backends, worlds or placements, or in
several ways (--rotate, -m, -a): one picture with all of them. With two worlds
or more: scaling over worlds.

Points are medians; shaded bands are the 95 % CI of the median, or the
range over launches where a point was measured in several, as the caption of
each picture says. Points that are not ok are not drawn. Bandwidth is that of
throughput mode; times of throughput and latency mode have their own pictures.

Pictures of bus bandwidth have what the slowest link is made for as a dashed
line, where that is in the record or given (--peak). In pictures of bandwidth,
what is found on the curves is marked and told below (docs/analysis.md).

Training steps (rank --step) have two pictures for each backend and world, named
step_…: bars by bucket size, of computing, hidden and exposed communication,
beside what one after the other takes; and over time the best step of each group
of points, with its operations numbered.

Pictures go into plots/ in the one folder read, or in the current folder if
there were several.`,
		Example: `  post plot
  post plot --bandwidth busbw,algbw --collective all_reduce
  post plot -o figures --format svg run1 run2`,
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return p.run(cmd.Context(), cmd, args) },
	}
	cmd.Flags().StringVarP(&p.out, "out", "o", "", "write into this `DIR`")
	cmd.Flags().StringSliceVar(&p.formats, "format", pictureFormats, "write `THESE`: png, svg")
	cmd.Flags().StringSliceVar(&p.bandwidths, "bandwidth", []string{"busbw"}, "draw `THESE`: busbw, algbw")
	cmd.Flags().StringSliceVar(&p.collectives, "collective", nil, "draw only `THESE`, each alone too (default all)")
	rehearsedFlag(cmd, &p.MergeOptions)
	peakFlag(cmd, &p.peaks)
	return cmd
}

// options turns the words of the flags into those of the drawing.
func (p *plotter) options() (o plot.Options, err error) {
	if p.formats, err = usage.Words("format", p.formats, pictureFormats); err != nil {
		return o, err
	}
	if p.bandwidths, err = usage.Words("bandwidth", p.bandwidths, bandwidthWords); err != nil {
		return o, err
	}
	if p.collectives != nil && len(p.collectives) == 0 {
		return o, errors.New("--collective names nothing; without it all are drawn")
	}
	for _, b := range p.bandwidths {
		o.Bandwidths = append(o.Bandwidths, map[string]plot.Bandwidth{"busbw": plot.BusBW, "algbw": plot.AlgBW}[b])
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

func (p *plotter) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	options, err := p.options()
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	peaks, err := analysis.ParsePeaks(p.peaks)
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	files, overlooked, err := input.Find(args)
	if err != nil {
		return err
	}
	data, err := result.MergeContext(ctx, files, p.MergeOptions)
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
	drawn, err := plotpoints.Gather(ctx, data, peaks)
	if err != nil {
		return err
	}
	trained, unread, err := steps.Read(ctx, data)
	if err != nil {
		return err
	}
	note(p.stderr, slices.Concat(overlooked, data.Notes(), unread, drawn.Lacking.Notices()))
	if len(drawn.Points) == 0 && drawn.Lacking.Groups {
		return nil
	}
	if p.collectives != nil {
		trained = nil // they are no collective
	}
	options.Limit, options.Remarks = drawn.Limit, drawn.Remarks()
	figures, passed := plot.Figures(drawn.Points, options)
	for _, words := range passed {
		fmt.Fprintln(p.stderr, "post: not drawn:", words)
	}
	outputs := p.outputs(figures, trained)
	if len(outputs) == 0 {
		wanted := ""
		if p.collectives != nil {
			wanted = ", none to draw of " + units.Some(p.collectives)
		}
		return fmt.Errorf("nothing to draw: of %s, %d ok%s, in %s", units.Count(len(drawn.Points), "point"), drawn.Measured, wanted,
			units.Some(files))
	}
	return atomicfile.WriteAll(ctx, dir, outputs, func(path string) { fmt.Fprintln(p.stdout, path) })
}

// picture is what is drawn, whatever it shows.
type picture interface {
	WritePNG(w io.Writer) error
	WriteSVG(w io.Writer) error
}

// outputs are the files of all pictures, in each format.
func (p *plotter) outputs(figures []plot.Figure, trained []*steps.Run) (all []atomicfile.Named) {
	add := func(name string, one picture) {
		for _, format := range p.formats {
			draw := one.WritePNG
			if format == "svg" {
				draw = one.WriteSVG
			}
			all = append(all, atomicfile.Named{Name: name + "." + format, Write: draw})
		}
	}
	for _, f := range figures {
		add(f.Name, f)
	}
	bars, lanes := plot.Steps(trained)
	for _, b := range bars {
		add(b.Name, b)
	}
	for _, l := range lanes {
		add(l.Name, l)
	}
	return all
}
