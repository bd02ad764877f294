// Package compare compares results point by point: which became faster or slower, and how sure that is.
package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/input"
	"busbar/post/usage"
)

// comparedSides is every side compared with the first, at points of one kind.
type comparedSides struct {
	*kind
	sides       []*side
	comparisons []*sideComparison
}

// A Comparison has the comparisons of each kind of which sides have points.
type Comparison []*comparedSides

// Options are what is compared, and how.
type Options struct {
	result.MergeOptions
	Args   []string // of the command: the sides, or what is divided
	Divide bool     // what the arguments name is divided
	By     string   // into sides by this, a word of --by
	Base   string   // the side that others are compared with; "" for the first
	Limits *Thresholds
	Strict bool
	Seed   uint64
}

// Results reads the sides and compares each with the first. notes are of what was read, lacking of simulated sides and of
// sides that have no points of a kind. The error of a wrong call is a usage.Error.
func Results(ctx context.Context, o *Options) (all Comparison, lacking, notes []notice.Notice, err error) {
	sides, pool, notes, err := o.read(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if sides, err = base(sides, o.Base); err != nil {
		return nil, nil, nil, usage.New(err, commandName)
	}
	if len(sides) < 2 {
		return nil, nil, nil, usage.New(errOneSide, commandName)
	}
	if !o.IncludeRehearsed {
		if err := refuseRehearsed(sides); err != nil {
			return nil, nil, nil, err
		}
	}
	all, lacking, found, err := o.compare(ctx, sides, pool)
	if err != nil {
		return nil, nil, nil, err
	}
	notes = distinct(slices.Concat(notes, notesOf(sides, pool), found))
	if err := all.nothing(sides, notes); err != nil {
		return nil, nil, nil, err
	}
	return all, slices.Concat(simulated(sides), lacking), notes, nil
}

// commandName is what wrong calls are of.
const commandName = "post compare"

// Ignore removes the notices that --ignore names.
func (c Comparison) Ignore(shows func(notice.Code) bool) {
	for _, one := range c {
		for _, d := range one.comparisons {
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
func (o *Options) compare(ctx context.Context, sides []*side, pool *result.Dataset) (
	all Comparison, lacking []notice.Notice, notes []notice.Notice, err error,
) {
	alpha := stats.DefaultAlpha
	if o.Strict {
		alpha = stats.StrictAlpha
	}
	for _, k := range []struct {
		*kind
		gather func(context.Context, []*side, *result.Dataset) (*pointSet, []notice.Notice, error)
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
			one.comparisons = append(one.comparisons, points.judge(of[0], s, o.Limits, alpha, o.Seed))
		}
		all = append(all, one)
	}
	return all, lacking, notes, nil
}

// read finds the sides. pool is the dataset that all are of, nil where each has its own.
func (o *Options) read(ctx context.Context) (
	sides []*side, pool *result.Dataset, notes []notice.Notice, err error,
) {
	if !o.Divide {
		if len(o.Args) < 2 {
			return nil, nil, nil, usage.New(errOneSide, commandName)
		}
		sides, notes, err = sidesOf(ctx, o.Args, o.MergeOptions)
		return sides, nil, notes, err
	}
	of, err := sortBy(o.By)
	if err != nil {
		return nil, nil, nil, usage.New(err, commandName)
	}
	files, notes, err := input.Find(o.Args)
	if err != nil {
		return nil, nil, nil, err
	}
	if pool, err = result.MergeContext(ctx, files, o.MergeOptions); err != nil {
		return nil, nil, nil, err
	}
	if sides = sidesBy(pool, of); len(sides) == 1 {
		return nil, nil, nil, usage.New(fmt.Errorf("all launches have the same %s: %s", o.By, sides[0].name), commandName)
	}
	return sides, pool, notes, nil
}

// ExceededError reports points that are worse than --fail-above allows.
type ExceededError struct{ worse, fail int }

func (e *ExceededError) Error() string {
	var words []string
	if e.worse > 0 {
		words = append(words, units.Count(e.worse, "point")+" worse than --fail-above allows")
	}
	if e.fail > 0 {
		words = append(words, units.Count(e.fail, "point")+" failed more often")
	}
	return strings.Join(words, ", ")
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
func (c Comparison) nothing(sides []*side, notes []notice.Notice) error {
	if c == nil {
		return &unmatchedError{kindsOf(sides)}
	}
	var why []string
	for _, one := range c {
		for _, d := range one.comparisons {
			if len(d.points) > 0 || len(d.findings) > 0 {
				return nil
			}
			if len(d.missing) > 0 {
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
func (d *sideComparison) apart() (lines []string) {
	for _, p := range d.aspects {
		var a, b []string
		for _, f := range d.missing {
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

// Exceeded is the error that makes exit status 7.
func (c Comparison) Exceeded() error {
	e := &ExceededError{}
	for _, one := range c {
		for _, d := range one.comparisons {
			worse, fail := d.exceeded()
			e.worse, e.fail = e.worse+worse, e.fail+fail
		}
	}
	if e.worse+e.fail > 0 {
		return e
	}
	return nil
}
