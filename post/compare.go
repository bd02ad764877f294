package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/atomicfile"
	"busbar/post/input"
	"busbar/post/plot"
	"busbar/post/usage"
)

// comparer is what post compare was asked to do.
type comparer struct {
	stdout, stderr io.Writer
	result.MergeOptions
	outputFlags
	by, base, out                 string
	margin, failAbove, thresholds string
	strict                        bool
	seed                          uint64
}

// comparedSides is every side compared with the first, at points of one kind.
type comparedSides struct {
	*kind
	sides []*side
	duels []*duel
}

// comparison is a whole one: of each kind of which sides have points.
type comparison []*comparedSides

func newCompare(stdout, stderr io.Writer) *cobra.Command {
	c := &comparer{stdout: stdout, stderr: stderr}
	cmd := &cobra.Command{
		Use:     "compare [flags] A B [C...]  or  compare --by WORD [flags] [FILE|DIR...]",
		Short:   "Say which points became better or worse, and how sure that is",
		GroupID: "results",
		Long: `Compares files or folders of results: each with the first, point by point. Or,
with --by, the parts of what is read that differ in the variant, library,
backend, device, host, tool, campaign, launch, date or an environment variable
(env:NCCL_ALGO); the oldest is the first, or the one that --base names.

What counts is launches (one mpirun or srun each), since they differ by more
than an interval within one of them shows. A verdict takes four of each side;
measure them in turns: A B A B A B A B. The verdicts:

  worse, better  the sides differ by more than launches of one side do. With no
                 difference, at most 5 % of comparisons have such a verdict
                 anywhere, however many points they have (--strict: 1 %, and
                 five launches of each side)
  same           the ratio's interval lies inside the margin (--margin)
  inconclusive   neither; with how many more launches it would probably take

Points are compared where all else is equal: collective, type, placement, mode,
size, world and so on. Training steps (rank --step) are compared by their
overlapped step, in a table of their own: same model, bucket, computing, world.
Points without a partner, and points that failed on one side, are listed; so is
what else differs between the sides. docs/compare.md has the formulas, the
recipe of a nightly check, and the files.`,
		Example: `  post compare baseline results
  post compare --by variant results
  post compare --fail-above 5% baseline tonight        # exit status 7 if worse
  post compare -o comparison baseline monday tuesday   # and Markdown, pictures`,
		ValidArgsFunction: resultFiles,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&c.by, "by", "", "what tells the sides apart: `WORD` is variant, library, …")
	f.StringVar(&c.base, "base", "", "compare with the side of this `NAME`")
	f.StringVarP(&c.out, "out", "o", "", "also write compare.md, compare.json and pictures into this `DIR`")
	f.StringVar(&c.margin, "margin", "3%", "differences up to this `PERCENT` are none")
	f.StringVar(&c.failAbove, "fail-above", "", "exit status 7 if a point is worse by more than this `PERCENT`, or fails")
	f.StringVar(&c.thresholds, "thresholds", "", "read limits for some collectives and sizes from this YAML `FILE`")
	f.BoolVar(&c.strict, "strict", false, "err in 1 % of comparisons, not in 5 %; intervals of 99 %")
	f.Uint64Var(&c.seed, "seed", 1, "`NUMBER` that draws start from, where there are too many launches for all ways")
	rehearsedFlag(cmd, &c.MergeOptions)
	c.flags(f)
	return cmd
}

// exceededError reports points that are worse than --fail-above allows.
type exceededError struct{ worse, fail int }

func (e *exceededError) Error() string {
	var words []string
	if e.worse > 0 {
		words = append(words, units.Count(e.worse, "point")+" worse than --fail-above allows")
	}
	if e.fail > 0 {
		words = append(words, units.Count(e.fail, "point")+" failed more often")
	}
	return strings.Join(words, ", ")
}

