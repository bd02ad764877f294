package result

import (
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/step"
)

// The kinds of lines of a run of the training-step benchmark, which has no cases.
const (
	KindStep  = "step"
	KindRound = "round"
)

// Step in the first line is that the run measured training steps, of which model, and with what kind of computing.
type Step struct {
	Model     string  `json:"model"`
	Source    string  `json:"source,omitempty"` // the model's YAML text as read
	About     string  `json:"about,omitempty"`  // where its numbers come from
	Params    int64   `json:"params"`           // elements
	Layers    int     `json:"layers"`
	Forward   float64 `json:"forward_s"` // s of computing asked for
	Backward  float64 `json:"backward_s"`
	Optimizer float64 `json:"optimizer_s,omitempty"`
	First     int64   `json:"first_bucket_bytes"` // cap of DDP's first bucket
	// what computes: "1 thread of FMA", "FMA kernels", "cuBLAS 13.0 half-precision GEMMs of 1024x1024x1024"
	Computing string `json:"computing"`
	// s of a unit of computing on a GPU, by calibration, on the slowest rank
	Unit     float64      `json:"compute_unit_s,omitempty"`
	Start    float64      `json:"compute_start_s,omitempty"` // s that a start of computing costs beside its units
	Interval float64      `json:"poll_interval_s,omitempty"` // between calls that test, where they poll
	Points   []step.Point `json:"points"`                    // as planned; n counts in this list, from 1
}

// key is what two runs must share for the points of one to count for the other: the model, how its buckets begin,
// what computes and how often it polls. Which points were planned is left out.
func (s *Step) key() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s, %d parameters in %d layers, %g+%g+%g s, first %d, %s, polled every %g s\n%s",
		s.Model, s.Params, s.Layers, s.Forward, s.Backward, s.Optimizer, s.First, s.Computing, s.Interval, s.Source)
}

// StepRound is one round of a point, kept the moment it is over: all samples are in the file.
type StepRound struct {
	Kind   string `json:"kind"`  // KindRound
	N      int    `json:"n"`     // of the point
	Number int    `json:"round"` // from 1
	step.Round
}

// StepOp is one operation of a step in a record.
type StepOp struct {
	Name       string `json:"name"`
	Collective string `json:"collective"`
	Bytes      int64  `json:"bytes"` // S of the collective
	Layers     int    `json:"layers"`
}

// StepRecord is one measured (or not measured) point of a step. It has many fields because each is one fact of the
// point that a reader needs.
type StepRecord struct {
	Kind string `json:"kind"` // KindStep
	N    int    `json:"n"`    // number of the point in the run's list, from 1
	Run  string `json:"-"`    // ID of the run; filled by readers
	At   string `json:"at,omitzero"`
	step.Point
	Status Status `json:"status"`
	Why
	Needed int64 `json:"needed_bytes,omitempty"` // memory of a rank

	Ops     []StepOp      `json:"ops,omitempty"`
	Figures *step.Figures `json:"figures,omitempty"` // nil unless ok, unfinished (or wrong)
	Stop    string        `json:"stop,omitempty"`    // what ended it: precision, budget, maximum, fixed, asked
	Check   Check         `json:"check"`
	Traced  []Traced      `json:"traced,omitempty"` // what the trace files of ranks hold, for the first 64 ranks
	Trace   string        `json:"trace,omitempty"`  // folder of the trace files, beside this file
	// of rank 0, the step that its trace file holds; there without trace files too
	Timeline *StepTimeline `json:"timeline,omitempty"`
	Notes    []string      `json:"notes,omitempty"`
	Warnings notice.List   `json:"notices,omitempty"`
	Older    []string      `json:"warnings,omitempty"` // sentences of older versions; Warnings once read
}

// Timed reports whether a record has valid values.
func (r *StepRecord) Timed() bool {
	return (r.Status == OK || r.Status == Unfinished) && r.Figures != nil
}

// Traced is what one rank's trace file holds: the last overlapped step, by intervals, in seconds.
type Traced struct {
	Rank    int     `json:"rank"`
	Span    float64 `json:"span_s"`
	Compute float64 `json:"compute_s"`
	Comm    float64 `json:"comm_s"`
	Overlap float64 `json:"overlap_s"`
	Exposed float64 `json:"exposed_s"`
	Idle    float64 `json:"idle_s"`
}

// StepTimeline is when the parts of the last overlapped step ran on one rank: enough to draw it without its trace file.
type StepTimeline struct {
	Rank     int        `json:"rank"`
	Span     float64    `json:"span_s"`
	Segments []StepSpan `json:"segments"`
	Ops      []StepSpan `json:"ops"` // one for each of the record's ops, in their order
}

// StepSpan is a stretch of a step, in seconds from its beginning.
type StepSpan struct {
	Name  string  `json:"name"`
	Work  string  `json:"work,omitempty"` // of a segment: forward, backward, compress, optimizer
	Start float64 `json:"start_s"`
	End   float64 `json:"end_s"`
}

// TracedOf is what a rank's trace file holds of a step, from its intervals.
func TracedOf(rank int, i step.Intervals) Traced {
	seconds := func(ns int64) float64 { return float64(ns) / 1e9 }
	return Traced{
		Rank: rank, Span: seconds(i.Span), Compute: seconds(i.Compute), Comm: seconds(i.Comm),
		Overlap: seconds(i.Overlap), Exposed: seconds(i.Exposed), Idle: seconds(i.Idle),
	}
}
