// Package timeline finds how much of a training step is communication, how much of it is hidden, and who waits for
// whom. It starts from what package trace has read, and ends in plain data: how that is written is decided elsewhere.
//
// Times inside are nanoseconds; what is written is milliseconds, with the names that end in _ms.
package timeline

import (
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// Timeline is what was found in the files read. It is the JSON document of post timeline.
type Timeline struct {
	Tool    string          `json:"-"` // what wrote it
	Rule    Rule            `json:"rule"`
	Files   []File          `json:"files"`
	Devices []Device        `json:"devices"` // by rank, then device
	Across  *Across         `json:"across"`  // over ranks; null where one alone was read
	Advice  []Advice        `json:"advice"`
	Notes   []notice.Notice `json:"notes"` // on files and on all

	Against []profiles.AgainstBenchmark  `json:"benchmark"` // collectives against benchmark results
	Scaling []profiles.ScalingEfficiency `json:"scaling"`   // against other runs

	Skipped []notice.Notice `json:"-"` // files that could not be read

	shows func(notice.Code) bool // nil: all are shown
}

// Rule holds the name patterns that classify kernels and steps.
type Rule struct {
	CommPattern string `json:"comm_pattern,omitempty"` // what the user added
	StepPattern string `json:"step_pattern,omitempty"`
}

// File is one file that was read.
type File struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Tool   string `json:"tool,omitempty"`
	Cut    string `json:"cut,omitempty"` // why it ends early
	// of a step that busbar ran itself: which, on what, and whether it was rehearsed
	Own   string `json:"own,omitempty"`
	NoGPU bool   `json:"no_gpu,omitempty"` // threads of hosts did all, in a rehearsal too

	// operations of a step of busbar's own are begun, and looked after later
	NonBlocking bool `json:"non_blocking,omitempty"`
}

// Parts are the times of one device in one span of time, in milliseconds. compute + exposed + memcpy_only + idle =
// span.
type Parts struct {
	Span       float64 `json:"span_ms"`
	Compute    float64 `json:"compute_ms"`     // union of what is neither communication nor copies
	Comm       float64 `json:"comm_ms"`        // union of communication
	Overlap    float64 `json:"overlap_ms"`     // communication while something computes
	Exposed    float64 `json:"exposed_ms"`     // communication while nothing computes
	Memcpy     float64 `json:"memcpy_ms"`      // union of copies and memsets
	MemcpyOnly float64 `json:"memcpy_only_ms"` // copies while there is neither compute nor communication
	Idle       float64 `json:"idle_ms"`        // nothing runs
	HostBound  float64 `json:"host_bound_ms"`  // idle, and what ran next was not launched yet
	// idle, though what ran next had been launched: it waited for an event, a stream or the device
	Waiting     float64 `json:"waiting_ms"`
	Unexplained float64 `json:"idle_unexplained_ms"` // idle whose next launch is not in the file

	Busy float64 `json:"kernel_ms"` // kernels that compute, summed; of a step, those launched in it

	// Two figures that the field calls overlap, both in percent of communication and null where there is none. The
	// first is taken from intervals: overlap of comm. The second is stats.WallClockOverlap of compute, comm and span,
	// and is less by what was idle or only copied: compute + comm - span = overlap - memcpy_only - idle. So it may be
	// below 0, and equals the first where the device was never without a kernel.
	Efficiency *float64 `json:"overlap_pct"`
	WallClock  *float64 `json:"wall_clock_overlap_pct"`
}

// Device is one GPU as one process used it. It has many fields because it is one object of the JSON.
type Device struct {
	Rank    *int   `json:"rank"` // null: not known
	World   int    `json:"world,omitempty"`
	ID      int    `json:"device"`
	Process *int64 `json:"process,omitempty"`
	Host    string `json:"host,omitempty"`
	GPU     string `json:"gpu,omitempty"`
	NCCL    string `json:"nccl,omitempty"`
	File    int    `json:"file"`  // index in Timeline.Files
	Label   string `json:"label"` // "rank 3", "GPU 1 (pid 812)": what a person calls it

	Parts
	Kernels     int             `json:"kernels"`
	Steps       []Step          `json:"steps"`
	Streams     []Stream        `json:"streams"`
	Groups      []Group         `json:"communicators"`
	Collectives []Collective    `json:"collectives"` // by communicator, operation, size
	Top         []Exposed       `json:"top_exposed"` // the longest exposed, first the longest
	Buckets     []Bucket        `json:"buckets"`     // of DDP; empty where nothing looks like one
	Shared      []SharedStream  `json:"same_stream"` // streams on which communication cannot hide
	Unknown     []Unclassified  `json:"unclassified"`
	Notes       []notice.Notice `json:"notes"`

	strips []Strip // for pictures: the whole, then each step
	seen   []seen  // what ran of communication, for matching across ranks; by Start
	origin int64   // nanoseconds since 1970 of the first activity, from which all times here count; trace.Unknown
}

