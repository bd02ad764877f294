// Package timeline finds how much of a training step is communication, how much of it is hidden, and which rank is a
// straggler. Its input comes from package trace; its output is plain data that other packages render.
//
// Times inside are nanoseconds; the JSON has milliseconds, in names that end in _ms.
package timeline

import (
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// Timeline is the result for the files read. It is the JSON document of post timeline.
type Timeline struct {
	Tool    string          `json:"-"` // program that wrote it
	Rule    Rule            `json:"rule"`
	Files   []File          `json:"files"`
	Devices []Device        `json:"devices"` // by rank, then device
	Across  *Across         `json:"across"`  // over ranks; null for a single rank
	Advice  []Advice        `json:"advice"`
	Notes   []notice.Notice `json:"notes"` // on files and overall

	Against []profiles.AgainstBenchmark  `json:"benchmark"` // collectives against benchmark results
	Scaling []profiles.ScalingEfficiency `json:"scaling"`   // against other runs

	Skipped []notice.Notice `json:"-"` // unreadable files

	Replay *Replay `json:"replay,omitempty"` // null: there are no benchmark results

	parties  []*party               // communicators over ranks
	shows    func(notice.Code) bool // nil: show all
	compared *comparison
}

// Rule holds the name patterns that classify kernels and steps.
type Rule struct {
	CommPattern string `json:"comm_pattern,omitempty"` // the user's pattern
	StepPattern string `json:"step_pattern,omitempty"`
}

// File is one file that was read.
type File struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Tool   string `json:"tool,omitempty"`
	Cut    string `json:"cut,omitempty"` // why it is truncated
	// facts file that was read instead of it
	Facts string `json:"facts,omitempty"`
	// the step that busbar ran: its point, GPU, and whether it was simulated
	Own   string `json:"own,omitempty"`
	NoGPU bool   `json:"no_gpu,omitempty"` // host threads computed, possibly simulated

	// operations of busbar's own step are started, then polled
	NonBlocking bool   `json:"non_blocking,omitempty"`
	Backend     string `json:"backend,omitempty"` // of the step that busbar ran
}

// Parts are the times of one device in one span of time, in milliseconds. compute + exposed + memcpy_only + idle =
// span.
type Parts struct {
	Span       float64 `json:"span_ms"`
	Compute    float64 `json:"compute_ms"`     // union of activities other than communication and copies
	Comm       float64 `json:"comm_ms"`        // union of communication
	Overlap    float64 `json:"overlap_ms"`     // communication while something computes
	Exposed    float64 `json:"exposed_ms"`     // communication while nothing computes
	Memcpy     float64 `json:"memcpy_ms"`      // union of copies and memsets
	MemcpyOnly float64 `json:"memcpy_only_ms"` // copies while there is neither compute nor communication
	Idle       float64 `json:"idle_ms"`        // nothing runs
	HostBound  float64 `json:"host_bound_ms"`  // idle, and the next activity was not launched yet
	// idle after the launch of the next activity: it waited for an event, a stream or the device
	Waiting     float64 `json:"waiting_ms"`
	Unexplained float64 `json:"idle_unexplained_ms"` // idle, launch of the next activity not in the file

	Busy float64 `json:"kernel_ms"` // kernel time, summed; of a step, the kernels launched in it

	// Two common definitions of overlap, both in percent of communication, null without any. The first comes from
	// intervals: overlap of comm. The second is stats.WallClockOverlap of compute, comm and span, lower by idle and
	// copy time: compute + comm - span = overlap - memcpy_only - idle. It may be negative, and equals the first if the
	// device always ran a kernel.
	Efficiency *float64 `json:"overlap_pct"`
	WallClock  *float64 `json:"wall_clock_overlap_pct"`
}

// Device is one GPU as one process used it. It has many fields because it is one object of the JSON.
type Device struct {
	Rank    *int   `json:"rank"` // null: unknown
	World   int    `json:"world,omitempty"`
	ID      int    `json:"device"`
	Process *int64 `json:"process,omitempty"`
	Host    string `json:"host,omitempty"`
	GPU     string `json:"gpu,omitempty"`
	NCCL    string `json:"nccl,omitempty"`
	File    int    `json:"file"`  // index in Timeline.Files
	Label   string `json:"label"` // display name: "rank 3", "GPU 1 (pid 812)"

	Parts
	Kernels     int             `json:"kernels"`
	Steps       []Step          `json:"steps"`
	Streams     []Stream        `json:"streams"`
	Groups      []Group         `json:"communicators"`
	Collectives []Collective    `json:"collectives"` // by communicator, operation, size
	Top         []Exposed       `json:"top_exposed"` // the longest exposed calls, longest first
	Buckets     []Bucket        `json:"buckets"`     // of DDP; empty if none were found
	Shared      []SharedStream  `json:"same_stream"` // streams on which communication cannot hide
	Unknown     []Unclassified  `json:"unclassified"`
	Notes       []notice.Notice `json:"notes"`

	strips    []Strip    // for charts: the whole, then each step
	operators []operator // kernels and copies by name, those with most time first
	seen      []seen     // communication for matching across ranks; by Start
	origin    int64      // nanoseconds since 1970 of the first activity, the origin of all times here; trace.Unknown
}

