package notice

import (
	"encoding/json"
	"fmt"
	"math"

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
	All    bool          `json:"all,omitempty"` // nothing else communicates
	Absent bool          `json:"absent"`        // no kernel is known as AllReduce
}

func (a AllReduceShare) String() string {
	switch {
	case a.All:
		return "All of it is AllReduce"
	case a.Absent:
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
	Worst     Percent        `json:"worst_step_pct,omitempty"`
	WorstStep string         `json:"worst_step,omitempty"`
	WorstOn   string         `json:"worst_step_on,omitempty"`
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
	return "No rank is a straggler: none is last more often than chance explains, or at a relevant cost to others."
}

// Identified answers whether NCCL's operations were found.
type Identified struct {
	Verdict Verdict        `json:"verdict"`
	Calls   int            `json:"calls,omitempty"`
	Devices Devices        `json:"devices,omitzero"`
	Kinds   []string       `json:"kinds,omitempty"`
	Unknown Percent        `json:"unclassified_pct,omitempty"`
	Reason  NoAnswerReason `json:"reason,omitempty"` // of a no
}

// Overhead answers how large the overhead of communication is.
type Overhead struct {
	Exposed Percent    `json:"exposed_pct"`
	Comm    Percent    `json:"comm_pct"`
	Per     Span       `json:"per"`
	Median  Median     `json:"median,omitzero"`
	Waiting *Whole     `json:"waiting_pct,omitempty"` // nil: no collective was matched across ranks
	OneRank OneRankHas `json:"one_rank,omitempty"`
}

// OneRankHas is that one trace alone was read.
type OneRankHas bool

func (OneRankHas) String() string {
	return "How much of it is waiting for other ranks is not in one trace alone."
}

// OverlapFound answers whether overlap, or the lack of it, was found.
type OverlapFound struct {
	Hidden  units.Seconds `json:"hidden_s"`
	Comm    units.Seconds `json:"comm_s"`
	Exposed units.Seconds `json:"exposed_s"`
	Per     Span          `json:"per"`
	Shared  Whole         `json:"shared_streams_pct,omitempty"`
	Streams StreamIDs     `json:"streams,omitempty"`
}

// Improvement answers whether there is something to gain.
type Improvement struct {
	Things  int           `json:"things"`
	First   AdviceOf      `json:"first"`
	Gain    units.Seconds `json:"gain_s"` // of the first
	Per     Span          `json:"per"`
	Scaling NoScaling     `json:"no_scaling,omitempty"`
}

// NoScaling is that one run was read.
type NoScaling bool

func (NoScaling) String() string {
	return "Scaling efficiency requires a run on another number of ranks (--scaling)."
}

// NoImprovement answers that nothing would gain time.
type NoImprovement struct{}

// Timeouts answers which timeout can be raised.
type Timeouts struct {
	Longest units.Seconds `json:"longest_s,omitempty"`
	Call    string        `json:"call,omitempty"`
	Near    NearTimeout   `json:"near,omitempty"`
}

// NearTimeout is that a call took long.
type NearTimeout bool

func (NearTimeout) String() string {
	return "TORCH_NCCL_ASYNC_ERROR_HANDLING and TORCH_NCCL_BLOCKING_WAIT control what happens after a timeout, " +
		"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC limits how long the watchdog itself may hang. A longer timeout does not help if a rank " +
		"never arrives."
}

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
	OneRankAlone    NoAnswerReason = "one-rank-alone"
	OneGPURead      NoAnswerReason = "one-gpu-read"
	NothingComputes NoAnswerReason = "nothing-computes"
	OnlyCopiesRan   NoAnswerReason = "only-copies"
	NoKnownKernel   NoAnswerReason = "no-known-kernel"
)

var noAnswerTexts = map[NoAnswerReason]string{
	NoGPUWork:       "nothing ran on a GPU in these files",
	NoCommunication: "no communication ran",
	OneRankAlone:    "no communication ran, and one rank alone has none",
	OneGPURead:      "one GPU was read; pass the traces of all ranks",
	NothingComputes: "nothing computes",
	OnlyCopiesRan:   "nothing but copies ran on a GPU in these files",
	NoKnownKernel:   "no kernel is known as communication, although there are several ranks; --comm-pattern adds names",
}

func (r NoAnswerReason) String() string { return noAnswerTexts[r] }

// NothingRan reports that a trace lacks what a timeline is about.
type NothingRan struct {
	What NoAnswerReason `json:"what"`
}

func (CommunicationTime) Code() Code { return "communication-time" }
func (ComputationAlone) Code() Code  { return "computation-alone" }
func (Overlap) Code() Code           { return "overlap" }
func (Balance) Code() Code           { return "balance" }
func (Identified) Code() Code        { return "operations-identified" }
func (Overhead) Code() Code          { return "communication-overhead" }
func (OverlapFound) Code() Code      { return "overlap-identified" }
func (Improvement) Code() Code       { return "improvement" }
func (NoImprovement) Code() Code     { return "no-improvement" }
func (Timeouts) Code() Code          { return "timeouts" }
func (NoAnswer) Code() Code          { return "not-applicable" }
func (NothingRan) Code() Code        { return "nothing-ran" }