func (c *comparer) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	rules, err := c.rules(cmd)
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	sides, pool, notes, err := c.read(ctx, cmd, args)
	if err != nil {
		return err
	}
	if sides, err = base(sides, c.base); err != nil {
		return usage.New(err, cmd.CommandPath())
	}
	if len(sides) < 2 {
		return usage.New(errOneSide, cmd.CommandPath())
	}
	if !c.IncludeRehearsed {
		if err := refuseRehearsed(sides); err != nil {
			return err
		}
	}
	all, lacking, found, err := c.compare(ctx, sides, pool, rules)
	if err != nil {
		return err
	}
	notes = distinct(slices.Concat(notes, notesOf(sides, pool), found))
	if err := all.nothing(sides, notes); err != nil {
		return err
	}
	all.ignore(c.shows)
	doc := all.document(c.kept(slices.Concat(simulated(sides), lacking)))
	notes = c.kept(notes)
	doc.Notices = append(slices.Clone(notes), doc.Notices...)
	if c.out != "" {
		if err := c.files(ctx, doc, all.pictures()); err != nil {
			return err
		}
	}
	err = c.write(doc, c.stdout)
	note(c.stderr, notes)
	if failOn := (*failOnError)(nil); err != nil && !errors.As(err, &failOn) {
		return err
	}
	return cmp.Or(all.exceeded(), err)
}

// ignore removes the notices that --ignore names.
func (c comparison) ignore(shows func(notice.Code) bool) {
	for _, one := range c {
		for _, d := range one.duels {
			d.notices = slices.DeleteFunc(d.notices, func(n notice.Notice) bool { return !shows(n.Code()) })
			for i := range d.points {
				p := &d.points[i]
				p.notes = slices.DeleteFunc(p.notes, func(k notice.Kept) bool { return !shows(k.Code()) })
			}
		}
	}
}

// compare compares the sides at points of each kind; lacking are kinds that a side has no points of, notes are of what
// was read and could not be compared.
func (c *comparer) compare(ctx context.Context, sides []*side, pool *result.Dataset, rules *thresholds) (
	all comparison, lacking []notice.Notice, notes []notice.Notice, err error,
) {
	alpha := stats.DefaultAlpha
	if c.strict {
		alpha = stats.StrictAlpha
	}
	for _, k := range []struct {
		*kind
		gather func(context.Context, []*side, *result.Dataset) (*contest, []notice.Notice, error)
	}{{collectives, gatherCollectives}, {trainingSteps, gatherTraining}} {
		of, without := k.sidesOf(sides)
		if lacking = append(lacking, without...); of == nil {
			continue
		}
		points, found, err := k.gather(ctx, of, pool)
		if err != nil {
			return nil, nil, nil, err
		}
		notes = append(notes, found...)
		one := &comparedSides{kind: k.kind, sides: of}
		for _, s := range of[1:] {
			one.duels = append(one.duels, points.judge(of[0], s, rules, alpha, c.seed))
		}
		all = append(all, one)
	}
	return all, lacking, notes, nil
}

// rules are the limits that flags and file give.
func (c *comparer) rules(cmd *cobra.Command) (*thresholds, error) {
	t := &thresholds{}
	var err error
	if t.margin, err = parsePercent(c.margin); err != nil {
		return nil, fmt.Errorf("--margin %w", err)
	}
	if cmd.Flags().Changed("fail-above") {
		if t.failAbove, err = parsePercent(c.failAbove); err != nil {
			return nil, fmt.Errorf("--fail-above %w", err)
		}
	}
	if cmd.Flags().Changed("thresholds") {
		return t, readThresholds(c.thresholds, t, cmd.Flags().Changed("margin"), cmd.Flags().Changed("fail-above"))
	}
	return t, nil
}

// read finds the sides. pool is the dataset that all are of, nil where each has its own.
func (c *comparer) read(
	ctx context.Context, cmd *cobra.Command, args []string,
) (sides []*side, pool *result.Dataset, notes []notice.Notice, err error) {
	if !cmd.Flags().Changed("by") {
		if len(args) < 2 {
			return nil, nil, nil, usage.New(errOneSide, cmd.CommandPath())
		}
		sides, notes, err = sidesOf(ctx, args, c.MergeOptions)
		return sides, nil, notes, err
	}
	of, err := sortBy(c.by)
	if err != nil {
		return nil, nil, nil, usage.New(err, cmd.CommandPath())
	}
	files, notes, err := input.Find(args)
	if err != nil {
		return nil, nil, nil, err
	}
	if pool, err = result.MergeContext(ctx, files, c.MergeOptions); err != nil {
		return nil, nil, nil, err
	}
	if sides = sidesBy(pool, of); len(sides) == 1 {
		return nil, nil, nil, usage.New(fmt.Errorf("all launches have the same %s: %s", c.by, sides[0].name),
			cmd.CommandPath())
	}
	return sides, pool, notes, nil
}

