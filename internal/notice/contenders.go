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
	Least SizeRatio     `json:"least"`
	Most  SizeRatio     `json:"most"`
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
		at = word(l.Sizes)
	}
	if l.Least.Factor.String() == l.Most.Factor.String() {
		return fmt.Sprintf("%s is %v times as fast as %s at %s (95 %% CI %s)", l.Who, l.Most.Factor, l.Than, at, l.Most.span())
	}
	return fmt.Sprintf("%s is %v (%v; 95 %% CI %s) to %v times (%v; %s) as fast as %s at %s", l.Who,
		l.Least.Factor, l.Least.At, l.Least.span(), l.Most.Factor, l.Most.At, l.Most.span(), l.Than, at)
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

var scopeTexts = map[Scope]string{
	AllLaunches:   "over launches",
	SomeLaunches:  "over launches; some sizes in one launch alone",
	OneLaunch:     "in one launch",
	OneLaunchEach: "in one launch of each",
}

func (s Scope) String() string { return scopeTexts[s] }

// TimeRatio is the ratio of two contenders' times at one size.
type TimeRatio struct {
	World    World        `json:"world"`
	At       units.Bytes  `json:"at_bytes"`
	Slower   string       `json:"slower"`
	Faster   string       `json:"faster"`
	Factor   units.Factor `json:"factor"` // at least 1
	Interval Interval     `json:"interval"`
	Verdict  RatioVerdict `json:"verdict,omitempty"`
}

// RatioVerdict is what a ratio shows; "" is a significant difference.
type RatioVerdict string

// The verdicts.
const (
	NotSignificant RatioVerdict = "not-significant"
	TooFewLaunches RatioVerdict = "too-few-launches"
)

var ratioTexts = map[RatioVerdict]string{
	NotSignificant: "no significant difference",
	TooFewLaunches: "inconclusive for other launches",
}

func (r RatioVerdict) String() string { return ratioTexts[r] }

// Saturation reports where the bus bandwidth of a contender has its maximum.
type Saturation struct {
	Who      string          `json:"who"`
	World    World           `json:"world"`
	BusBW    units.Bandwidth `json:"busbw"`
	At       units.Bytes     `json:"at_bytes"`
	From     units.Bytes     `json:"from_bytes,omitempty"` // from where on it stays within 10 % of it
	Last     units.Bytes     `json:"last_bytes,omitempty"` // the largest size, where it is lower again
	Share    units.Factor    `json:"share,omitempty"`      // of the maximum, there
	Interval Interval        `json:"interval,omitzero"`
	Verdict  Saturates       `json:"verdict,omitempty"`
}

// Saturates is what is known beyond that; "" where that is all.
type Saturates string

// The verdicts.
const (
	StillRising  Saturates = "still-rising"
	Inconclusive Saturates = "inconclusive"
)

var saturatesTexts = map[Saturates]string{
	StillRising:  "still rising at the largest size",
	Inconclusive: "inconclusive whether it drops",
}

func (s Saturates) String() string { return saturatesTexts[s] }

// TimeGrowth reports how the time of a contender grows with the message size.
type TimeGrowth struct {
	Who      string       `json:"who"`
	World    World        `json:"world"`
	From     units.Bytes  `json:"from_bytes"`
	To       units.Bytes  `json:"to_bytes"`
	Data     units.Factor `json:"data_factor"`
	Factor   units.Factor `json:"factor"`
	Interval Interval     `json:"interval"`
	Slope    Slope        `json:"slope"`
}

// Slope is the exponent of a power law.
type Slope struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo,omitempty"`
	Hi    float64 `json:"hi,omitempty"`
}

