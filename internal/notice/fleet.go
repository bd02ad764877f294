package notice

// Notices on the nodes of a fleet. docs/compare.md has the rules. Ratios are of times.

// FleetVerdict is how a node compares.
type FleetVerdict string

// The verdicts.
const (
	FailedTonight    FleetVerdict = "failed"
	BelowFleet       FleetVerdict = "below"
	SlowerThanBefore FleetVerdict = "slower"
	MissingTonight   FleetVerdict = "missing"
	WithinFleet      FleetVerdict = "within"
	WithoutVerdict   FleetVerdict = "without-verdict"
)

// FleetVerdicts has the worst first.
var FleetVerdicts = []FleetVerdict{FailedTonight, BelowFleet, SlowerThanBefore, MissingTonight, WithinFleet,
	WithoutVerdict}

func (v FleetVerdict) String() string { return TextOf(v) }

// FleetNodes reports the nodes with a verdict. Of those within the fleet, the severity is info.
type FleetNodes struct {
	Nodes   int          `json:"nodes"`
	Of      int          `json:"of"`
	Verdict FleetVerdict `json:"verdict"`
	Name    string       `json:"worst"`
	Ratio   SideRatio    `json:"ratio,omitempty"`
	Where   string       `json:"where"`
	Since   string       `json:"since,omitempty"` // a date, or tonight
}

// FleetSlower reports that the median of the fleet is slower than in earlier nights.
type FleetSlower struct {
	Ratio SideRatio `json:"ratio"`
	Where string    `json:"where"`
	Since string    `json:"since"` // a date, or tonight
}

// FleetBasis reports what verdicts are based on.
type FleetBasis struct {
	Alpha  Share `json:"alpha"`
	Tests  int   `json:"tests"`
	Nights int   `json:"nights"` // in the baseline
}