// Step is one training step on one device: the activities launched in it, from its first to the first of the next step
// (docs/timeline.md defines it).
type Step struct {
	Name    string                `json:"name"`     // "ProfilerStep#12"
	Start   float64               `json:"start_ms"` // since the first activity of the device
	Host    float64               `json:"host_ms"`  // the step's time on the host; 0: not recorded
	Kernels int                   `json:"kernels"`  // launched in it
	Partial *profiles.PartialStep `json:"partial"`  // why it may be incomplete
	Parts
}

// Stream is one stream of a device.
type Stream struct {
	ID      int     `json:"stream"`
	Compute float64 `json:"compute_ms"` // unions of its activities
	Comm    float64 `json:"comm_ms"`
	Memcpy  float64 `json:"memcpy_ms"`
	Exposed float64 `json:"exposed_ms"` // of its communication
	Kernels int     `json:"kernels"`
}

// Group is one communicator of a device.
type Group struct {
	Name  string `json:"name"` // "" if not named in the file
	About string `json:"about,omitempty"`
	Size  int    `json:"ranks,omitempty"`
	// world ranks in order; empty if incomplete in the file. Groups with the same name and other members are different
	Members []int   `json:"members,omitempty"`
	Rank    *int    `json:"rank"` // this device's rank in it; null: unknown
	Calls   int     `json:"calls"`
	Comm    float64 `json:"comm_ms"`
}

// Collective is the times of one kind of call: one communicator, operation, size and type.
type Collective struct {
	Name  string `json:"name"` // all_reduce; the kernel's name if the operation is unknown
	Group string `json:"communicator"`
	Ranks int    `json:"ranks,omitempty"`
	Bytes *int64 `json:"size_bytes"` // S as nccl-tests counts it; null: unknown
	Type  string `json:"type,omitempty"`
	// calls in one kernel, if a group ran as one; else 1
	Parts   int     `json:"calls_per_kernel"`
	Calls   int     `json:"calls"`
	Sum     float64 `json:"sum_ms"`
	Median  float64 `json:"median_ms"`
	Min     float64 `json:"min_ms"`
	Exposed float64 `json:"exposed_ms"` // summed
	// at the median time, including waiting for others; null: size, ranks or operation unknown
	Busbw    *float64 `json:"busbw_GBps"`
	BusbwMax *float64 `json:"busbw_max_GBps"` // at the minimum time
}

// Exposed is one exposed call.
type Exposed struct {
	Name    string  `json:"name"`
	Group   string  `json:"communicator,omitempty"`
	Bytes   *int64  `json:"size_bytes"`
	Step    string  `json:"step,omitempty"`
	Stream  int     `json:"stream"`
	Start   float64 `json:"start_ms"` // since the first activity of the device
	Took    float64 `json:"took_ms"`
	Exposed float64 `json:"exposed_ms"`
}

// Bucket is one gradient bucket of DDP: all-reduces at the same place in every step.
type Bucket struct {
	Number  int     `json:"bucket"` // order in the step, from 1
	Bytes   int64   `json:"size_bytes"`
	Type    string  `json:"type,omitempty"`
	Group   string  `json:"communicator"`
	Steps   int     `json:"steps"` // number of steps that have it
	Median  float64 `json:"median_ms"`
	Exposed float64 `json:"exposed_ms"` // median over steps
}

// SharedStream is a stream with both communication and computation, which therefore cannot overlap.
type SharedStream struct {
	ID     int     `json:"stream"`
	Comm   float64 `json:"comm_ms"`   // communication on this stream
	OfComm float64 `json:"share_pct"` // of all communication of the device
	// this stream's part of the device's computation, which cannot hide this communication
	OfCompute float64 `json:"compute_share_pct"`
}

// Unclassified is a kernel name that may be communication but counts as computation.
type Unclassified struct {
	Name  string  `json:"name"`
	Calls int     `json:"calls"`
	Sum   float64 `json:"sum_ms"`
	Share float64 `json:"share_pct"` // share of all kernel time
	Word  string  `json:"word"`      // part of its name that suggests communication
}