func notesOf(sides []*side, pool *result.Dataset) (notes []notice.Notice) {
	if pool != nil {
		return pool.Notes()
	}
	for _, s := range sides {
		notes = append(notes, s.data.Notes()...)
	}
	return notes
}

// distinct are the problems without repetitions: two sides may be the same files.
func distinct(all []notice.Notice) (kept []notice.Notice) {
	for _, p := range all {
		if !slices.ContainsFunc(kept, p.Equal) {
			kept = append(kept, p)
		}
	}
	return kept
}

// unmatchedError is that the sides have no point in common, with what each has.
type unmatchedError struct{ why []string }

func (e *unmatchedError) Error() string {
	return "nothing to compare: no point has a partner\n  " + strings.Join(e.why, "\n  ")
}

// nothing is the error of sides that have no point in common.
func (c comparison) nothing(sides []*side, notes []notice.Notice) error {
	if c == nil {
		return &unmatchedError{kindsOf(sides)}
	}
	var why []string
	for _, one := range c {
		for _, d := range one.duels {
			if len(d.points) > 0 || len(d.findings) > 0 {
				return nil
			}
			if len(d.alone) > 0 {
				why = append(why, d.apart()...)
			}
		}
	}
	if why == nil {
		return &result.NothingError{Problems: notes}
	}
	return &unmatchedError{why}
}

// kindsOf lists the kinds of points that each side has.
func kindsOf(sides []*side) (lines []string) {
	for _, s := range sides {
		var names []string
		for _, k := range []*kind{collectives, trainingSteps} {
			if slices.ContainsFunc(s.runs, k.has) {
				names = append(names, k.name)
			}
		}
		lines = append(lines, s.name+": "+strings.Join(names, " and "))
	}
	return lines
}

// apart lists the aspects in which two sides have no value in common, or else the points of each.
func (d *duel) apart() (lines []string) {
	for _, p := range d.aspects {
		var a, b []string
		for _, f := range d.alone {
			if f.side == d.a {
				a = units.AddOnce(a, p.of(f.of))
			} else {
				b = units.AddOnce(b, p.of(f.of))
			}
		}
		if !slices.ContainsFunc(a, func(v string) bool { return slices.Contains(b, v) }) {
			lines = append(lines, document.Printable(p.name+": "+units.Some(a)+" in "+d.a.name+", "+units.Some(b)+" in "+
				d.b.name))
		}
	}
	if lines == nil {
		for _, f := range d.unmatched() {
			lines = append(lines, notice.Message(f))
		}
	}
	return lines
}

// exceeded is the error that makes exit status 7.
func (c comparison) exceeded() error {
	e := &exceededError{}
	for _, one := range c {
		for _, d := range one.duels {
			worse, fail := d.exceeded()
			e.worse, e.fail = e.worse+worse, e.fail+fail
		}
	}
	if e.worse+e.fail > 0 {
		return e
	}
	return nil
}

// files writes what -o is for.
func (c *comparer) files(ctx context.Context, doc *document.Document, pictures []plot.Ratio) error {
	outputs := []output{
		{"compare.md", func(w io.Writer) error { return doc.Write(w, document.Markdown) }},
		{"compare.json", func(w io.Writer) error { return doc.Write(w, document.JSON) }},
	}
	for _, p := range plot.Ratios(pictures) {
		outputs = append(outputs, output{p.Name + ".png", p.WritePNG}, output{p.Name + ".svg", p.WriteSVG})
	}
	for _, o := range outputs {
		path := filepath.Join(c.out, o.name)
		if err := atomicfile.Write(ctx, []string{path}, func(w []io.Writer) error { return o.write(w[0]) }); err != nil {
			return err
		}
		fmt.Fprintln(c.stderr, "post: wrote", path)
	}
	return nil
}
