package profiles

import (
	"fmt"

	"busbar/internal/units"
)

// Notices on what the time of a training job goes to, and on how a run compares with another one and with a benchmark.

// TimeShares reports what the time of a step or a recording goes to.
type TimeShares struct {
	Per     Span          `json:"per"`
	Time    units.Seconds `json:"time_s"`
	Exposed ShareRange    `json:"exposed,omitzero"`
	Compute ShareRange    `json:"compute"`
	Copies  ShareRange    `json:"copies,omitzero"`
	Idle    ShareRange    `json:"idle"`
	Median  Median        `json:"median,omitzero"`
}

// ShareRange is a share in percent: the median of devices, with the smallest and the largest.
type ShareRange struct {
	Value float64 `json:"pct"`
	Min   float64 `json:"min_pct"`
	Max   float64 `json:"max_pct"`
	Range bool    `json:"range,omitempty"` // of several devices
	Known bool    `json:"known"`
}

func (s ShareRange) String() string {
	text := fmt.Sprintf("%.1f %%", s.Value)
	if s.Range {
		text += fmt.Sprintf(" (%.1f to %.1f)", s.Min, s.Max)
	}
	return text
}

// OverlapShare reports how much of communication overlaps with computation.
type OverlapShare struct {
	Share ShareRange `json:"share"`
}

// NoOverlapAtAll reports that no communication overlaps.
type NoOverlapAtAll struct{}

// SharedStreams reports streams that have both communication and computation.
type SharedStreams struct {
	Streams []StreamOf    `json:"streams"`
	Share   units.Share   `json:"share,omitempty"` // of communication on those with most of the computing: of advice
	Exposed units.Seconds `json:"exposed_s,omitempty"`
	Per     Span          `json:"per,omitempty"`
}

// StreamOf is a stream of a device.
type StreamOf struct {
	Stream int    `json:"stream"`
	Device string `json:"device"`
	OfComm Whole  `json:"of_comm_pct"`
}

func (s StreamOf) String() string {
	return fmt.Sprintf("stream %d of %s with %v of its communication", s.Stream, s.Device, s.OfComm)
}

// NoStragglerFound reports that ranks were compared, and none is a straggler.
type NoStragglerFound struct{}

// OwnStep reports that a trace is of busbar's own step.
type OwnStep struct {
	Step  string `json:"step"`
	NoGPU bool   `json:"no_gpu,omitempty"`
}

// ScalingEfficiency reports the efficiency of a run against one on fewer ranks.
type ScalingEfficiency struct {
	Kind     string        `json:"kind"` // strong or weak
	If       ScalingValid  `json:"valid_if"`
	From     int           `json:"from_ranks"`
	To       int           `json:"to_ranks"`
	Percent  Whole         `json:"pct"`
	Step     units.Seconds `json:"step_s"`
	FromStep units.Seconds `json:"from_step_s"`
	Speed    units.Factor  `json:"speedup"`
	Ideal    units.Factor  `json:"ideal"`
	Unread   []RanksRead   `json:"unread,omitempty"`
	FewSteps int           `json:"few_steps,omitempty"` // of the run with the fewest, where these are under 3
}

// ScalingValid is on what an efficiency depends: its value is the kind of scaling.
type ScalingValid string

func (v ScalingValid) String() string {
	if v == "strong" {
		return "both runs have the same global batch"
	}
	return "each rank has the same batch in both runs"
}

// RanksRead is how many ranks of a run were read.
type RanksRead struct {
	Read int `json:"read"`
	Of   int `json:"of"`
}

func (r RanksRead) String() string {
	return fmt.Sprintf("%d of %s were read: the slowest may not be among them", r.Read, units.Count(r.Of, "rank"))
}

// AgainstBenchmark reports a collective of a training against the benchmark.
type AgainstBenchmark struct {
	Collective string           `json:"collective"`
	Size       units.RoughBytes `json:"size_bytes"`
	Type       string           `json:"type"`
	Ranks      int              `json:"ranks"`
	Percent    Whole            `json:"pct"`
	Busbw      units.Bandwidth  `json:"busbw_Bps"`
	Reached    units.Bandwidth  `json:"benchmark_Bps"`
	Run        string           `json:"run"`
	Who        string           `json:"who"`
	Shape      string           `json:"shape"`
	Placement  string           `json:"placement"`
	Waiting    bool             `json:"may_include_waiting,omitempty"`
	Machine    OtherGPU         `json:"machine,omitzero"`
	Simulated  bool             `json:"simulated,omitempty"`
	More       bool             `json:"more,omitempty"`
}

// OtherGPU is that the benchmark ran on another model of GPU.
type OtherGPU struct {
	Benchmark string `json:"benchmark,omitempty"`
	Training  string `json:"training,omitempty"`
}

func (o OtherGPU) String() string {
	return "The benchmark ran on " + o.Benchmark + ", the training on " + o.Training + "."
}

// Median is the number of devices in a median; zero for one device.
type Median struct {
	N    int    `json:"n"`
	Unit string `json:"unit"` // GPU or rank
}

func (m Median) String() string { return "median of " + units.Count(m.N, m.Unit) }

// Whole is a share in whole percent.
type Whole float64

func (w Whole) String() string { return fmt.Sprintf("%.0f %%", float64(w)) }

// NothingRan reports that a trace lacks the work that a timeline covers.
type NothingRan struct {
	What Missing `json:"what"`
}

// Missing is the work that a trace lacks.
type Missing string

// The kinds of missing work.
const (
	NoGPUWork       Missing = "no-gpu-work"
	NoCommunication Missing = "no-communication"
	OnlyCopiesRan   Missing = "only-copies"
)

func (m Missing) String() string {
	return map[Missing]string{
		NoGPUWork:       "nothing ran on a GPU in these files",
		NoCommunication: "no communication ran",
		OnlyCopiesRan:   "only copies ran on a GPU in these files",
	}[m]
}