// Across is the comparison of ranks.
type Across struct {
	// collectives found on every recorded rank of their communicator
	Matched int                   `json:"matched"`
	Alone   int                   `json:"unmatched"` // other calls
	How     profiles.MatchedByAll `json:"matched_by"`
	// matched collectives without a root in which one rank took clearly less time: it began last
	Uneven  int         `json:"uneven"`
	Pure    float64     `json:"pure_ms"`    // of matched calls, per rank: the minimum over ranks, summed
	Waiting float64     `json:"waiting_ms"` // the remaining time, mean over ranks
	Ranks   []RankShare `json:"ranks"`
	// complete on all ranks: computation is compared over them; 0: over whole recordings
	Steps     int          `json:"common_steps"`
	Straggler *Straggler   `json:"straggler"`   // null: no straggler
	Imbalance []StepSpread `json:"imbalance"`   // by step
	Matches   []Matched    `json:"collectives"` // by communicator, operation, size

	waitingInSteps float64 // ms, share of Waiting
}

// RankShare is one rank in the comparison.
type RankShare struct {
	Device  int     `json:"index"`      // in Timeline.Devices
	Compute float64 `json:"compute_ms"` // of the common steps, or of all
	Kernels float64 `json:"kernel_ms"`  // summed kernel time of the same steps
	Pure    float64 `json:"pure_ms"`    // of all matched calls, and so are the next two
	Waiting float64 `json:"waiting_ms"`
	Last    int     `json:"last"` // uneven collectives that it began last, with the shortest time

	// Offset is added to this device's times, which count from its first activity, to align them with the first of
	// Ranks: from the ends of matched collectives, for charts only. Null: none was matched.
	Offset *float64 `json:"offset_ms"`
}

// Straggler is a rank that other ranks wait for.
type Straggler struct {
	Device int `json:"index"` // in Timeline.Devices
	// share of its uneven collectives that it began last
	Share float64            `json:"share_pct"`
	Cost  float64            `json:"cost_ms"` // waiting time of the others in those, mean over them
	Found profiles.Straggler `json:"found"`

	costInSteps float64 // ms, share of Cost
}

// StepSpread is the spread of one step over ranks.
type StepSpread struct {
	Name    string  `json:"step"`
	Min     float64 `json:"compute_min_ms"`
	Max     float64 `json:"compute_max_ms"`
	Slowest int     `json:"slowest"`       // index in Timeline.Devices
	Spread  float64 `json:"imbalance_pct"` // maximum over mean, minus 1
	Waiting float64 `json:"waiting_ms"`    // mean over ranks
	Span    float64 `json:"span_ms"`       // maximum over ranks
}

// Matched is the times of matched collectives of one kind.
type Matched struct {
	Collective
	Pure      float64  `json:"pure_median_ms"`    // minimum over ranks, median over calls
	Waiting   float64  `json:"waiting_median_ms"` // mean over ranks, median over calls
	PureBusbw *float64 `json:"pure_busbw_GBps"`   // at the pure time
}

// Advice is a recommendation.
type Advice struct {
	Topic string        `json:"topic"`   // overlap, idle time, copies, balance, topology, profile
	Text  string        `json:"text"`    // recommendation in sentences
	Gain  float64       `json:"gain_ms"` // upper bound, per step or recording; 0: unknown
	Found notice.Notice `json:"found"`   // evidence
}

// Strip is one span of a device for a chart: Cells of equal length, as runs of equal state.
type Strip struct {
	Step  int     // index in Device.Steps; -1: the whole
	Start float64 // ms since the first activity of the device
	Span  float64 // ms
	Cells int
	// Packed are the runs, one number each: a thousand ranks have millions.
	Packed []byte
}

// Run is consecutive cells of one state.
type Run struct {
	Cells uint16
	State State
}

// State is what a cell shows: the part with most of its time.
type State uint8

// The states.
const (
	Idle State = iota
	Computing
	Overlapped
	ExposedComm
	Copying
)

// Strips are the charts of a device: the whole first, then its steps.
func (d *Device) Strips() []Strip { return d.strips }

// Call is one activity of communication, for a chart.
type Call struct {
	Collective int // index in Device.Collectives; -1: in none
	Step       int // index in Device.Steps; -1: in none
	Stream     int
	Start      float64 // ms since the first activity of the device
	Took       float64 // ms
	Exposed    float64 // ms
}

// Calls are the activities of communication, by Start.
func (d *Device) Calls() []Call {
	calls := make([]Call, len(d.seen))
	for i, s := range d.seen {
		calls[i] = Call{int(s.collective), int(s.step), int(s.stream), milliseconds(s.start),
			milliseconds(s.end - s.start), milliseconds(s.exposed)}
	}
	return calls
}

func milliseconds(ns int64) float64 { return float64(ns) / 1e6 }
