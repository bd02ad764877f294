package profiles

import (
	"encoding/json"
	"fmt"
	"math"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices that answer questions on a training job, from its timeline. Times are per step, or per recording.

// Median is over how many devices a value is the median; zero where there is one.
type Median struct {
	N    int    `json:"n"`
	Unit string `json:"unit"` // GPU or rank
}

func (m Median) String() string { return "median of " + units.Count(m.N, m.Unit) }

// Devices is a number of devices.
type Devices struct {
	N    int    `json:"n"`
	Unit string `json:"unit"` // GPU or rank
}

func (d Devices) String() string { return units.Count(d.N, d.Unit) }

// OfComputation is a time in percent of computation.
type OfComputation float64

func (o OfComputation) String() string {
	if math.IsInf(float64(o), 0) || math.IsNaN(float64(o)) {
		return "nothing computes"
	}
	return fmt.Sprintf("%.1f %% of computation", float64(o))
}

// MarshalJSON writes the number; null where nothing computes.
func (o OfComputation) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(o), 0) || math.IsNaN(float64(o)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(o))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *OfComputation) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*o = OfComputation(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(o))
}

// CommunicationTime answers how long communication is, compared with computation.
type CommunicationTime struct {
	Comm      units.Seconds  `json:"comm_s"`
	Compute   units.Seconds  `json:"compute_s"`
	Share     OfComputation  `json:"share_pct"`
	Per       Span           `json:"per"`
	Median    Median         `json:"median,omitzero"`
	AllReduce AllReduceShare `json:"all_reduce,omitzero"`
}

// AllReduceShare is the part of AllReduce in communication.
type AllReduceShare struct {
	Time   units.Seconds `json:"time_s,omitempty"`
	Share  OfComputation `json:"share_pct"`
	Absent bool          `json:"absent"` // no kernel is known as AllReduce
}

func (a AllReduceShare) String() string {
	if a.Absent {
		return "AllReduce: n/a, no kernel is known as one; the trace names another operation or none"
	}
	return fmt.Sprintf("AllReduce takes %v, %v", a.Time, a.Share)
}

// ComputationAlone answers the same where nothing communicates.
type ComputationAlone struct {
	Compute units.Seconds `json:"compute_s"`
	Per     Span          `json:"per"`
	Median  Median        `json:"median,omitzero"`
}

// Overlap answers how much of communication overlaps with computation.
type Overlap struct {
	Verdict   OverlapVerdict `json:"verdict"`
	Percent   Percent        `json:"overlap_pct"`
	Median    Median         `json:"median,omitzero"`
	Gradients *Percent       `json:"gradients_pct,omitempty"` // of AllReduce and ReduceScatter; nil: neither ran
	Wall      Whole          `json:"wall_clock_pct"`
	Idle      Percent        `json:"idle_pct,omitempty"` // where it makes the wall clock's value smaller
	Per       Span           `json:"per,omitempty"`
	Training  Training       `json:"training,omitempty"`
}

// OverlapVerdict is the answer in a word.
type OverlapVerdict string

// The verdicts.
const (
	NoOverlap     OverlapVerdict = "no"
	HardlyOverlap OverlapVerdict = "hardly"
	PartlyOverlap OverlapVerdict = "partly"
	FullOverlap   OverlapVerdict = "yes"
)

// Whole is a share in whole percent.
type Whole float64

func (w Whole) String() string { return fmt.Sprintf("%.0f %%", float64(w)) }

// Training states that a trace is of a training job, not of busbar's own step.
type Training bool

func (Training) String() string {
	return "Traces do not name the backward pass."
}

// Balance answers whether GPUs compute for as long.
type Balance struct {
	Verdict   Verdict        `json:"verdict"`
	Least     *units.Seconds `json:"least_s,omitempty"` // nil: as long as the most
	LeastOn   string         `json:"least_on,omitempty"`
	Most      units.Seconds  `json:"most_s"`
	MostOn    string         `json:"most_on,omitempty"`
	Over      Percent        `json:"over_mean_pct,omitempty"` // of the most over the mean
	Devices   Devices        `json:"devices"`
	Waiting   *units.Seconds `json:"waiting_s,omitempty"` // nil: no collective was matched across ranks
	Pure      *units.Seconds `json:"pure_s,omitempty"`
	Straggler string         `json:"straggler,omitempty"`
	NoOne     NoStraggler    `json:"no_straggler,omitempty"`
}

// Verdict is yes or no.
type Verdict bool

func (v Verdict) String() string {
	if v {
		return "yes"
	}
	return "no"
}

// NoStraggler is that ranks were compared and none is a straggler.
type NoStraggler bool