// Step is one step of training on one device. It has what was launched for it, from its first activity to the first of
// the next step (docs/timeline.md has how activities belong to steps).
type Step struct {
	Name    string                `json:"name"`     // "ProfilerStep#12"
	Start   float64               `json:"start_ms"` // since the first activity of the device
	Host    float64               `json:"host_ms"`  // how long the step took on the host; 0: not recorded
	Kernels int                   `json:"kernels"`  // launched in it
	Partial *profiles.PartialStep `json:"partial"`  // why it may not be a whole step
	Parts
}

// Stream is one stream of a device.
type Stream struct {
	ID      int     `json:"stream"`
	Compute float64 `json:"compute_ms"` // unions of what ran on it
	Comm    float64 `json:"comm_ms"`
	Memcpy  float64 `json:"memcpy_ms"`
	Exposed float64 `json:"exposed_ms"` // of its communication
	Kernels int     `json:"kernels"`
}

// Group is one communicator of a device.
type Group struct {
	Name  string `json:"name"` // "" where the file names none
	About string `json:"about,omitempty"`
	Size  int    `json:"ranks,omitempty"`
	// ranks of the world, in its order; empty where the file has not all of them. Groups of one name with other members
	// are different ones
	Members []int   `json:"members,omitempty"`
	Rank    *int    `json:"rank"` // of this device in it; null: not known
	Calls   int     `json:"calls"`
	Comm    float64 `json:"comm_ms"`
}

// Collective is what calls of one kind took: one communicator, operation, size and type.
type Collective struct {
	Name  string `json:"name"` // all_reduce; the kernel's name where the operation is not known
	Group string `json:"communicator"`
	Ranks int    `json:"ranks,omitempty"`
	Bytes *int64 `json:"size_bytes"` // S as nccl-tests counts it; null: not known
	Type  string `json:"type,omitempty"`
	// of a group that ran as one kernel, whose size is that of all of it; else 1
	Parts   int     `json:"calls_per_kernel"`
	Calls   int     `json:"calls"`
	Sum     float64 `json:"sum_ms"`
	Median  float64 `json:"median_ms"`
	Min     float64 `json:"min_ms"`
	Exposed float64 `json:"exposed_ms"` // summed
	// at the median time, which has the waiting for others in it; null: size, ranks or operation unknown
	Busbw    *float64 `json:"busbw_GBps"`
	BusbwMax *float64 `json:"busbw_max_GBps"` // at the minimum time
}

// Exposed is one call that was not hidden.
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

// Bucket is one gradient bucket of DDP: all-reduces at one place of every step.
type Bucket struct {
	Number  int     `json:"bucket"` // in the order of a step, from 1
	Bytes   int64   `json:"size_bytes"`
	Type    string  `json:"type,omitempty"`
	Group   string  `json:"communicator"`
	Steps   int     `json:"steps"` // in which it was seen
	Median  float64 `json:"median_ms"`
	Exposed float64 `json:"exposed_ms"` // median over steps
}

// SharedStream is a stream that has both communication and computation: what shares a stream runs one after the other.
type SharedStream struct {
	ID     int     `json:"stream"`
	Comm   float64 `json:"comm_ms"`   // communication on this stream
	OfComm float64 `json:"share_pct"` // of all communication of the device
	// of all computing of the device, what is on this stream: none of that can hide this communication
	OfCompute float64 `json:"compute_share_pct"`
}

// Unclassified is a name of kernels which may be communication, and is counted as computation.
type Unclassified struct {
	Name  string  `json:"name"`
	Calls int     `json:"calls"`
	Sum   float64 `json:"sum_ms"`
	Share float64 `json:"share_pct"` // of the time of all kernels
	Word  string  `json:"word"`      // of its name, that suggests communication
}

