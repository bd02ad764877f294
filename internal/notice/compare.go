package notice

import (
	"fmt"
	"strings"

	"busbar/internal/units"
)

// Notices on the comparison of launches. docs/compare.md has the verdicts and their formulas. A letter names a side;
// ratios are of times.

// SideRatio is a ratio near 1, with three decimals.
type SideRatio float64

func (r SideRatio) String() string {
	if r >= 0.0995 && r < 9.9995 {
		return fmt.Sprintf("%.3f", float64(r))
	}
	return units.Times(float64(r))
}

// Share is a share as a user wrote it: "5 %".
type Share float64

func (p Share) String() string { return fmt.Sprintf("%.3g %%", 100*float64(p)) }

// Held is what has times of both sides: a launch, or a block of a campaign.
type Held string

// Regression reports points that take longer.
type Regression struct {
	Points int       `json:"points"`
	Of     int       `json:"of"`
	Ratio  SideRatio `json:"largest_ratio"`
	Where  string    `json:"where"` // the point of that ratio
}

// Speedup reports points that take less time.
type Speedup struct {
	Points int       `json:"points"`
	Of     int       `json:"of"`
	Ratio  SideRatio `json:"smallest_ratio"`
	Where  string    `json:"where"`
}

// InconclusivePoints reports points without a verdict.
type InconclusivePoints struct {
	Points int `json:"points"`
	Of     int `json:"of"`
	// of each side, for the point that needs most of those that have a number
	More int `json:"more_launches,omitempty"`
	Many int `json:"many,omitempty"` // points that need more than 100 launches
}

// LaunchesMissing reports points without launches enough for a verdict.
type LaunchesMissing struct {
	Points  int      `json:"points"`
	Have    []Having `json:"have"`
	Needed  int      `json:"needed"`
	What    Repeats  `json:"what"`
	Extreme bool     `json:"bounds_are_extremes,omitempty"`
}

// Having is the number of launches of a side.
type Having struct {
	Side     string `json:"side"`
	Launches int    `json:"launches"`
}

func (h Having) String() string { return h.Side + " has " + units.Count(h.Launches, "launch") }

// Repeats is what a verdict takes several of.
type Repeats string

// The repeats.
const (
	LaunchesPerSide Repeats = "launches-per-side"
	PairsOfLaunches Repeats = "pairs-of-launches"
)

func (r Repeats) String() string { return TextOf(r) }

// VerdictBasis reports what p and the intervals are computed from.
type VerdictBasis struct {
	Points     int         `json:"points"`
	Ways       Assignments `json:"assignments"`
	Alpha      Share       `json:"alpha"`
	Confidence Share       `json:"confidence"`
}

// Assignments are the ways to assign launches to sides that were tried.
type Assignments struct {
	N      int    `json:"n"`
	Drawn  bool   `json:"drawn,omitempty"` // not all of them
	Seed   uint64 `json:"seed,omitempty"`
	Paired bool   `json:"paired,omitempty"`
}

func (a Assignments) String() string {
	what := "assignments of the launches to the sides"
	if a.Paired {
		what = "swaps of the sides within pairs"
	}
	if a.Drawn {
		return fmt.Sprintf("%d %s (drawn with seed %d)", a.N, what, a.Seed)
	}
	return fmt.Sprintf("all %d %s", a.N, what)
}

// LimitExceeded reports a point that is slower than --fail-above allows.
type LimitExceeded struct {
	Limit Share `json:"limit"`
}

// LimitChecked reports what --fail-above found.
type LimitChecked struct {
	Worse        int `json:"worse"`            // points over the limit
	Failed       int `json:"failed,omitempty"` // points that fail more often than on the first side
	Inconclusive int `json:"inconclusive,omitempty"`
	Missing      int `json:"missing,omitempty"` // points that only the first side has
}

// Outcome is how the statuses of a point differ between the sides.
type Outcome string

// The outcomes.
const (
	FailsNow     Outcome = "fails"         // on the second side, in a launch at least, and never on the first
	WorksNow     Outcome = "works"         // the reverse
	NotMeasured  Outcome = "not-measured"  // the second side has no time, and nothing failed
	MeasuredNow  Outcome = "measured"      // the reverse
	FailsInBoth  Outcome = "fails-in-both" // in some launches of either
	PartlyFailed Outcome = "fails-more"    // in both, in a larger share of the second side's launches
)

func (o Outcome) String() string { return strings.ReplaceAll(string(o), "-", " ") }

// Severity of an outcome.
func (o Outcome) Severity() Severity {
	switch o {
	case FailsNow, PartlyFailed:
		return Error
	case FailsInBoth, NotMeasured:
		return Warning
	}
	return Info
}

// StatusCount is in how many launches a point had a status.
type StatusCount struct {
	Status   string `json:"status"`
	Launches int    `json:"launches"`
}

func (c StatusCount) String() string { return c.Status + " in " + units.Count(c.Launches, "launch") }

// Result is what a point's launches gave, with the first reason.
type Result struct {
	Launches []StatusCount `json:"launches"`
	Cause    Kept          `json:"cause,omitzero"`
	Reason   string        `json:"reason,omitempty"` // the text of Cause
}

func (r Result) String() string {
	text := Word(r.Launches)
	if r.Cause.Fact != nil {
		text += " (" + r.Cause.String() + ")"
	}
	return text
}

// OutcomeDiffers reports points that did not have a time in all launches of both sides.
type OutcomeDiffers struct {
	Outcome Outcome  `json:"outcome"`
	Of      string   `json:"of"` // the table
	Points  []string `json:"points"`
	First   string   `json:"first"`
	Before  Result   `json:"before"`
	Second  string   `json:"second"`
	After   Result   `json:"after"`
}

// MissingPoints reports points that one side alone has.
type MissingPoints struct {
	OnlyIn string   `json:"only_in"`
	Of     string   `json:"of"`
	Points []string `json:"points"`
}

// Values are those of one property on one side.
type Values []string

// String lists up to three values; long ones are cut.
func (all Values) String() string {
	var words []string
	for _, v := range all[:min(len(all), 3)] {
		v = strings.Join(strings.Fields(v), " ")
		if r := []rune(v); len(r) > 60 {
			v = string(r[:59]) + "…"
		}
		words = append(words, v)
	}
	if n := len(all) - len(words); n > 0 {
		words = append(words, fmt.Sprintf("%d more", n))
	}
	if words == nil {
		return "-"
	}
	return strings.Join(words, ", ")
}

// SidesDiffer reports a property of the runs that is not the same on both sides.
type SidesDiffer struct {
	Property string `json:"property"`
	A        Values `json:"a"`
	B        Values `json:"b"`
}

// LaunchOrder reports sides that did not take turns.
type LaunchOrder struct {
	Earlier string `json:"earlier"`
	Later   string `json:"later"`
}

// NotComparable reports a side without points of a kind that the other sides have.
type NotComparable struct {
	Side string `json:"side"`
	Kind string `json:"kind"`
}

// NoPair reports a point that has times of both sides in no launch or block.
type NoPair struct {
	Held Held `json:"held"`
}

// SameRuns reports sides that are the same runs, perhaps in copies.
type SameRuns struct {
	Runs int `json:"runs"`
}

// SimulatedSides reports sides of the simulation.
type SimulatedSides struct {
	Simulated []string `json:"simulated"`
}
