package notice

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// Notices on training steps (rank --step). docs/step.md has the rules and the definitions of overlap.

// TimeEstimate is a time in seconds, or a difference of two, with its 95 % CI; both bounds are 0 without one.
type TimeEstimate struct {
	Value float64 `json:"value_s"`
	Lo    float64 `json:"ci_lo_s,omitempty"`
	Hi    float64 `json:"ci_hi_s,omitempty"`
}

func (e TimeEstimate) String() string { return estimate(e.Value, e.Lo, e.Hi, units.SignedDuration) }

// ShareEstimate is a share of 1, with its 95 % CI; both bounds are 0 without one.
type ShareEstimate struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"ci_lo,omitempty"`
	Hi    float64 `json:"ci_hi,omitempty"`
}

func (e ShareEstimate) String() string {
	return estimate(e.Value, e.Lo, e.Hi, func(v float64) string { return units.Share(v).String() })
}

func estimate(value, lo, hi float64, text func(float64) string) string {
	if hi <= lo {
		return text(value)
	}
	return fmt.Sprintf("%s (95 %% CI %s to %s)", text(value), text(lo), text(hi))
}

// NoBucketValues reports a group without any values.
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

// StepComputation reports the target time of computation, and the measured one.
type StepComputation struct {
	Asked units.Seconds `json:"asked_s"`
	Min   units.Seconds `json:"min_s"`
	Max   units.Seconds `json:"max_s,omitempty"` // 0: the same
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

func (NoBucketValues) Code() Code    { return "no-bucket-values" }
func (BestBucket) Code() Code        { return "best-bucket" }
func (StepComputation) Code() Code   { return "step-computation" }
func (StepPointsMissing) Code() Code { return "step-points-missing" }

const stepsSource = "docs/step.md"

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
			"[Not compared, because no launch measured both: {NotCompared}.]",
		},
		Doc: `The best bucket size has the smallest median of overlapped steps. The others are compared with it round by
			round, with 95 % CIs over all pairs of the group. Another launch may have another best size.`,
	},
	{Example: StepComputation{0.1, 0.099, 0.102, "threads"}, Severity: Info, Source: stepsSource,
		Text: "computation by {By} takes {Min}[ to {Max}] per step, target {Asked}",
		Doc:  "The range over all points."},
	{
		Example: StepPointsMissing{7, []PointCount{{"wrong", 1}, {"unfinished", 1}, {"not reached", 2}}, 1, 1,
			InContinuedRun},
		Severity: Warning, Source: stepsSource,
		Text: "{Planned point} planned: {Counts}",
		Details: []string{
			"[Wrong data at {Wrong point}: results differ from the correct values.]",
			"[{Elsewhere}.]",
			"[Values of {Unfinished unfinished point} are of the rounds measured so far.]",
		},
		Doc: "Points that were planned and have no values, or not all of their rounds. An error with wrong data.",
	},
}
