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
	Elsewhere  string       `json:"elsewhere,omitempty"` // the run continues one that was not read
}

// PointCount is how many points have a status.
type PointCount struct {
	Status string `json:"status"`
	Points int    `json:"points"`
}

func (c PointCount) String() string { return fmt.Sprintf("%d %s", c.Points, c.Status) }

// InContinuedRun is a run that this one continues.
const InContinuedRun = "continued-run"
