package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/plot"
	"busbar/post/say"
)

// comparer is what post compare was asked to do.
type comparer struct {
	stdout, stderr io.Writer
	result.MergeOptions
	by, base, out, format         string
	margin, failAbove, thresholds string
	strict                        bool
	seed                          uint64
}

// comparedSides is a whole comparison: every side with the first.
type comparedSides struct {
	sides []*side
	duels []*duel
}

// compareFormats are what stdout gets.
var compareFormats = map[string]func(*comparedSides, io.Writer) error{
	"text": (*comparedSides).writeText, "md": (*comparedSides).writeMarkdown, "json": (*comparedSides).writeJSON,
}

var compareFormatNames = []string{"text", "md", "json"}

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
than an interval within one of them shows. A word takes four of each side, and
they had better take turns: A B A B A B A B. The verdicts:

  worse, better  the sides differ by more than launches of one do. Were there no
                 difference, a single such word would stand in at most 5 % of
                 comparisons, however many points they have (--strict: 1 %, and
                 five launches of each side)
  same           the ratio's interval lies inside the margin (--margin)
  cannot tell    neither; with how many more launches it would probably take

Points are compared where all else is equal: collective, type, placement, mode,
size, world and so on. Points without a partner, and points that failed on one
side, are listed; so is what else differs between the sides. docs/compare.md has
the formulas, the recipe of a nightly check, and the files.`,
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
	f.StringVar(&c.format, "format", "text", "`FORMAT` on stdout: "+strings.Join(compareFormatNames, ", "))
	f.StringVar(&c.margin, "margin", "3%", "differences up to this `PERCENT` are none")
	f.StringVar(&c.failAbove, "fail-above", "", "exit status 7 if a point is worse by more than this `PERCENT`, or fails")
	f.StringVar(&c.thresholds, "thresholds", "", "read limits for some collectives and sizes from this YAML `FILE`")
	f.BoolVar(&c.strict, "strict", false, "err in 1 % of comparisons, not in 5 %; intervals of 99 %")
	f.Uint64Var(&c.seed, "seed", 1, "`NUMBER` that draws start from, where there are too many launches for all ways")
	c.NoSteps = true
	rehearsedFlag(cmd, &c.MergeOptions)
	return cmd
}

// exceededError says that points are worse than --fail-above allows.
type exceededError struct{ worse, fail int }

func (e *exceededError) Error() string {
	var words []string
	if e.worse > 0 {
		words = append(words, say.Count(e.worse, "point")+" worse by more than --fail-above allows")
	}
	if e.fail > 0 {
		words = append(words, say.Count(e.fail, "point")+" that failed, and before not or less often")
	}
	return strings.Join(words, ", ")
}

func (c *comparer) run(ctx context.Context, cmd *cobra.Command, args []string) error {
	rules, err := c.rules(cmd)
	if err != nil {
		return &usageError{err, cmd.CommandPath()}
	}
	write, known := compareFormats[c.format]
	if !known {
		return &usageError{coll.Unknown("format", c.format, compareFormatNames), cmd.CommandPath()}
	}
	sides, pool, notes, err := c.read(ctx, cmd, args)
	if err != nil {
		return err
	}
	if sides, err = base(sides, c.base); err != nil {
		return &usageError{err, cmd.CommandPath()}
	}
	if len(sides) < 2 {
		return &usageError{errOneSide, cmd.CommandPath()}
	}
	if !c.IncludeRehearsed {
		if err := refuseRehearsed(sides); err != nil {
			return err
		}
	}
	g, err := gatherSides(ctx, sides, pool)
	if err != nil {
		return err
	}
	notes = slices.Concat(notes, notesOf(sides, pool), g.lacking.problems("not compared"))
	alpha := stats.DefaultAlpha
	if c.strict {
		alpha = stats.StrictAlpha
	}
	all := &comparedSides{sides: sides}
	for _, s := range sides[1:] {
		all.duels = append(all.duels, g.judge(sides[0], s, rules, alpha, c.seed))
	}
	if err := all.nothing(notes); err != nil {
		return err
	}
	buffered := bufio.NewWriter(c.stdout)
	if err = write(all, buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil && c.out != "" {
		err = c.files(ctx, all)
	}
	if err != nil {
		return err
	}
	note(c.stderr, notes)
	return all.exceeded()
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
func (c *comparer) read(ctx context.Context, cmd *cobra.Command, args []string) (sides []*side, pool *result.Dataset, notes []result.Problem, err error) {
	if !cmd.Flags().Changed("by") {
		if len(args) < 2 {
			return nil, nil, nil, &usageError{errOneSide, cmd.CommandPath()}
		}
		sides, notes, err = sidesOf(ctx, args, c.MergeOptions)
		return sides, nil, notes, err
	}
	of, err := sortBy(c.by)
	if err != nil {
		return nil, nil, nil, &usageError{err, cmd.CommandPath()}
	}
	files, notes, err := find(args)
	if err != nil {
		return nil, nil, nil, err
	}
	if pool, err = result.MergeContext(ctx, files, c.MergeOptions); err != nil {
		return nil, nil, nil, err
	}
	if sides = sidesBy(pool, of); len(sides) == 1 {
		return nil, nil, nil, &usageError{fmt.Errorf("all launches have the same %s: %s", c.by, sides[0].name), cmd.CommandPath()}
	}
	return sides, pool, notes, nil
}

func notesOf(sides []*side, pool *result.Dataset) (notes []result.Problem) {
	if pool != nil {
		return pool.Notes()
	}
	for _, s := range sides {
		notes = append(notes, s.data.Notes()...)
	}
	return notes
}

// nothing is the error of sides that have no point in common, with why.
func (c *comparedSides) nothing(notes []result.Problem) error {
	var why []string
	for _, d := range c.duels {
		if len(d.points) > 0 || len(d.findings) > 0 {
			return nil
		}
		if len(d.alone) == 0 {
			return &result.NothingError{Problems: notes}
		}
		why = append(why, d.apart()...)
	}
	return errors.New("no point has a partner, so there is nothing to compare:\n  " + strings.Join(why, "\n  "))
}

// ifTold is a word for what another tool's file may not tell.
func ifTold(is bool, word string) string {
	if is {
		return word
	}
	return "not told"
}

// apart says in what two sides have nothing in common, or else which points each has.
func (d *duel) apart() (lines []string) {
	for _, p := range []struct {
		name string
		of   func(alone) string
	}{
		{"world", func(f alone) string { return say.Count(f.under.World, "rank") }},
		{"nodes", func(f alone) string { return say.Count(f.under.Nodes, "node") }},
		{"collective", func(f alone) string { return f.under.Collective.String() }},
		{"type", func(f alone) string { return ifTold(f.under.Type != 0, f.under.Type.String()) }},
		{"operation", func(f alone) string { return f.under.Op.String() }},
		{"mode", func(f alone) string { return f.under.Mode.String() }},
		{"placement", func(f alone) string { return ifTold(f.under.Placement != 0, say.Placement(f.under.Placement)) }},
		{"size", func(f alone) string { return f.under.Size() }},
		{"way of measuring", func(f alone) string {
			return cmp.Or(strings.TrimPrefix(say.Unusual(&result.Method{Rotate: f.under.Rotate, Aggregate: f.under.Aggregate, Average: f.under.Average}), ", "), "rank's own")
		}},
		{"backend, library or variant (--by tells them apart)", func(f alone) string { return trimWho(f.who) }},
	} {
		var a, b []string
		for _, f := range d.alone {
			if f.side == d.a {
				a = addWord(a, p.of(f))
			} else {
				b = addWord(b, p.of(f))
			}
		}
		if !slices.ContainsFunc(a, func(v string) bool { return slices.Contains(b, v) }) {
			lines = append(lines, fmt.Sprintf("%s: %s in %s, %s in %s", p.name, say.Some(a), d.a.name, say.Some(b), d.b.name))
		}
	}
	if lines == nil {
		lines = d.aloneWords()
	}
	return lines
}

// exceeded is the error that makes exit status 7.
func (c *comparedSides) exceeded() error {
	e := &exceededError{}
	for _, d := range c.duels {
		worse, fail := d.exceeded()
		e.worse, e.fail = e.worse+worse, e.fail+fail
	}
	if e.worse+e.fail > 0 {
		return e
	}
	return nil
}

// files writes what -o is for.
func (c *comparer) files(ctx context.Context, all *comparedSides) error {
	outputs := []output{{"compare.md", all.writeMarkdown}, {"compare.json", all.writeJSON}}
	for _, p := range plot.Ratios(all.pictures()) {
		outputs = append(outputs, output{p.Name + ".png", p.WritePNG}, output{p.Name + ".svg", p.WriteSVG})
	}
	for _, o := range outputs {
		path := filepath.Join(c.out, o.name)
		if err := writeFiles(ctx, []string{path}, func(w []io.Writer) error { return o.write(w[0]) }); err != nil {
			return err
		}
		fmt.Fprintln(c.stderr, "post: wrote", path)
	}
	return nil
}