// Questions are those that a timeline answers, by the key of the answer in JSON.
var Questions = map[string]string{
	"how-long":      "How long is communication, compared with computation?",
	"overlap":       "Does communication overlap with computation?",
	"balance":       "Is computation balanced across ranks?",
	"identify":      "Are NCCL's operations identified in the timeline?",
	"overhead":      "How much is the overhead of communication?",
	"overlap-found": "Is overlap identified, or the lack of it?",
	"improve":       "Is it known how to improve scaling efficiency?",
	"time-outs":     "Which timeout can be raised?",
}

var timelineAnswers = []Entry{
	{
		Example: CommunicationTime{
			0.0412, 0.098, 42, "step", Median{8, "GPU"}, AllReduceShare{Time: 0.031, Share: 31.6},
		},
		Severity: Info,
		Text:     "communication takes {Comm} and computation {Compute} per {Per}[ ({Median})]: {Share}",
		Details:  []string{"[{AllReduce}.]"},
		Doc:      "Times are unions of what ran: communication includes what overlaps with computation.",
	},
	{
		Example: ComputationAlone{0.098, "step", Median{8, "GPU"}}, Severity: Info,
		Text: "no communication ran; computation takes {Compute} per {Per}[ ({Median})]",
		Doc:  "No kernel of the trace is known as communication.",
	},
	{
		Example: Overlap{PartlyOverlap, 54.2, Median{8, "GPU"}, new(Percent(60.1)), 48, 3.1, "step", true}, Severity: Info,
		Text: "{Verdict}: {Percent} of communication overlaps with computation[ ({Median})]",
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
			new(units.Seconds(0.03)), "rank 3", true, 12.5, "step 7", "rank 3",
		},
		Severity: Info,
		Text:     "{Verdict}: kernels compute {Most}[ on {MostOn}] ({Devices})",
		Details: []string{
			"[The minimum is {Least} on {LeastOn}; the maximum is {Over} above the mean.]",
			"[In collectives a rank waits {Waiting} for others, beside {Pure} of communication itself.]",
			"[The others wait for {Straggler}.]",
			"[{NoOne}]",
			"[In single steps the difference is up to {Worst} ({WorstStep}, {WorstOn}).]",
		},
		Doc: "GPUs are balanced if the longest kernel time exceeds the mean by at most 5 %.",
	},
	{
		Example: Identified{true, 1200, Devices{8, "GPU"}, []string{"all_reduce"}, 2.5, ""}, Severity: Info,
		Text: "{Verdict}[: {Calls call}: {Kinds} ({Devices})][: {Reason}]",
		Details: []string{
			"[Kernels that may be communication, but count as computation, have up to {Unknown} of a GPU's kernel time.]",
		},
		Advice: "add names of new kernels with --comm-pattern",
		Doc:    "Kernels are identified by their names; --comm-pattern adds names.",
	},
	{
		Example: Overhead{12.1, 30.2, "step", Median{8, "GPU"}, new(Whole(20)), true}, Severity: Info,
		Text: "{Exposed} of the time of a {Per} is exposed communication; {Comm} is communication in all[ ({Median})]",
		Details: []string{
			"[{Waiting} of it is waiting for other ranks: kernels of communication run while they wait.]", "[{OneRank}]",
		},
		Doc: "Exposed communication is that beside which nothing computes.",
	},
	{
		Example: OverlapFound{0.02, 0.04, 0.02, "step", 60, StreamIDs{7}}, Severity: Info,
		Text: "yes: {Hidden} of {Comm} of communication per {Per} overlap, {Exposed} are exposed",
		Details: []string{
			"[{Shared} of it runs on the stream that computes most ({Streams}), one after the other: it cannot overlap.]",
		},
		Doc: "See docs/timeline.md on overlap.",
	},
	{
		Example: Improvement{3, AdviceOf{Kept{HostBoundStep{Idle: 0.03, Span: 0.1, Per: "step"}}}, 0.012, "step", true}, Severity: Info,
		Text:    "yes: {Things thing} to try, first: {First} (worth at most {Gain} per {Per})",
		Details: []string{"[{Scaling}]"},
		Doc:     "The advice of the timeline has what to try, the largest gain first.",
	},
	{
		Example: NoImprovement{}, Severity: Info,
		Text: "no rule of post timeline finds time to gain",
		Doc:  "All rules of docs/timeline.md were applied.",
	},
	{
		Example: Timeouts{61, "all_reduce on rank 3", true}, Severity: Info,
		Source: "PyTorch documentation, ProcessGroupNCCL Environment Variables",
		Text: `that of PyTorch's watchdog, init_process_group(timeout=...): 10 minutes for NCCL (30 before PyTorch
			2.2)`,
		Details: []string{
			"NCCL has no NCCL_TIMEOUT; NCCL_IB_TIMEOUT is that of InfiniBand packets.",
			"[The longest call here took {Longest} ({Call}).]", "[{Near}]",
		},
		Doc: "The longest call of the timeline shows how near a timeout is.",
	},
	{
		Example: NoAnswer{NoCommunication}, Severity: Info,
		Text: "not applicable: {Reason}",
		Doc:  "The files do not have what the question is about.",
	},
	{
		Example: NothingRan{NoCommunication}, Severity: Info,
		Text: "{What}",
		Doc:  "The files have no work of a GPU, no kernel, or no communication.",
	},
}
