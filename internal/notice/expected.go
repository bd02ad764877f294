package notice

import "busbar/internal/units"

// Notices on published values: whether a bus bandwidth is normal for its hardware. docs/expect.md has the rules.

// Published is a bus bandwidth beside values that others published for the same shape.
type Published struct {
	At      Value           `json:"at"`
	Lowest  units.Bandwidth `json:"lowest"` // bytes per second, of the published values
	Highest units.Bandwidth `json:"highest"`
	Sources int             `json:"sources"`
}

// WithinPublished reports a bus bandwidth that is normal.
type WithinPublished struct{ Published }

// AbovePublished reports a bus bandwidth that exceeds all published values.
type AbovePublished struct{ Published }

// BelowPublished reports a bus bandwidth that is lower than all published values.
type BelowPublished struct{ Published }

// NoPublished reports why there is no verdict.
type NoPublished struct {
	Reason  ReferenceGap `json:"reason"`
	Of      string       `json:"of,omitempty"`      // the device, or the shape that lacks sources
	Sources int          `json:"sources,omitempty"` // the most of any size
}

// ReferenceGap is why a result has no reference.
type ReferenceGap string

// The gaps.
const (
	NoSpeedMeasured  ReferenceGap = "no-speed"
	UnnamedGPU       ReferenceGap = "unknown-gpu"
	UnrecordedNodes  ReferenceGap = "unknown-nodes"
	UnrecordedFabric ReferenceGap = "unknown-fabric"
	TooFewSources    ReferenceGap = "too-few-sources"
)

var referenceGapTexts = map[ReferenceGap]string{
	NoSpeedMeasured:  "the result does not show speed",
	UnnamedGPU:       "the GPU is not one with published values",
	UnrecordedNodes:  "number of nodes or ranks not recorded",
	UnrecordedFabric: "network between the nodes not recorded",
	TooFewSources:    "fewer than three sources",
}

var referenceGapAdvice = map[ReferenceGap]string{
	UnrecordedFabric: "name the network with --fabric",
	TooFewSources:    "add your own values with --reference",
}

func (g ReferenceGap) String() string { return referenceGapTexts[g] }

// Code identifies the notice, as all methods below do.
func (WithinPublished) Code() Code { return "within-published" }
func (AbovePublished) Code() Code  { return "above-published" }
func (BelowPublished) Code() Code  { return "below-published" }
func (NoPublished) Code() Code     { return "no-published-values" }

// Advice depends on what is missing.
func (n NoPublished) Advice() string { return referenceGapAdvice[n.Reason] }

// expectSource has the rules.
const expectSource = "docs/expect.md"

var published = Published{Value{8 << 30, 478.9e9, 0.0314}, 475.97e9, 480.16e9, 5}

var expected = []Entry{
	{Example: WithinPublished{published}, Severity: Info, Source: expectSource,
		Text: "{At}: normal; {Sources source} published {Lowest} to {Highest}",
		Doc: `The bus bandwidth at the largest size with three comparable sources is at most 15 % outside the range of
			the published values.`},
	{Example: AbovePublished{published}, Severity: Info, Source: expectSource,
		Text: "{At}: above the published values; {Sources source} published {Lowest} to {Highest}",
		Doc:  "The bus bandwidth exceeds the highest published value by more than 15 %."},
	{Example: BelowPublished{published}, Severity: Warning, Source: expectSource,
		Text:   "{At}: below the published values; {Sources source} published {Lowest} to {Highest}",
		Advice: "check links, NICs and NCCL's settings",
		How:    "post log shows the network that NCCL uses; rank --pattern finds a slow node.",
		Doc: "The bus bandwidth is more than 15 % below the lowest published value."},
	{Example: NoPublished{TooFewSources, "8 x H100, 4 nodes, EFA, all_gather", 2}, Severity: Info,
		Source: expectSource, Text: "no verdict: {Reason}[ ({Sources} at most)][: {Of}]",
		Doc: "A verdict needs three sources that measured the same shape; what is missing is stated."},
}
