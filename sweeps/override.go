package sweeps

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"busbar/internal/coll"
)

// Overrides is what flags set. A nil pointer or an empty list is a flag that was not given.
type Overrides struct {
	MinBytes, MaxBytes    *int64 // -b, -e
	StepFactor, StepBytes *int64 // -f, -i

	Elements    []int64
	Collectives []coll.Collective
	Types       []coll.DataType
	Ops         []coll.RedOp
	Roots       []int // EveryRoot is every rank
	Placements  []coll.Placement
	Modes       []coll.Mode
	Worlds      []int // ranks

	Precision  *float64 // relative: 0.02
	Budget     *time.Duration
	Iterations *int
	Warmup     *int
	Check      *int
	Aggregate  *int
	TimeLimit  *time.Duration
}

// With returns the sweep with the flags put over it, over every part; the receiver stays as it is. The error joins one
// for each flag that is out of range, and names the flag.
func (s *Sweep) With(o Overrides) (*Sweep, error) {
	c := *s
	c.origins = maps.Clone(s.origins)
	var errs []error
	fail := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}

	c.Parts = make([]Part, len(s.Parts))
	for i, base := range s.Parts {
		part := base.clone()
		if err := o.setSizes(&part); err != nil && (len(errs) == 0 || errs[len(errs)-1].Error() != err.Error()) {
			fail(err)
		}
		replace(&part.Collectives, o.Collectives, part.origins, "collectives", "--collective")
		replace(&part.Types, o.Types, part.origins, "types", "--datatype")
		replace(&part.Ops, o.Ops, part.origins, "ops", "--op")
		replace(&part.Roots, o.Roots, part.origins, "roots", "--root")
		replace(&part.Placements, o.Placements, part.origins, "placement", "--placement")
		replace(&part.Modes, o.Modes, part.origins, "mode", "--mode")
		c.Parts[i] = part
	}
	for _, r := range o.Roots {
		fail(atLeast("--root", r, EveryRoot))
	}
	for _, n := range o.Worlds {
		fail(atLeast("--worlds", n, 1))
	}
	replace(&c.Worlds, o.Worlds, c.origins, "worlds", "--worlds")

	if o.Precision != nil {
		fail(flagged("--precision", checkRatio(*o.Precision)))
	}
	if o.Budget != nil {
		fail(flagged("--budget", checkBudget(*o.Budget)))
	}
	if o.TimeLimit != nil && *o.TimeLimit < 0 {
		fail(fmt.Errorf("--time-limit %v: want 0 (none) or more", *o.TimeLimit))
	}
	for _, n := range []struct {
		flag   string
		value  *int
		lowest int
	}{{"--iters", o.Iterations, 0}, {"--warmup-iters", o.Warmup, 0}, {"--check", o.Check, 0}, {"--agg-iters", o.Aggregate, 1}} {
		if n.value != nil {
			fail(atLeast(n.flag, *n.value, n.lowest))
		}
	}
	set(&c.Precision, o.Precision, c.origins, "precision", "--precision")
	set(&c.Budget, o.Budget, c.origins, "budget", "--budget")
	set(&c.Iterations, o.Iterations, c.origins, "iterations", "--iters")
	set(&c.Warmup, o.Warmup, c.origins, "warmup", "--warmup-iters")
	set(&c.Check, o.Check, c.origins, "check", "--check")
	set(&c.Aggregate, o.Aggregate, c.origins, "aggregate", "--agg-iters")
	set(&c.TimeLimit, o.TimeLimit, c.origins, "time_limit", "--time-limit")
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &c, nil
}

