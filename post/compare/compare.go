// Package compare compares results point by point: which became faster or slower, and how sure that is.
package compare

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
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
	Limits Limits
	Strict bool
	Seed   uint64
}

// Limits are shares of a time: 0.05 is 5 %.
type Limits struct {
	Margin    float64 // differences up to this count as the same
	FailAbove float64 // a point that is worse by more fails the comparison; 0: none does
}

// ParsePercent reads a share: "5%".
func ParsePercent(s string) (float64, error) {
	number, is := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !is || err != nil || !(v > 0 && v < 1e4) {
		return 0, fmt.Errorf("%q is not a percentage over 0, such as 5%%", s)
	}
	return v / 100, nil
}

// ParseLimits reads the limits of a call. Without failAbove none fails, unless it was given.
func ParseLimits(margin, failAbove string, given bool) (l Limits, err error) {
	if l.Margin, err = ParsePercent(margin); err != nil {
		return l, fmt.Errorf("--margin %w", err)
	}
	if given || failAbove != "" {
		if l.FailAbove, err = ParsePercent(failAbove); err != nil {
			return l, fmt.Errorf("--fail-above %w", err)
		}
	}
	return l, nil
}

// Results reads the sides and compares each with the first. notes are of what was read, lacking of simulated sides
// and of sides that have no points of a kind. The error of a wrong call is a usage.Error.
func Results(ctx context.Context, o *Options) (all Comparison, lacking, notes []notice.Notice, err error) {
	sides, notes, err := o.read(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if sides, err = base(sides, o.Base); err != nil {
		return nil, nil, nil, usage.New(err)
	}
	if len(sides) < 2 {
		return nil, nil, nil, usage.New(errOneSide)
	}
	if !o.IncludeRehearsed {
		if err := refuseRehearsed(sides); err != nil {
			return nil, nil, nil, err
		}
	}
	all, lacking, found, err := o.compare(ctx, sides)
	if err != nil {
		return nil, nil, nil, err
	}
	notes = append(notes, found...)
	for _, data := range datasets(sides) {
		notes = append(notes, data.Notes()...)
	}
	notes = distinct(notes)
	if err := all.nothing(lacking, notes); err != nil {
		return nil, nil, nil, err
	}
	return all, slices.Concat(simulated(sides), lacking), notes, nil
}

// Ignore removes the notices that --ignore names.
func (c Comparison) Ignore(shows func(notice.Code) bool) {
	for _, one := range c {
		for _, d := range one.comparisons {
			d.notices = slices.DeleteFunc(d.notices, func(n notice.Notice) bool { return !shows(n.Code()) })
			for p := range units.Each(d.points) {
				p.notes = slices.DeleteFunc(p.notes, func(k notice.Kept) bool { return !shows(k.Code()) })
			}
		}
	}
}

// compare compares the sides at points of each kind; lacking are kinds that a side has no points of, notes are of what
// was read and could not be compared.
func (o *Options) compare(ctx context.Context, sides []*side) (
	all Comparison, lacking []notice.Notice, notes []notice.Notice, err error,
) {
	for _, k := range []*kind{collectives, trainingSteps} {
		of, without := k.sidesOf(sides)
		if lacking = append(lacking, without...); of == nil {
			continue
		}
		points, found, err := k.gather(ctx, of)
		if err != nil {
			return nil, nil, nil, err
		}
		notes = append(notes, found...)
		one := &comparedSides{kind: k, sides: of}
		for _, s := range of[1:] {
			one.comparisons = append(one.comparisons, one.judge(points, of[0], s, o))
		}
		all = append(all, one)
	}
	return all, lacking, notes, nil
}

// read finds the sides.
func (o *Options) read(ctx context.Context) (sides []*side, notes []notice.Notice, err error) {
	if !o.Divide {
		if len(o.Args) < 2 {
			return nil, nil, usage.New(errOneSide)
		}
		return sidesOf(ctx, o.Args, o.MergeOptions)
	}
	path, err := sortBy(o.By)
	if err != nil {
		return nil, nil, usage.New(err)
	}
	data, notes, err := input.Merge(ctx, o.Args, o.MergeOptions)
	if err != nil {
		return nil, nil, err
	}
	if sides = sidesBy(data, path); len(sides) == 1 {
		return nil, nil, usage.New(fmt.Errorf("all launches have the same %s: %s", o.By, sides[0].name))
	}
	return sides, notes, nil
}

// ExceededError reports points that are worse than --fail-above allows.
type ExceededError struct {
	Worse, Fail int
	Of          string // what they are a number of: point, node
}

func (e *ExceededError) Error() string {
	var words []string
	if e.Worse > 0 {
		words = append(words, units.Count(e.Worse, e.Of)+" worse than --fail-above allows")
	}
	if e.Fail > 0 {
		words = append(words, units.Count(e.Fail, e.Of)+" failed more often")
	}
	return strings.Join(words, ", ")
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
func (c Comparison) nothing(lacking, notes []notice.Notice) error {
	var why []string
	if c == nil {
		why = units.Map(lacking, notice.Notice.Message)
	}
	for _, one := range c {
		for _, d := range one.comparisons {
			if len(d.points) > 0 || len(d.findings) > 0 {
				return nil
			}
			why = append(why, d.apart()...)
		}
	}
	if why == nil {
		return &result.NothingError{Problems: notes}
	}
	return &unmatchedError{why}
}

// apart lists the fields of points in which two sides have no value in common, or else the points of each.
func (d *sideComparison) apart() (lines []string) {
	of := map[*side]map[string][]string{d.a: {}, d.b: {}}
	for _, m := range d.missing {
		for path, v := range flattened(m.of.place()) {
			of[m.side][path] = units.AddOnce(of[m.side][path], v)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(of[d.a])) {
		a, b := of[d.a][path], of[d.b][path]
		if b != nil && !slices.ContainsFunc(a, func(v string) bool { return slices.Contains(b, v) }) {
			lines = append(lines, document.Printable(
				path+": "+units.Some(a)+" in "+d.a.name+", "+units.Some(b)+" in "+d.b.name))
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
	e := &ExceededError{Of: "point"}
	for _, one := range c {
		for _, d := range one.comparisons {
			worse, fail := d.exceeded()
			e.Worse, e.Fail = e.Worse+worse, e.Fail+fail
		}
	}
	if e.Worse+e.Fail > 0 {
		return e
	}
	return nil
}