// Across is what was found over ranks.
type Across struct {
	// collectives found on every rank of their communicator that was read
	Matched int                   `json:"matched"`
	Alone   int                   `json:"unmatched"` // calls for which that is not so
	How     profiles.MatchedByAll `json:"matched_by"`
	// matched collectives without a root in which one rank took clearly less than another: it began last
	Uneven  int         `json:"uneven"`
	Pure    float64     `json:"pure_ms"`    // of matched calls, per rank: the minimum over ranks, summed
	Waiting float64     `json:"waiting_ms"` // the rest, the mean over ranks
	Ranks   []RankShare `json:"ranks"`
	// that all ranks have, whole: computing is compared over them; 0: over whole recordings
	Steps     int          `json:"common_steps"`
	Straggler *Straggler   `json:"straggler"`   // null: no straggler
	Imbalance []StepSpread `json:"imbalance"`   // by step
	Matches   []Matched    `json:"collectives"` // by communicator, operation, size

	waitingInSteps float64 // ms, that part of Waiting
}

// RankShare is one rank among others.
type RankShare struct {
	Device  int     `json:"index"`      // in Timeline.Devices
	Compute float64 `json:"compute_ms"` // of the steps that all ranks have, or of all
	Kernels float64 `json:"kernel_ms"`  // of kernels that compute, summed, of the same steps
	Pure    float64 `json:"pure_ms"`    // of all matched calls, and so are the next two
	Waiting float64 `json:"waiting_ms"`
	Last    int     `json:"last"` // uneven collectives which it was the last to begin, that is: took the shortest time

	// Offset is what is added to times of this device, which count from its first activity, to set them beside those of
	// the first of Ranks: by the ends of matched collectives, and for pictures only. Null: none was matched.
	Offset *float64 `json:"offset_ms"`
}

// Straggler is the rank that others wait for.
type Straggler struct {
	Device int `json:"index"` // in Timeline.Devices
	// of the uneven collectives that it took part in: those it was the last to begin
	Share float64            `json:"share_pct"`
	Cost  float64            `json:"cost_ms"` // what the others waited in those, the mean over them
	Found profiles.Straggler `json:"found"`

	costInSteps float64 // ms, that part of Cost
}

// StepSpread is how one step differs between ranks.
type StepSpread struct {
	Name    string  `json:"step"`
	Min     float64 `json:"compute_min_ms"`
	Max     float64 `json:"compute_max_ms"`
	Slowest int     `json:"slowest"`       // index in Timeline.Devices
	Spread  float64 `json:"imbalance_pct"` // maximum over mean, less one
	Waiting float64 `json:"waiting_ms"`    // mean over ranks
	Span    float64 `json:"span_ms"`       // the longest of ranks
}

// Matched is what matched collectives of one kind took.
type Matched struct {
	Collective
	Pure      float64  `json:"pure_median_ms"`    // minimum over ranks, median over calls
	Waiting   float64  `json:"waiting_median_ms"` // mean over ranks, median over calls
	PureBusbw *float64 `json:"pure_busbw_GBps"`   // at the pure time
}

// Advice is something to do.
type Advice struct {
	Topic string        `json:"topic"`   // overlap, idle time, copies, balance, topology, profile
	Text  string        `json:"text"`    // what to do, in sentences
	Gain  float64       `json:"gain_ms"` // at most, per step or per recording; 0: unknown
	Found notice.Notice `json:"found"`   // what the advice is based on
}

// Strip is one span of a device for a picture: Cells of equal length, as runs of equal state.
type Strip struct {
	Step  int     // index in Device.Steps; -1: the whole
	Start float64 // ms since the first activity of the device
	Span  float64 // ms
	Cells int
	Runs  []Run
}

// Run is some cells of one state.
type Run struct {
	Cells uint16
	State State
}

// State is what a cell shows: the part that took most of it.
type State uint8

// The states.
const (
	Idle State = iota
	Computing
	Overlapped
	ExposedComm
	Copying
)

// Strips are the pictures of a device: the whole first, then its steps.
func (d *Device) Strips() []Strip { return d.strips }

// Call is one activity of communication, for a picture.
type Call struct {
	Collective int // index in Device.Collectives; -1: in none
	Step       int // index in Device.Steps; -1: in none
	Stream     int
	Start      float64 // ms since the first activity of the device
	Took       float64 // ms
	Exposed    float64 // ms
}

// Calls are what ran of communication, by Start.
func (d *Device) Calls() []Call {
	calls := make([]Call, len(d.seen))
	for i, s := range d.seen {
		calls[i] = Call{int(s.collective), int(s.step), int(s.stream), milliseconds(s.start),
			milliseconds(s.end - s.start), milliseconds(s.exposed)}
	}
	return calls
}

func milliseconds(ns int64) float64 { return float64(ns) / 1e6 }
