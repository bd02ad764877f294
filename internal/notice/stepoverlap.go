package notice

import "busbar/internal/units"

// Notices on how the communication of training steps overlaps with computation. docs/step.md has the definitions.

// FewRounds is how many rounds there are, and how many a confidence interval needs at least; both are 0 where there are
// enough.
type FewRounds struct {
	Rounds int `json:"rounds,omitempty"`
	Needed int `json:"needed,omitempty"`
}

// ExposedCommunication reports how much longer a step takes than its computation.
type ExposedCommunication struct {
	Bucket  BucketSize   `json:"bucket"`
	Exposed TimeEstimate `json:"exposed"`
	Share   units.Share  `json:"share"` // of the step
	StepOverlap
}

// NoExposedCommunication reports that a step does not take significantly longer than its computation.
type NoExposedCommunication struct {
	Bucket  BucketSize   `json:"bucket"`
	Exposed TimeEstimate `json:"exposed"`
	StepOverlap
}

// StepOverlap is how much of the communication of a step overlaps with computation.
type StepOverlap struct {
	Comm         units.Seconds `json:"communication_alone_s"`
	Overlap      ShareEstimate `json:"overlap"` // by the wall clock
	OverlapNote  OverlapNote   `json:"overlap_note,omitempty"`
	ByIntervals  *units.Share  `json:"overlap_by_intervals,omitempty"`
	IntervalNote string        `json:"interval_note,omitempty"`
	Bound        *units.Share  `json:"overlap_bound,omitempty"`
	Disturbed    string        `json:"disturbed,omitempty"`
	FewRounds
}

// OverlapNote qualifies the overlap by the wall clock.
type OverlapNote string

// What there is to the overlap by the wall clock.
const (
	OverlapNotSignificant OverlapNote = "not-significant"
	OverlapNegative       OverlapNote = "negative"
)

func (n OverlapNote) String() string {
	if n == OverlapNegative {
		return "that is none: a step takes longer than computation plus communication"
	}
	return "not significant"
}

// UntilSeen is where an operation counts until a call of the library sees its end.
const UntilSeen = "until-seen"

// BeyondBound is an overlap above its maximum.
const BeyondBound = "beyond-bound"

// CommunicationNegligible reports a step in which next to no time is communication.
type CommunicationNegligible struct{}

// CommunicationLocal reports that no data goes to another rank.
type CommunicationLocal struct {
	Comm units.Seconds `json:"communication_alone_s"`
}

// StepInterference reports that computation or communication takes longer in overlapped steps than alone.
type StepInterference struct {
	Part   StepPart      `json:"part"`
	Longer ShareEstimate `json:"longer"`
	FewRounds
}

// StepPart is a part of a step.
type StepPart string

// The parts of a step.
const (
	Computation   StepPart = "computation"
	Communication StepPart = "communication"
)
