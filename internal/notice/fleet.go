package notice

import "slices"

// Notices on the nodes of a fleet. docs/compare.md has the rules. Ratios are of times.

// FleetVerdict is how a node compares.
type FleetVerdict string

// The verdicts.
const (
	FailedTonight    FleetVerdict = "failed"
	BelowFleet       FleetVerdict = "below"
	SlowerThanBefore FleetVerdict = "slower"
	WithinFleet      FleetVerdict = "within"
	NoFleetVerdict   FleetVerdict = "no-verdict"
)

// FleetVerdicts are the verdicts, the worst first.
var FleetVerdicts = []FleetVerdict{FailedTonight, BelowFleet, SlowerThanBefore, WithinFleet, NoFleetVerdict}

var fleetVerdictTexts = []string{"failed points that other nodes measured", "slower than the fleet",
	"slower than in earlier nights", "within the fleet", "without a verdict"}

// Rank is 0 for the worst.
func (v FleetVerdict) Rank() int { return slices.Index(FleetVerdicts, v) }

func (v FleetVerdict) String() string { return fleetVerdictTexts[v.Rank()] }

// FleetNodes reports nodes with a verdict. Where it is failed, the severity is error.
type FleetNodes struct {
	Nodes   int          `json:"nodes"`
	Of      int          `json:"of"`
	Verdict FleetVerdict `json:"verdict"`
	Name    string       `json:"worst"`
	Ratio   SideRatio    `json:"ratio,omitempty"`
	Where   string       `json:"where"`
	Since   string       `json:"since,omitempty"` // a date, or tonight
}

// FleetBasis reports what verdicts are based on.
type FleetBasis struct {
	Alpha  Share `json:"alpha"`
	Tests  int   `json:"tests"`
	Nights int   `json:"nights"` // in the baseline
}

// Code identifies the notice, as all methods below do.
func (FleetNodes) Code() Code { return "fleet-nodes" }
func (FleetBasis) Code() Code { return "fleet-basis" }
