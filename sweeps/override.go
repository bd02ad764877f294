package sweeps

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"busbar/internal/coll"
)

// Overrides is what flags set. A nil pointer or an empty list is a flag that was not given. It has many fields because
// there is one for each flag.
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
	if err := o.check(); err != nil {
		return nil, err
	}
	c := *s
	c.Parts = make([]Part, len(s.Parts))
	for i, base := range s.Parts {
		part := base.clone()
		if err := o.setSizes(&part); err != nil {
			return nil, err
		}
		replace(&part.Collectives, o.Collectives, part.origins, "collectives", "--collective")
		replace(&part.Types, o.Types, part.origins, "types", "--datatype")
		replace(&part.Ops, o.Ops, part.origins, "ops", "--op")
		replace(&part.Roots, o.Roots, part.origins, "roots", "--root")
		replace(&part.Placements, o.Placements, part.origins, "placement", "--placement")
		replace(&part.Modes, o.Modes, part.origins, "mode", "--mode")
		c.Parts[i] = part
	}
	c.origins = maps.Clone(s.origins)
	replace(&c.Worlds, o.Worlds, c.origins, "worlds", "--worlds")
	set(&c.Precision, o.Precision, c.origins, "precision", "--precision")
	set(&c.Budget, o.Budget, c.origins, "budget", "--budget")
	set(&c.Iterations, o.Iterations, c.origins, "iterations", "--iters")
	set(&c.Warmup, o.Warmup, c.origins, "warmup", "--warmup-iters")
	set(&c.Check, o.Check, c.origins, "check", "--check")
	set(&c.Aggregate, o.Aggregate, c.origins, "aggregate", "--agg-iters")
	set(&c.TimeLimit, o.TimeLimit, c.origins, "time_limit", "--time-limit")
	return &c, nil
}

// check is about each flag alone; what depends on the sweep is checked where it is set.
func (o *Overrides) check() error {
	var errs []error
	fail := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", flag, err))
		}
	}
	atLeast := func(flag string, n, lowest int64) {
		if n < lowest {
			errs = append(errs, fmt.Errorf("%s %d: want %d or more", flag, n, lowest))
		}
	}
	for _, n := range o.Elements {
		atLeast("--elements", n, 1)
	}
	for _, r := range o.Roots {
		atLeast("--root", int64(r), EveryRoot)
	}
	for _, n := range o.Worlds {
		atLeast("--worlds", int64(n), 1)
	}
	for _, n := range []struct {
		flag   string
		value  *int
		lowest int64
	}{{"--iters", o.Iterations, 0}, {"--warmup-iters", o.Warmup, 0}, {"--check", o.Check, 0},
		{"--agg-iters", o.Aggregate, 1}} {
		if n.value != nil {
			atLeast(n.flag, int64(*n.value), n.lowest)
		}
	}
	if o.Precision != nil {
		fail("--precision", checkRatio(*o.Precision))
	}
	if o.Budget != nil {
		fail("--budget", checkBudget(*o.Budget))
	}
	if o.TimeLimit != nil && *o.TimeLimit < 0 {
		fail("--time-limit", fmt.Errorf("%v: want 0 (none) or more", *o.TimeLimit))
	}
	return errors.Join(errs...)
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

func checkBudget(d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("%v: want more than 0 for a case", d)
	}
	return nil
}