// setSizes puts --elements, or -b, -e, -f and -i over the sizes of a part. What is missing of a range comes from the
// part's own range; a part without one needs both -b and -e.
func (o *Overrides) setSizes(part *Part) error {
	given := o.rangeFlags()
	if len(o.Elements) > 0 {
		if len(given) > 0 {
			return fmt.Errorf("--elements and %s exclude each other", given[0])
		}
		for _, n := range o.Elements {
			if n < 1 {
				return fmt.Errorf("--elements %d: want 1 or more", n)
			}
		}
		part.setSizes(listed(o.Elements, true), "flag --elements")
		return nil
	}
	if len(given) == 0 {
		return nil
	}
	where := originOf(part.origins, "sizes")
	begin, end := "begin", "end"
	r := part.Sizes
	if !r.isByteRange() {
		if o.MinBytes == nil || o.MaxBytes == nil {
			return fmt.Errorf("%s: the sweep has no range of sizes that this could change (it has %s); give both -b and -e", strings.Join(given, " "), part.Sizes)
		}
		r = Sizes{Factor: 2}
		where = ""
	}
	if o.MinBytes != nil {
		r.Begin, begin = *o.MinBytes, "-b"
	}
	if o.MaxBytes != nil {
		r.End, end = *o.MaxBytes, "-e"
	}
	if err := o.setGrowth(&r); err != nil {
		return err
	}
	name := func(what string, n int64) string {
		text := what + " " + coll.FormatSize(n, false)
		if !strings.HasPrefix(what, "-") {
			text += " (" + where + ")"
		}
		return text
	}
	switch {
	case r.Begin < 1:
		return fmt.Errorf("%s: want 1 or more", name(begin, r.Begin))
	case r.Begin > r.End:
		return fmt.Errorf("%s is larger than %s", name(begin, r.Begin), name(end, r.End))
	case r.tooMany():
		return fmt.Errorf("%s to %s by step %s are more than %d sizes", name(begin, r.Begin), name(end, r.End), coll.FormatSize(r.Step, false), maxPoints)
	}
	origin := "flag " + strings.Join(given, " ")
	if where != "" && (o.MinBytes == nil || o.MaxBytes == nil || (o.StepFactor == nil && o.StepBytes == nil)) {
		origin += ", " + where
	}
	part.setSizes(r, origin)
	return nil
}

// setGrowth puts -f and -i into a range; -f 1 means -i, as in nccl-tests.
func (o *Overrides) setGrowth(r *Sizes) error {
	factor, step := o.StepFactor, o.StepBytes
	if factor != nil && *factor == 1 && step != nil {
		factor = nil
	}
	switch {
	case factor != nil && step != nil:
		return fmt.Errorf("-f %d and -i %s exclude each other", *factor, coll.FormatSize(*step, false))
	case factor != nil && *factor < 2:
		return fmt.Errorf("-f %d: want 2 or more, or -i for steps of so many bytes", *factor)
	case step != nil && *step < 1:
		return fmt.Errorf("-i %d: want 1 or more", *step)
	case factor != nil:
		r.Factor, r.Step = *factor, 0
	case step != nil:
		r.Factor, r.Step = 0, *step
	}
	return nil
}

func (o *Overrides) rangeFlags() []string {
	var given []string
	for _, f := range []struct {
		flag  string
		value *int64
	}{{"-b", o.MinBytes}, {"-e", o.MaxBytes}, {"-f", o.StepFactor}, {"-i", o.StepBytes}} {
		if f.value != nil {
			given = append(given, f.flag)
		}
	}
	return given
}

func (p *Part) setSizes(s Sizes, origin string) {
	p.Sizes = s
	delete(p.origins, "sizes")
	delete(p.origins, "elements")
	if s.Elements {
		p.origins["elements"] = origin
	} else {
		p.origins["sizes"] = origin
	}
}

func replace[T any](to *[]T, with []T, origins map[string]string, key, flag string) {
	if len(with) > 0 {
		*to = with
		origins[key] = "flag " + flag
	}
}

func set[T any](to, with *T, origins map[string]string, key, flag string) {
	if with != nil {
		*to = *with
		origins[key] = "flag " + flag
	}
}

func atLeast(flag string, n, lowest int) error {
	if n < lowest {
		return fmt.Errorf("%s %d: want %d or more", flag, n, lowest)
	}
	return nil
}

func flagged(flag string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

func checkBudget(d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("%v: want more than 0 for a case", d)
	}
	return nil
}
