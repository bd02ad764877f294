package notice

import "busbar/internal/units"

// Notices on published values: whether a bus bandwidth is normal for its hardware. docs/expect.md has the rules.

// Published compares a bus bandwidth with values that others published for the same shape. Where it is lower, the
// severity is warning.
type Published struct {
	Verdict PublishedVerdict `json:"verdict"`
	At      Value            `json:"at"`
	Lowest  units.Bandwidth  `json:"lowest"` // bytes per second, of the published values
	Highest units.Bandwidth  `json:"highest"`
	Sources int              `json:"sources"`
}

// PublishedVerdict is how a bandwidth compares with the published ones.
type PublishedVerdict string

// The verdicts.
const (
	BelowPublished  PublishedVerdict = "below"
	WithinPublished PublishedVerdict = "within"
	AbovePublished  PublishedVerdict = "above"
	NoReference     PublishedVerdict = "no-reference"
)

// PublishedVerdicts are the verdicts, the worst first.
var PublishedVerdicts = []PublishedVerdict{BelowPublished, WithinPublished, AbovePublished, NoReference}

func (v PublishedVerdict) String() string {
	if v == WithinPublished {
		return "normal"
	}
	return string(v) + " the published values"
}

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

var referenceGapAdvice = map[ReferenceGap]string{
	UnrecordedFabric: "name the network with --fabric",
	TooFewSources:    "add your own values with --reference",
}

func (g ReferenceGap) String() string { return TextOf(g) }

// Advice is for a value that is too low.
func (p Published) Advice() string {
	if p.Verdict != BelowPublished {
		return ""
	}
	return "check links, NICs and NCCL's settings (post log), and look for a slow node (rank --pattern)"
}

// Advice depends on what is missing.
func (n NoPublished) Advice() string { return referenceGapAdvice[n.Reason] }
