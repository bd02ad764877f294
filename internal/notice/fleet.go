package notice

// Notices on the nodes of a fleet. docs/compare.md has the rules. Ratios are of times.

// FleetReference is what a node is compared with.
type FleetReference string

// The references.
const (
	OtherNodes FleetReference = "fleet"
	OwnHistory FleetReference = "history"
)

var fleetReferenceTexts = map[FleetReference]string{OtherNodes: "the fleet", OwnHistory: "their own history"}

func (r FleetReference) String() string { return fleetReferenceTexts[r] }

// SlowNodes reports nodes that are slower than a reference.
type SlowNodes struct {
	Nodes   int            `json:"nodes"`
	Of      int            `json:"of"`
	Against FleetReference `json:"against"`
	Name    string         `json:"slowest"`
	Ratio   SideRatio      `json:"ratio"`
	Where   string         `json:"where"`
	Since   string         `json:"since"` // a date, or tonight
}

// NodesFailed reports points that failed on some nodes only.
type NodesFailed struct {
	Points int    `json:"points"`
	Names  Values `json:"nodes"`
}

// NodesMissing reports nodes that only the baseline has.
type NodesMissing struct {
	Names Values `json:"nodes"`
}

// NoFleetVerdict reports nodes that could not be compared with a reference.
type NoFleetVerdict struct {
	Nodes   int            `json:"nodes"`
	Of      int            `json:"of"`
	Against FleetReference `json:"against"`
}

// FleetBasis reports what verdicts are based on.
type FleetBasis struct {
	Alpha    Share `json:"alpha"`
	Tests    int   `json:"tests"`
	Nodes    int   `json:"nodes"`
	Nights   int   `json:"nights"`                   // in the baseline
	Borrowed int   `json:"baseline_nodes,omitempty"` // that complete the fleet
}

// UnnamedRuns reports runs without a host.
type UnnamedRuns struct {
	Runs int `json:"runs"`
}

// Code identifies the notice, as all methods below do.
func (SlowNodes) Code() Code      { return "nodes-slower" }
func (NodesFailed) Code() Code    { return "nodes-failed" }
func (NodesMissing) Code() Code   { return "nodes-missing" }
func (NoFleetVerdict) Code() Code { return "nodes-without-verdict" }
func (FleetBasis) Code() Code     { return "fleet-basis" }
func (UnnamedRuns) Code() Code    { return "runs-without-host" }
