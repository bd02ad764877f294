package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/post/atomicfile"
	"busbar/post/report"
	"busbar/post/timeline"
	"busbar/post/timelinedoc"
	"busbar/post/usage"
)

// timeliner holds the options of post timeline.
type timeliner struct {
	streams
	out     string
	extract string
	names   traceNames
	sweep   string // file of --write-sweep
	scaling string // strong or weak
	diff    bool
	results []string // of a benchmark
	outputFlags
	result.MergeOptions
	timeline.Options
}

func newTimeline(to streams) *cobra.Command {
	t := &timeliner{streams: to}
	cmd := &cobra.Command{
		Use:     "timeline [flags] FILE|DIR...",
		Short:   "Analyze profiler traces: exposed communication, stragglers, advice",
		GroupID: "job",
		Long: `Reads what profilers wrote about GPUs: Kineto traces of torch.profiler (JSON,
gzipped too) and SQLite exports of Nsight Systems (nsys export --type sqlite),
each known by its content. All files are of one run: give it those of all ranks,
or their folder, with its subfolders. A file that was cut off is read as far as
it goes.

It prints, for each device and each step, how long it computed, communicated,
copied and idled; how much of the communication overlapped with computation and
how much was exposed; which calls were exposed longest, how fast each was, and
on which stream. With several ranks it separates waiting for others from
communication itself, and names the straggler. It ends with limits and advice.

docs/timeline.md leads from a training script to a conclusion and has the rules.`,
		Example: `  post timeline trace.json.gz
  post timeline -o timeline traces     # a folder with a trace of each rank
  post timeline --format json report.sqlite
  post timeline --step-pattern '^step' report.sqlite   # steps are NVTX ranges`,
		Args: atLeastOne("trace of torch.profiler (.json, .json.gz), export of Nsight Systems (.sqlite), or folder " +
			"of them"),
		ValidArgsFunction: traceFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return t.run(cmd.Context(), cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&t.out, "out", "o", "", "also write timeline.html, .md and .json into this `DIR`")
	t.names.flags(f)
	f.StringVar(&t.scaling, "scaling", "",
		"compare runs on different numbers of ranks: `KIND` is strong (the same work\n"+
			"in all) or weak (the same work for each rank); each argument is a run")
	f.StringVar(&t.extract, "extract", "",
		"only reduce each trace to a small facts file in this `DIR`; post timeline DIR\n"+
			"then gives the same results as the traces")
	f.StringVar(&t.sweep, "write-sweep", "",
		"also write the collectives of a step into `FILE`, for rank --sweep FILE")
	f.BoolVar(&t.diff, "diff", false, "explain what changed between two runs: BEFORE and AFTER")
	f.StringArrayVar(&t.results, "results", nil,
		"set collectives against the benchmark in this `FILE|DIR` (repeatable)")
	t.NoSteps = true
	rehearsedFlag(cmd, &t.MergeOptions)
	t.outputFlags.flags(f)
	f.IntVar(&t.Top, "top", timeline.DefaultTop, "list this `NUMBER` of the longest exposed calls")
	return cmd
}

func (t *timeliner) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	for _, name := range []string{"out", "extract", "write-sweep"} {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return usage.New(fmt.Errorf("--%s: value must not be empty", name))
		}
	}
	if err := t.check(args); err != nil {
		return usage.New(err)
	}
	if !cmd.Flags().Changed("top") {
		t.Top = 0 // that of facts files
	}
	if t.extract != "" {
		notes, err := timeline.Extract(ctx, t.extract, toolName, args, t.Options, t.wrote)
		note(t.stderr, t.Kept(notes))
		return err
	}
	if t.out != "" {
		if err := atomicfile.MayReplace(t.out, toolName, "timeline.html", "timeline.md", "timeline.json"); err != nil {
			return err
		}
	}
	if t.sweep != "" {
		t.sweep = filepath.Clean(t.sweep)
		if err := atomicfile.MayReplace(filepath.Dir(t.sweep), toolName, filepath.Base(t.sweep)); err != nil {
			return err
		}
	}
	if t.diff {
		found, notes, err := timeline.ReadDiff(ctx, [2]string(args), t.Options)
		note(t.stderr, t.Kept(notes))
		if errors.Is(err, timeline.ErrDifferent) {
			return usage.New(err)
		} else if err != nil {
			return err
		}
		found.Notes = t.Kept(found.Notes)
		return t.write(timelinedoc.OfDiff(found), t.stdout)
	}
	found, notes, err := timeline.ReadScaled(ctx, t.scaling, args, t.Options)
	note(t.stderr, t.Kept(notes))
	if err != nil {
		return err
	}
	if t.results != nil {
		notes, err := found.JoinFiles(ctx, t.results, t.MergeOptions)
		if err != nil {
			return err
		}
		note(t.stderr, t.Kept(notes))
	}
	if err := t.writeSweep(ctx, found); err != nil {
		return err
	}
	found.Ignore(t.Shows)
	if t.out != "" {
		if err := t.files(ctx, found); err != nil {
			return err
		}
	}
	return t.write(timelinedoc.Of(found), t.stdout)
}

// check validates the options before any file is read.
func (t *timeliner) check(args []string) error {
	if t.Top < 1 {
		return fmt.Errorf("--top %d lists nothing: use 1 or more", t.Top)
	}
	if err := t.Check(); err != nil {
		return err
	}
	switch kind := t.scaling; {
	case t.extract != "" && (kind != "" || t.out != "" || t.sweep != "" || t.results != nil):
		return errors.New("--extract only extracts: give other outputs, --scaling and --results with the facts files")
	case kind != "" && kind != timeline.Strong && kind != timeline.Weak:
		return coll.Unknown("kind of scaling", kind, []string{timeline.Strong, timeline.Weak})
	case kind != "" && t.sweep != "":
		return errors.New("--scaling compares runs, and --write-sweep is of one: leave out one of them")
	case t.diff && (len(args) != 2 || t.out+t.sweep+t.extract+kind != "" || t.results != nil):
		return errors.New("--diff requires two runs, BEFORE and AFTER, without other outputs, --scaling and --results")
	case kind != "" && len(args) < 2:
		return errors.New("--scaling requires two runs: name a folder or a file of each")
	}
	return t.names.set(&t.Options)
}

// writeSweep writes the collectives of the training as a sweep, and reports what it lacks.
func (t *timeliner) writeSweep(ctx context.Context, found *timeline.Timeline) error {
	if t.sweep == "" {
		return nil
	}
	r := timeline.ReplayOf(found)
	note(t.stderr, t.Kept(r.Lacks))
	if r.Parts == nil {
		return errors.New("no collective of these traces can be replayed, so there is no sweep to write")
	}
	if err := atomicfile.WriteTexts(ctx, []string{t.sweep}, [][]byte{timelinedoc.Sweep(found, r)}); err != nil {
		return err
	}
	fmt.Fprintln(t.stderr, "post: wrote", t.sweep)
	return nil
}

// files writes the page, the Markdown and the JSON into the folder of -o.
func (t *timeliner) files(ctx context.Context, found *timeline.Timeline) error {
	doc := timelinedoc.Of(found)
	made := report.OfTimeline(found, report.Options{Tool: found.Tool, Made: time.Now(), Dir: t.out})
	files := append(made.Forms("timeline"), atomicfile.Named{
		Name: "timeline.json", Write: func(w io.Writer) error { return doc.Write(w, document.JSON) },
	})
	return atomicfile.WriteAll(ctx, t.out, files, t.wrote)
}