func (s Slope) String() string {
	if s.Hi == 0 && s.Lo == 0 {
		return fmt.Sprintf("%.2f", s.Value)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", s.Value, s.Lo, s.Hi)
}

// WorldGrowth reports how the time of a contender grows with the world size.
type WorldGrowth struct {
	Who      string       `json:"who"`
	At       units.Bytes  `json:"at_bytes"`
	Smaller  World        `json:"smaller"`
	Larger   World        `json:"larger"`
	Factor   units.Factor `json:"factor"`
	Interval Interval     `json:"interval"`
	Equal    units.Factor `json:"equal_busbw_factor,omitempty"` // with the same bus bandwidth
}

// NotCompared reports contenders that are not compared.
type NotCompared struct {
	Contenders []string   `json:"contenders"`
	World      World      `json:"world,omitzero"`
	Cause      Kept       `json:"cause,omitzero"`
	Lack       NoPartners `json:"lack,omitempty"`
}

// NoPartners is what is missing for a comparison.
type NoPartners string

// The causes.
const (
	OneContender  NoPartners = "one-contender"
	NoSharedPoint NoPartners = "no-shared-point"
)

var noPartnersTexts = map[NoPartners]string{
	OneContender:  "no other contender has values",
	NoSharedPoint: "no condition in common (world, nodes, collective, type, size, mode, method)",
}

func (n NoPartners) String() string { return noPartnersTexts[n] }

// BackendMissing reports that no results of a backend were read.
type BackendMissing struct {
	Backend   string       `json:"backend"`
	Simulated LeftOutWords `json:"simulated,omitempty"` // some were read, and are left out
}

// LeftOutWords states that simulated results are left out.
type LeftOutWords bool

func (LeftOutWords) String() string {
	return "simulated results are left out; --include-simulated includes them"
}

// FewLaunches reports that a contender has too few launches for an interval over launches.
type FewLaunches struct {
	Who      string `json:"who"`
	Launches int    `json:"launches"`
	Needed   int    `json:"needed"`
}

// CrowdedWorlds reports worlds of a contender whose times show no speed.
type CrowdedWorlds struct {
	Who    string         `json:"who"`
	Worlds []CrowdedWorld `json:"worlds"`
}

// CrowdedWorld is a world whose ranks share cores or a GPU.
type CrowdedWorld struct {
	World World `json:"world"`
	Cause Kept  `json:"cause"`
}

func (w CrowdedWorld) String() string { return w.World.String() + " (" + w.Cause.String() + ")" }

// PointWithoutValue reports a point that was not measured.
type PointWithoutValue struct {
	Who    string   `json:"who"`
	Worlds []string `json:"worlds"` // numbers of ranks
	Point  string   `json:"point"`
	Status string   `json:"status"`
	Reason string   `json:"reason,omitempty"`
}

// MorePoints counts points without a value that are not listed.
type MorePoints struct {
	Points int `json:"points"`
}

// Code identifies the notice, as all methods below do.
func (FasterContender) Code() Code   { return "faster-contender" }
func (SameSpeed) Code() Code         { return "same-speed" }
func (TimeRatio) Code() Code         { return "time-ratio" }
func (Saturation) Code() Code        { return "saturation" }
func (TimeGrowth) Code() Code        { return "time-growth" }
func (WorldGrowth) Code() Code       { return "world-growth" }
func (NotCompared) Code() Code       { return "not-compared" }
func (BackendMissing) Code() Code    { return "backend-missing" }
func (FewLaunches) Code() Code       { return "few-launches" }
func (CrowdedWorlds) Code() Code     { return "crowded-worlds" }
func (MorePoints) Code() Code        { return "more-points" }
func (PointWithoutValue) Code() Code { return "point-without-value" }

const comparisonSource = "docs/comparison.md"

var (
	exampleSizes = []units.Bytes{1 << 20, 64 << 20}
	exampleRatio = Interval{Lo: 1.48, Hi: 1.53, Launches: 6, Paired: true}
)

var contenders = []Entry{
	{
		Example: FasterContender{"all_reduce", World{4, 1}, []Lead{{"nccl", "gloo", exampleSizes, false,
			SizeRatio{1 << 20, 1.5, exampleRatio}, SizeRatio{64 << 20, 2, exampleRatio}}},
			[]units.Bytes{4 << 10}, AllLaunches},
		Severity: Info, Source: comparisonSource,
		Text: "{Operation} with {World}, {Scope}: {Leads}[; no significant difference at {Same}]",
		Doc:  "Two contenders are compared in the largest world that both have, size by size.",
	},
	{
		Example:  SameSpeed{"all_reduce", World{4, 1}, "gloo", "mpi", exampleSizes, OneLaunch},
		Severity: Info, Source: comparisonSource,
		Text: "{Operation} with {World}, {Scope}: no significant difference between {First} and {Second} at {Sizes}",
		Doc:  "The 95 % CI of the ratio of times includes 1 at all sizes.",
	},
	{
		Example:  TimeRatio{World{4, 1}, 1 << 20, "gloo", "nccl", 1.5, exampleRatio, NotSignificant},
		Severity: Info, Source: comparisonSource,
		Text: "{World}, {At}: {Slower} takes {Factor} times as long as {Faster} ({Interval})[; {Verdict}]",
		Doc:  "The ratio of the median times of two contenders under equal conditions.",
	},
	{
		Example: Saturation{"nccl", World{4, 1}, 180e9, 256 << 20, 64 << 20, 1 << 30, 0.7, exampleRatio,
			Inconclusive},
		Severity: Info, Source: comparisonSource,
		Text: `{Who} with {World}: maximum bus bandwidth {BusBW} at {At}[, saturated from {From} on][, {Share} of it at
			{Last}[ ({Interval})]][; {Verdict}]`,
		Doc: "Bus bandwidth is saturated from the size on from which it stays within 10 % of its maximum.",
	},
	{
		Example: TimeGrowth{"nccl", World{4, 1}, 1 << 20, 1 << 30, 1024, 900, exampleRatio,
			Slope{0.98, 0.97, 0.99}},
		Severity: Info, Source: comparisonSource,
		Text: `{Who} with {World}: time grows {Factor} times ({Interval}) from {From} to {To}, {Data} times the data; the
			exponent is {Slope}, 1 is proportional`,
		Doc: "Compares the smallest and the largest size with values.",
	},
	{
		Example:  WorldGrowth{"nccl", 1 << 20, World{2, 1}, World{4, 1}, 1.6, exampleRatio, 1.5},
		Severity: Info, Source: comparisonSource,
		Text: `{Who}, {At}: {Larger} take {Factor} times as long as {Smaller} ({Interval})[; {Equal} times with equal bus
			bandwidth]`,
		Doc: "Compares the smallest world of a contender with a larger one, at one size.",
	},
	{
		Example:  NotCompared{[]string{"gloo", "nccl"}, World{4, 1}, Kept{SharedGPU{}}, NoSharedPoint},
		Severity: Info, Source: comparisonSource,
		Text: "no comparison of {Contenders}[ with {World}][: {Cause}][: {Lack}]",
		Doc:  "Times are compared under equal conditions only, and not where ranks share cores or a GPU.",
	},
	{Example: BackendMissing{"nccl", true}, Severity: Info, Source: comparisonSource,
		Text: "no results of {Backend} in the files read[; {Simulated}]",
		Doc:  "The comparison expects results of Gloo and NCCL."},
	{Example: FewLaunches{"gloo", 3, 6}, Severity: Info, Source: comparisonSource,
		Text: "{Who}: {Launches launch}; a 95 % CI over launches needs {Needed}",
		Doc: `With fewer launches the variation between them is known as a minimum and maximum only; with one launch
			it is unknown, and results hold for that launch.`},
	{Example: CrowdedWorlds{"gloo", []CrowdedWorld{{World{4, 1}, Kept{SharedGPU{}}}}}, Severity: Info,
		Source: comparisonSource,
		Text:   "{Who}: no speed is derived from {Worlds}",
		Doc:    "The times of these worlds show waiting for a core or a GPU."},
	{Example: PointWithoutValue{"gloo", []string{"2", "4"}, "all_reduce, 1 GiB", "failed", "timeout"},
		Severity: Info,
		Text:     "{Who}, ranks: {Worlds}; {Point}: {Status}[: {Reason}]",
		Doc:      "Points without a value, with their status and reason."},
	{Example: MorePoints{30}, Severity: Info, Text: "{Points more point} without a value, listed in full_results.md",
		Doc: "The first such points are listed one by one."},
}
