package notice

import (
	"fmt"

	"busbar/internal/units"
)

// Notices on the comparison of contenders (backends, variants) over message sizes and world sizes. docs/comparison.md
// has the rules.

// FasterContender reports which of two contenders is faster, at which sizes.
type FasterContender struct {
	Operation string        `json:"operation"`
	World     World         `json:"world"`
	Leads     []Lead        `json:"leads"`
	Same      []units.Bytes `json:"same_sizes,omitempty"` // without a significant difference
	Scope     Scope         `json:"scope"`
}

// SameSpeed reports that two contenders do not differ significantly.
type SameSpeed struct {
	Operation string        `json:"operation"`
	World     World         `json:"world"`
	First     string        `json:"first"`
	Second    string        `json:"second"`
	Sizes     []units.Bytes `json:"sizes"`
	Scope     Scope         `json:"scope"`
}

// Lead is where one contender is faster than the other.
type Lead struct {
	Who   string        `json:"who"`
	Than  string        `json:"than"`
	Sizes []units.Bytes `json:"sizes"`
	All   bool          `json:"all,omitempty"` // of several that were measured
	Min   SizeRatio     `json:"min"`
	Max   SizeRatio     `json:"max"`
}

// SizeRatio is a ratio of times at one size.
type SizeRatio struct {
	At       units.Bytes  `json:"at_bytes"`
	Factor   units.Factor `json:"factor"`
	Interval Interval     `json:"interval"`
}

func (r SizeRatio) span() string {
	return units.Times(r.Interval.Lo) + " to " + units.Times(r.Interval.Hi)
}

func (l Lead) String() string {
	at := "all sizes"
	if !l.All {
		at = Word(l.Sizes)
	}
	if l.Min.Factor.String() == l.Max.Factor.String() {
		return fmt.Sprintf("%s is %v times as fast as %s at %s (95 %% CI %s)", l.Who, l.Max.Factor, l.Than, at,
			l.Max.span())
	}
	return fmt.Sprintf("%s is %v to %v times as fast as %s at %s (95 %% CI %s at %v, %s at %v)", l.Who,
		l.Min.Factor, l.Max.Factor, l.Than, at, l.Min.span(), l.Min.At, l.Max.span(), l.Max.At)
}

// Scope is which launches a comparison holds for.
type Scope string

// The scopes.
const (
	AllLaunches   Scope = "all-launches"
	SomeLaunches  Scope = "some-launches"
	OneLaunch     Scope = "one-launch"
	OneLaunchEach Scope = "one-launch-each"
)

func (s Scope) String() string { return TextOf(s) }
