package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"busbar/internal/document"
	"busbar/internal/result"
	"busbar/post/atomicfile"
	"busbar/post/report"
	"busbar/post/timeline"
	"busbar/post/timelinedoc"
	"busbar/post/usage"
)

// timeliner is what post timeline was asked to do.
type timeliner struct {
	stdout, stderr io.Writer
	out            string
	names          traceNames
	top            int
	scaling        string
	against        []string // other runs
	results        []string // of a benchmark
	outputFlags
	result.MergeOptions
	timeline.Options
}

func newTimeline(stdout, stderr io.Writer) *cobra.Command {
	t := &timeliner{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "timeline [flags] FILE|DIR...",
		Short:   "Analyse profiler traces: exposed communication, stragglers, advice",
		GroupID: "job",
		Long: `Reads what profilers wrote about GPUs: Kineto traces of torch.profiler (JSON,
gzipped too) and SQLite exports of Nsight Systems (nsys export --type sqlite),
each known by its content. All files are of one run: give it those of all ranks,
or their folder, with its subfolders, or a tar archive of it. A file that was
cut off is read as far as it goes.

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
		ValidArgsFunction: traceFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return t.run(cmd.Context(), cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&t.out, "out", "o", "", "also write timeline.html, .md and .json into this `DIR`")
	t.names.flags(f)
	f.StringVar(&t.scaling, "scaling", "", "compare runs on different numbers of ranks: `KIND` is strong (the same work\nin all) or weak (the same work for each rank); each argument is a run")
	f.StringArrayVar(&t.against, "against", nil, "another `RUN` for --scaling, where the arguments are files of one (repeatable)")
	f.StringArrayVar(&t.results, "results", nil, "set collectives against the benchmark in this `FILE|DIR` (repeatable)")
	t.NoSteps = true
	rehearsedFlag(cmd, &t.MergeOptions)
	t.outputFlags.flags(f)
	f.IntVar(&t.top, "top", timeline.DefaultTop, "list this `NUMBER` of the longest exposed calls")
	return cmd
}

// traceFiles completes names of traces and of folders.
func traceFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"json", "gz", "sqlite", "tar", "tgz"}, cobra.ShellCompDirectiveFilterFileExt
}

func (t *timeliner) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	if err := t.check(args); err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	if err := t.mayWrite(); err != nil {
		return err
	}
	found, err := t.read(ctx, args)
	if err != nil {
		return err
	}
	if t.results != nil {
		if err := t.join(ctx, found); err != nil {
			return err
		}
	}
	found.Ignore(t.Shows)
	if t.out != "" {
		if err := t.files(ctx, found); err != nil {
			return err
		}
	}
	return t.write(timelinedoc.Of(found), t.stdout)
}

// check finds what is wrong with a call before anything is read.
func (t *timeliner) check(args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("name what to read: a trace of torch.profiler (.json, .json.gz), an export of Nsight Systems (.sqlite), or a folder of them")
	case t.top < 1:
		return fmt.Errorf("--top %d lists nothing: use 1 or more", t.top)
	}
	if err := t.Check(); err != nil {
		return err
	}
	if err := t.checkScaling(args); err != nil {
		return err
	}
	var err error
	t.Options, err = t.names.options()
	t.Top = t.top
	return err
}

// traceNames are what a user says of names in traces, as regular expressions.
type traceNames struct{ comm, step string }

func (p *traceNames) flags(f *pflag.FlagSet) {
	f.StringVar(&p.comm, "comm-pattern", "", "kernels whose name matches `REGEXP` are communication too")
	f.StringVar(&p.step, "step-pattern", "", "ranges whose name matches `REGEXP` are steps; else those of torch.profiler")
}

// options are what a timeline is made with.
func (p *traceNames) options() (o timeline.Options, err error) {
	o.Tool = versionLine()
	if o.CommPattern, err = expression("comm-pattern", p.comm); err == nil {
		o.StepPattern, err = expression("step-pattern", p.step)
	}
	return o, err
}

// expression is the regular expression of a flag; nil where it is not given.
func expression(flag, text string) (*regexp.Regexp, error) {
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return re, nil
}

// readTimeline makes one timeline of all traces found; stderr names what was skipped, as far as flags show it.
func readTimeline(
	ctx context.Context, stderr io.Writer, flags *outputFlags, paths []string, o timeline.Options,
) (*timeline.Timeline, error) {
	found, problems, err := timeline.Read(ctx, paths, o)
	note(stderr, flags.Kept(problems))
	return found, err
}

// The files of -o.
const (
	timelinePageName = "timeline.html"
	timelineTextName = "timeline.md"
	timelineDataName = "timeline.json"
)

// mayWrite is the error of a file that lies where one of -o is to be and is none of ours: a trace may have that name.
func (t *timeliner) mayWrite() error {
	if t.out == "" {
		return nil
	}
	for _, name := range []string{timelinePageName, timelineTextName, timelineDataName} {
		if err := atomicfile.MayReplace(filepath.Join(t.out, name), toolName); err != nil {
			return err
		}
	}
	return nil
}

// files writes what -o is for.
func (t *timeliner) files(ctx context.Context, found *timeline.Timeline) error {
	made := report.OfTimeline(found, report.Options{Tool: found.Tool, Made: time.Now(), Dir: t.out}) // links are relative
	return atomicfile.WriteAll(ctx, t.out, []atomicfile.Named{
		{Name: timelinePageName, Write: made.WritePage},
		{Name: timelineTextName, Write: made.WriteMarkdown},
		{Name: timelineDataName, Write: func(w io.Writer) error { return timelinedoc.Of(found).Write(w, document.JSON) }},
	}, func(path string) { fmt.Fprintln(t.stderr, "post: wrote", path) })
}
