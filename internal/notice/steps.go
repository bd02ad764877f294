package notice

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// Notices on training steps (rank --step). docs/step.md has the rules and the definitions of overlap.

// TimeEstimate is a time in seconds, or a difference of two, with its 95 % CI; both bounds are 0 where there is none.
type TimeEstimate struct {
	Value float64 `json:"value_s"`
	Lo    float64 `json:"ci_lo_s,omitempty"`
	Hi    float64 `json:"ci_hi_s,omitempty"`
}

func (e TimeEstimate) String() string { return estimate(e.Value, e.Lo, e.Hi, units.SignedDuration) }

// ShareEstimate is a part of a whole, 1 being all of it, with its 95 % CI; both bounds are 0 where there is none.
type ShareEstimate struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"ci_lo,omitempty"`
	Hi    float64 `json:"ci_hi,omitempty"`
}

func (e ShareEstimate) String() string {
	return estimate(e.Value, e.Lo, e.Hi, func(v float64) string { return units.Share(v).String() })
}

// FactorEstimate is a ratio with its 95 % CI; both bounds are 0 where there is none.
type FactorEstimate ShareEstimate

func (e FactorEstimate) String() string {
	return estimate(e.Value, e.Lo, e.Hi, func(v float64) string { return fmt.Sprintf("%.2f", v) })
}

func estimate(value, lo, hi float64, text func(float64) string) string {
	if hi <= lo {
		return text(value)
	}
	return fmt.Sprintf("%s (95 %% CI %s to %s)", text(value), text(lo), text(hi))
}

// FewRounds is how many rounds there are, and how many a confidence interval needs at least; both are 0 where there are
// enough.
type FewRounds struct {
	Rounds int `json:"rounds,omitempty"`
	Needed int `json:"needed,omitempty"`
}

const fewRounds = "[Too few rounds for a confidence interval: {Rounds} of at least {Needed}.]"

// NoBucketValues reports a group of which no point has values.
type NoBucketValues struct{}

// BestBucket reports which bucket size gives the fastest step, and how the others compare with it.
type BestBucket struct {
	Standing    BucketStanding `json:"standing"`
	Bucket      BucketSize     `json:"bucket"`
	Step        TimeEstimate   `json:"step"`
	Same        []BucketSize   `json:"same,omitempty"` // without a significant difference
	Slower      []SlowerBucket `json:"slower,omitempty"`
	TooFew      []BucketSize   `json:"too_few_rounds,omitempty"`
	Rounds      int            `json:"rounds,omitempty"` // of those with too few
	Needed      int            `json:"needed,omitempty"`
	NotCompared []BucketSize   `json:"not_compared,omitempty"`
}

// BucketStanding is how certain it is that a bucket size is the best.
type BucketStanding string

// How certain it is.
const (
	OnlyBucket     BucketStanding = "only"     // measured
	SameBuckets    BucketStanding = "same"     // no significant difference
	SmallestMedian BucketStanding = "smallest" // no other is known to be slower
	FastestBucket  BucketStanding = "best"
)

func (s BucketStanding) String() string {
	return map[BucketStanding]string{
		OnlyBucket:     "one bucket size was measured",
		SameBuckets:    "no significant difference between bucket sizes; smallest median",
		SmallestMedian: "bucket size with the smallest median",
		FastestBucket:  "best bucket size in this launch",
	}[s]
}

// SlowerBucket is a bucket size with which a step takes longer than with the best.
type SlowerBucket struct {
	Bucket BucketSize    `json:"bucket"`
	By     ShareEstimate `json:"by"`
}

func (s SlowerBucket) String() string { return fmt.Sprintf("%v by %v", s.Bucket, s.By) }

// BucketSize is a bucket size as rank's flags read it: "25M", "layer", "all". Its String is for people: "25 MiB".
type BucketSize string

func (b BucketSize) String() string {
	if n, err := coll.ParseSize(string(b)); err == nil {
		return units.Bytes(n).String()
	}
	return string(b)
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

// OverlapCosts reports a step that takes longer than computation and communication alone explain.
type OverlapCosts struct {
	Bucket  BucketSize   `json:"bucket"`
	Exposed TimeEstimate `json:"exposed"`
	Share   units.Share  `json:"share"`          // of the step
	Loss    OverlapLoss  `json:"loss,omitempty"` // where both one after the other are faster
	StepOverlap
}

// OverlapLoss is whether overlapping loses time.
type OverlapLoss string

// OverlapLoses is where computation and communication one after the other are faster than overlapped.
const OverlapLoses OverlapLoss = "slower-than-sequential"

func (OverlapLoss) String() string { return "Overlapping costs more than it hides" }

// StepOverlap is how much of the communication of a step overlaps with computation.
type StepOverlap struct {
	Comm         units.Seconds `json:"communication_alone_s"`
	Overlap      ShareEstimate `json:"overlap"` // by the wall clock
	OverlapNote  OverlapNote   `json:"overlap_note,omitempty"`
	ByIntervals  *units.Share  `json:"overlap_by_intervals,omitempty"`
	IntervalNote IntervalNote  `json:"interval_note,omitempty"`
	Bound        *units.Share  `json:"overlap_bound,omitempty"`
	BoundNote    BoundNote     `json:"bound_note,omitempty"`
	Disturbed    Disturbed     `json:"disturbed,omitempty"`
	FewRounds
}

var overlapDetails = []string{
	"Alone, communication takes {Comm}. Overlap by the wall clock: {Overlap}[, {OverlapNote}].",
	"[Overlap by intervals: {ByIntervals}[, {IntervalNote}].]",
	"[At most {Bound} can overlap[, since {BoundNote}].]",
	"[{Disturbed}.]",
	fewRounds,
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
		return "that is none: a step takes longer than both one after the other"
	}
	return "not significant"
}

// IntervalNote qualifies the overlap by intervals.
type IntervalNote string

// UntilSeen is where an operation counts until a call of the library sees its end.
const UntilSeen IntervalNote = "until-seen"

func (IntervalNote) String() string {
	return "where an operation counts until a library call sees its end"
}

// BoundNote is why not all communication can overlap.
type BoundNote string

// CommunicationLonger is where communication takes longer than computation.
const CommunicationLonger BoundNote = "communication-longer"

func (BoundNote) String() string { return "communication takes longer than computation" }

// Disturbed is whether the values contradict each other.
type Disturbed string

// BeyondBound is an overlap above its maximum.
const BeyondBound Disturbed = "beyond-bound"

func (Disturbed) String() string {
	return "The overlap exceeds this maximum: other work disturbed the measurement, so do not trust these values"
}

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
	Note   StepPartNote  `json:"note,omitempty"`
	FewRounds
}

// StepPart is a part of a step.
type StepPart string

// The parts of a step.
const (
	Computation   StepPart = "computation"
	Communication StepPart = "communication"
)

// StepPartNote qualifies the time of a part.
type StepPartNote string

// What there is to the time of a part.
const (
	ApartComputation     StepPartNote = "not-overlapped"            // other work
	ApartCommunication   StepPartNote = "not-overlapped-waiting"    // other work, or slower ranks
	PollingComputation   StepPartNote = "polling-included"          // in computation
	PollingCommunication StepPartNote = "waiting-for-the-next-poll" // in communication
)

func (n StepPartNote) String() string {
	return map[StepPartNote]string{
		ApartComputation:     "Both hardly overlap, so that other work is the likely cause",
		ApartCommunication:   "Both hardly overlap: it waits for ranks that compute longer, or other work disturbs it",
		PollingComputation:   "This includes the calls that poll",
		PollingCommunication: "Some of it is waiting for the next call of the library",
	}[n]
}

// StepSpeedup reports how much faster an overlapped step is.
type StepSpeedup struct {
	Speedup    FactorEstimate `json:"speedup"`
	Efficiency units.Share    `json:"efficiency"` // of weak scaling
	FewRounds
}

// NoStepSpeedup reports that overlapping makes no significant difference.
type NoStepSpeedup struct {
	Speedup    FactorEstimate `json:"speedup"`
	Efficiency units.Share    `json:"efficiency"` // of weak scaling
}

// HostProgress reports whether communication progresses without library calls.
type HostProgress struct {
	Point      string             `json:"point"`
	NoCalls    ShareEstimate      `json:"overlap_without_calls"`
	Polling    ShareEstimate      `json:"overlap_with_polling"`
	Conclusion ProgressConclusion `json:"conclusion,omitempty"` // empty with too few rounds
	FewRounds
}

// HostProgressUnpolled is HostProgress where polling was not measured.
type HostProgressUnpolled struct {
	Point   string        `json:"point"`
	NoCalls ShareEstimate `json:"overlap_without_calls"`
	FewRounds
}

// ProgressConclusion is whether communication progresses without library calls.
type ProgressConclusion string

// The conclusions.
const (
	ProgressNever       ProgressConclusion = "none"
	ProgressInCalls     ProgressConclusion = "in-calls"
	ProgressPartly      ProgressConclusion = "partly"
	ProgressMoreInCalls ProgressConclusion = "more-in-calls"
	PollingCostsUnclear ProgressConclusion = "polling-costs-unclear"
	PollingCosts        ProgressConclusion = "polling-costs"
	ProgressAlways      ProgressConclusion = "always"
	ProgressUnclear     ProgressConclusion = "unclear"
)

func (c ProgressConclusion) String() string {
	return map[ProgressConclusion]string{
		ProgressNever:       "communication does not progress during computation in either way",
		ProgressInCalls:     "communication progresses only inside library calls",
		ProgressPartly:      "part of the communication progresses by itself, more with library calls",
		ProgressMoreInCalls: "more progresses with library calls; whether any progresses by itself is inconclusive",
		PollingCostsUnclear: "polling costs more than it gains; whether any progresses by itself is inconclusive",
		PollingCosts:        "communication progresses by itself; polling costs more than it gains",
		ProgressAlways:      "communication progresses by itself",
		ProgressUnclear:     "whether communication progresses by itself is inconclusive",
	}[c]
}

// StepVariant compares the best points of two groups that differ by one choice.
type StepVariant struct {
	Choice     string        `json:"choice"` // "fsdp"
	Than       string        `json:"instead_of"`
	Shared     []string      `json:"shared,omitempty"`
	Step       units.Seconds `json:"step_s"`
	Bucket     BucketSize    `json:"bucket"`
	BaseStep   units.Seconds `json:"base_step_s"`
	BaseBucket BucketSize    `json:"base_bucket"`
	Change     ShareEstimate `json:"change"` // below 0: a step takes less time
	Note       VariantNote   `json:"note,omitempty"`
}

// VariantNote qualifies a difference.
type VariantNote string

// What there is to a difference.
const (
	VariantNotSignificant VariantNote = "not-significant"
	VariantTooFewRounds   VariantNote = "too-few-rounds"
)

func (n VariantNote) String() string {
	if n == VariantTooFewRounds {
		return "with too few rounds for a verdict"
	}
	return "not significant"
}

// GroupsInSequence reports how the groups of a StepVariant were measured.
type GroupsInSequence struct{}

// StepComputation reports the time that computation was to take, and took.
type StepComputation struct {
	Asked units.Seconds `json:"asked_s"`
	Least units.Seconds `json:"min_s"`
	Most  units.Seconds `json:"max_s,omitempty"` // 0: the same
	By    string        `json:"by"`
}

// StepPointsMissing reports planned points without values, or without all rounds.
type StepPointsMissing struct {
	Planned    int          `json:"planned"`
	Counts     []PointCount `json:"counts"`
	Wrong      int          `json:"wrong,omitempty"`
	Unfinished int          `json:"unfinished,omitempty"`
	Elsewhere  Elsewhere    `json:"elsewhere,omitempty"` // the run continues one that was not read
}

// PointCount is how many points have a status.
type PointCount struct {
	Status string `json:"status"`
	Points int    `json:"points"`
}

func (c PointCount) String() string { return fmt.Sprintf("%d %s", c.Points, c.Status) }

// Elsewhere is where points that are not here may be.
type Elsewhere string

// InContinuedRun is a run that this one continues.
const InContinuedRun Elsewhere = "continued-run"

func (Elsewhere) String() string {
	return "The run that this one continues was not read, and may have some of them"
}

func (NoBucketValues) Code() Code          { return "no-bucket-values" }
func (BestBucket) Code() Code              { return "best-bucket" }
func (ExposedCommunication) Code() Code    { return "exposed-communication" }
func (NoExposedCommunication) Code() Code  { return "no-exposed-communication" }
func (OverlapCosts) Code() Code            { return "overlap-costs" }
func (CommunicationNegligible) Code() Code { return "communication-negligible" }
func (CommunicationLocal) Code() Code      { return "communication-local" }
func (StepInterference) Code() Code        { return "step-interference" }
func (StepSpeedup) Code() Code             { return "step-speedup" }
func (NoStepSpeedup) Code() Code           { return "no-step-speedup" }
func (HostProgress) Code() Code            { return "host-progress" }
func (HostProgressUnpolled) Code() Code    { return "host-progress-unpolled" }
func (StepVariant) Code() Code             { return "step-variant" }
func (GroupsInSequence) Code() Code        { return "groups-in-sequence" }
func (StepComputation) Code() Code         { return "step-computation" }
func (StepPointsMissing) Code() Code       { return "step-points-missing" }

const stepsSource = "docs/step.md"

var (
	exampleShare   = units.Share(0.6)
	exampleBound   = units.Share(0.8)
	exampleOverlap = StepOverlap{
		Comm: 30e-3, Overlap: ShareEstimate{0.5, 0.45, 0.55}, ByIntervals: &exampleShare, Bound: &exampleBound,
		BoundNote: CommunicationLonger,
	}
	exampleExposed = TimeEstimate{15e-3, 14e-3, 16e-3}
)

// steps are the entries of this file.
var steps = []Entry{
	{Example: NoBucketValues{}, Severity: Warning, Source: stepsSource,
		Text: "no bucket size has values",
		Doc:  "All points of this group failed, were skipped, or were not reached."},
	{
		Example: BestBucket{
			FastestBucket, "25M", TimeEstimate{0.115, 0.114, 0.116}, []BucketSize{"50M"},
			[]SlowerBucket{{"1M", ShareEstimate{0.2, 0.18, 0.22}}}, []BucketSize{"all"}, 5, 9, []BucketSize{"100M"},
		},
		Severity: Info, Source: stepsSource,
		Text: "{Standing}: {Bucket}, {Step} per step",
		Details: []string{
			"[No significant difference from {Same}.]",
			"[Slower: {Slower}.]",
			"[Too few rounds to compare it with {TooFew}: {Rounds} of at least {Needed}. Raise --budget or -n.]",
			"[Not compared, because no launch has rounds of both: {NotCompared}.]",
		},
		Doc: `The best bucket size has the smallest median of overlapped steps. The others are compared with it round by
			round, with intervals of 95 % over all pairs of the group. Another launch may have another best one.`,
	},
	{
		Example:  ExposedCommunication{"25M", exampleExposed, 0.13, exampleOverlap},
		Severity: Info, Source: stepsSource,
		Text:    "with bucket size {Bucket}, {Exposed} of communication is exposed, {Share} of the step",
		Details: overlapDetails,
		Doc:     `Exposed communication is the time of an overlapped step minus that of its computation alone.`,
	},
	{
		Example:  NoExposedCommunication{"25M", TimeEstimate{1e-4, -1e-4, 3e-4}, exampleOverlap},
		Severity: Info, Source: stepsSource,
		Text:    "with bucket size {Bucket}, no exposed communication is significant: {Exposed}",
		Details: overlapDetails,
		Doc:     "The confidence interval of exposed communication includes 0.",
	},
	{
		Example: OverlapCosts{"25M", TimeEstimate{40e-3, 38e-3, 42e-3}, 0.29, OverlapLoses, StepOverlap{
			Comm: 30e-3, Overlap: ShareEstimate{-0.33, -0.4, -0.25}, OverlapNote: OverlapNegative,
		}},
		Severity: Info, Source: stepsSource,
		Text: `with bucket size {Bucket}, a step takes {Exposed} longer than its computation, {Share} of the step, and more
			than communication takes alone`,
		Details: append([]string{"[{Loss}.]"}, overlapDetails...),
		Doc:     `The step takes longer than its computation and its communication one after the other.`,
	},
	{Example: CommunicationNegligible{}, Severity: Info, Source: stepsSource,
		Text: "communication takes less than 0.1 % of a step, so that none can be exposed",
		Doc:  "A world of one rank, or a model with hardly any gradients."},
	{Example: CommunicationLocal{2e-3}, Severity: Info, Source: stepsSource,
		Text: "no data goes to another rank, so that none can be exposed; the calls of communication take {Comm}",
		Doc:  "A world of one rank calls the library and sends nothing."},
	{
		Example:  StepInterference{Communication, ShareEstimate{0.3, 0.2, 0.4}, PollingCommunication, FewRounds{}},
		Severity: Warning, Source: stepsSource,
		Text:    "{Part} takes {Longer} longer in overlapped steps than alone",
		Details: []string{"[{Note}.]", fewRounds},
		Doc: `Computation and communication share memory bandwidth, cores or the processors of a GPU. Reported above 5 %;
			for information with too few rounds.`,
	},
	{
		Example:  StepSpeedup{FactorEstimate{1.13, 1.12, 1.14}, 0.87, FewRounds{}},
		Severity: Info, Source: stepsSource,
		Text:    "an overlapped step is {Speedup} times as fast as computation and communication one after the other",
		Details: []string{"Efficiency of weak scaling: {Efficiency}.", fewRounds},
		Doc:     "Efficiency of weak scaling is the time of computation alone divided by that of an overlapped step.",
	},
	{
		Example:  NoStepSpeedup{FactorEstimate{1.01, 0.99, 1.03}, 0.87},
		Severity: Info, Source: stepsSource,
		Text: `no significant difference between an overlapped step and computation and communication one after the
			other: {Speedup} times as fast`,
		Details: []string{"Efficiency of weak scaling: {Efficiency}."},
		Doc:     "The confidence interval of the ratio includes 1.",
	},
	{
		Example: HostProgress{"ddp 25M float32", ShareEstimate{0.02, 0, 0.04}, ShareEstimate{0.48, 0.45, 0.51},
			ProgressInCalls, FewRounds{}},
		Severity: Info, Source: stepsSource,
		Text: `with {Point}, {NoCalls} of communication overlaps with computation without library calls, and {Polling} with
			polling[: {Conclusion}]`,
		Details: []string{fewRounds},
		Doc: `Libraries on hosts may send and receive only inside their own calls. Overlap is by the wall clock. A warning
			where more overlaps with polling.`,
	},
	{
		Example:  HostProgressUnpolled{"ddp 25M float32", ShareEstimate{0.02, 0, 0.04}, FewRounds{}},
		Severity: Info, Source: stepsSource,
		Text: `with {Point}, {NoCalls} of communication overlaps with computation without library calls, the most of all bucket
			sizes; polling was not measured`,
		Details: []string{fewRounds},
		Doc:     "See host-progress. Without polling it is not known how much would overlap with library calls.",
	},
	{
		Example: StepVariant{"fsdp", "ddp", []string{"float32"}, 0.12, "25M", 0.115, "50M",
			ShareEstimate{0.043, 0.03, 0.056}, ""},
		Severity: Info, Source: stepsSource,
		Text: `{Choice} instead of {Than}[ ({Shared})]: a step takes {Step} in its best bucket ({Bucket}) instead of
			{BaseStep} ({BaseBucket}), a change of {Change}[, {Note}]`,
		Doc: "The best points of two groups that differ by one choice: type, strategy, compression or progress.",
	},
	{Example: GroupsInSequence{}, Severity: Info, Source: stepsSource,
		Text: `groups are measured one after the other: a change of the machine in between counts as a difference between
			them`,
		Doc: "Bucket sizes of one group take turns, groups do not."},
	{Example: StepComputation{0.1, 0.099, 0.102, "threads"}, Severity: Info, Source: stepsSource,
		Text: "computation was to take {Asked} per step and took {Least}[ to {Most}], by {By}",
		Doc:  "The range over all points without modelled compression."},
	{
		Example:  StepPointsMissing{7, []PointCount{{"wrong", 1}, {"unfinished", 1}, {"not reached", 2}}, 1, 1, InContinuedRun},
		Severity: Warning, Source: stepsSource,
		Text: "{Planned point} planned: {Counts}",
		Details: []string{
			"[Wrong data at {Wrong point}: ranks received other values than were sent.]",
			"[{Elsewhere}.]",
			"[Values of {Unfinished unfinished point} are of the rounds measured so far.]",
		},
		Doc: "Points that were planned and have no values, or not all of their rounds. An error with wrong data.",
	},
}