func (NoStraggler) String() string {
	return "No rank is a straggler: none is last significantly often, or at a relevant cost to others."
}

// NoImprovement answers that nothing would gain time.
type NoImprovement struct{}

// NoAnswer reports why a question has no answer.
type NoAnswer struct {
	Reason NoAnswerReason `json:"reason"`
}

// NoAnswerReason is why.
type NoAnswerReason string

// The reasons.
const (
	NoGPUWork       NoAnswerReason = "no-gpu-work"
	NoCommunication NoAnswerReason = "no-communication"
	OneGPURead      NoAnswerReason = "one-gpu-read"
	NothingComputes NoAnswerReason = "nothing-computes"
	OnlyCopiesRan   NoAnswerReason = "only-copies"
)

var noAnswerTexts = map[NoAnswerReason]string{
	NoGPUWork:       "nothing ran on a GPU in these files",
	NoCommunication: "no communication ran",
	OneGPURead:      "one GPU was read; pass the traces of all ranks",
	NothingComputes: "nothing computes",
	OnlyCopiesRan:   "nothing but copies ran on a GPU in these files",
}

func (r NoAnswerReason) String() string { return noAnswerTexts[r] }

// NothingRan reports that a trace lacks what a timeline is about.
type NothingRan struct {
	What NoAnswerReason `json:"what"`
}

func (CommunicationTime) Code() notice.Code { return "communication-time" }
func (ComputationAlone) Code() notice.Code  { return "computation-alone" }
func (Overlap) Code() notice.Code           { return "overlap" }
func (Balance) Code() notice.Code           { return "balance" }
func (NoAnswer) Code() notice.Code          { return "not-applicable" }
func (NothingRan) Code() notice.Code        { return "nothing-ran" }

// Questions are those that a timeline answers, by the key of the answer in JSON.
var Questions = map[string]string{
	"how-long": "How long is communication, compared with computation?",
	"overlap":  "Does communication overlap with computation?",
	"balance":  "Is computation balanced across ranks?",
}

var timelineAnswers = []notice.Entry{
	{
		Example: CommunicationTime{
			0.0412, 0.098, 42, "step", Median{8, "GPU"}, AllReduceShare{Time: 0.031, Share: 31.6},
		},
		Severity: notice.Info,
		Text:     "communication takes {Comm} and computation {Compute} per {Per}[ ({Median})]: {Share}",
		Details:  []string{"[{AllReduce}.]"},
		Doc:      "Times are unions of what ran: communication includes what overlaps with computation.",
	},
	{
		Example: ComputationAlone{0.098, "step", Median{8, "GPU"}}, Severity: notice.Info,
		Text: "no communication ran; computation takes {Compute} per {Per}[ ({Median})]",
		Doc:  "No kernel of the trace is known as communication.",
	},
	{
		Example:  Overlap{PartlyOverlap, 54.2, Median{8, "GPU"}, new(Percent(60.1)), 48, 3.1, "step", true},
		Severity: notice.Info,
		Text:     "{Verdict}: {Percent} of communication overlaps with computation[ ({Median})]",
		Details: []string{
			"[AllReduce and ReduceScatter, which synchronise gradients: {Gradients}.]",
			"By the wall clock, (computation + communication - all) / communication, it is {Wall}.",
			"[That formula counts idle time ({Idle} of a {Per}) against overlap.]",
			"[{Training}]",
		},
		Doc: `Overlap is the time in which communication and computation run at the same time, of the time of
			communication. No: under 1 %; hardly: under 10 %; yes: over 95 %.`,
	},
	{
		Example: Balance{
			false, new(units.Seconds(0.09)), "rank 1", 0.11, "rank 3", 8.2, Devices{8, "GPU"}, new(units.Seconds(0.01)),
			new(units.Seconds(0.03)), "rank 3", true,
		},
		Severity: notice.Info,
		Text:     "{Verdict}: kernels compute {Most}[ on {MostOn}] ({Devices})",
		Details: []string{
			"[The minimum is {Least} on {LeastOn}; the maximum is {Over} above the mean.]",
			"[In collectives a rank waits {Waiting} for others, beside {Pure} of communication itself.]",
			"[The others wait for {Straggler}.]",
			"[{NoOne}]",
		},
		Doc: "GPUs are balanced if the longest kernel time exceeds the mean by at most 5 %.",
	},
	{
		Example: NoAnswer{NoCommunication}, Severity: notice.Info,
		Text: "not applicable: {Reason}",
		Doc:  "The files lack the data for this result.",
	},
	{
		Example: NothingRan{NoCommunication}, Severity: notice.Info,
		Text: "{What}",
		Doc:  "The files have no work of a GPU, no kernel, or no communication.",
	},
}
