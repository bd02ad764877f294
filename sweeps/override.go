package sweeps

import (
	"maps"
	"time"

	"busbar/internal/coll"
)

// Overrides holds the values of flags. A nil pointer or an empty list is a flag that is not set. It has many fields
// because each is one flag.
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
	Imbalances  []coll.Imbalance
	Groups      []coll.Division
	Matrix      string // file of --imbalance, which rank 0 reads; "" without one
	Worlds      []int  // ranks
	Fit         bool

	Precision  *float64 // relative: 0.02
	Budget     *time.Duration
	Iterations *int
	Warmup     *int
	Check      *int
	Aggregate  *int
	TimeLimit  *time.Duration
}

// With returns a copy of the sweep with the flags applied to every part. Each flag is in its range; With returns an
// error for sizes that exclude each other or form no range.
func (s *Sweep) With(o Overrides) (*Sweep, error) {
	c := *s
	c.Fit = o.Fit
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
		replace(&part.Imbalances, o.Imbalances, part.origins, "imbalance", "--imbalance")
		replace(&part.Groups, o.Groups, part.origins, "groups", "--groups")
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
