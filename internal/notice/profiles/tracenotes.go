package profiles

import (
	"fmt"

	"busbar/internal/notice"
)

// Notices of the readers of traces: what a file lacks, and what of it does not count. docs/timeline.md has the formats.

// TraceFormat is the kind of a trace.
type TraceFormat string

// The formats.
const (
	Kineto TraceFormat = "kineto"
	Nsight TraceFormat = "nsight"
)

// OwnTrace reports a trace that busbar itself wrote.
type OwnTrace struct {
	Tool      string   `json:"tool"`
	Model     string   `json:"model"`
	Step      string   `json:"step"`
	Backend   string   `json:"backend"`
	Computing Computer `json:"computing"`

	Events EventTimes `json:"device_times,omitempty"`
}

// EventTimes states that times are those of a device's events.
type EventTimes bool

func (EventTimes) String() string {
	return "Times are of events that the device recorded around each operation."
}

// Computer is what computed in a training step.
type Computer struct {
	By        string `json:"by"` // "1 thread of FMA"
	OnHost    bool   `json:"on_host"`
	Simulated bool   `json:"simulated,omitempty"`
}

func (c Computer) String() string {
	switch {
	case c.Simulated:
		return "SIMULATED, no GPU: " + c.By
	case c.OnHost:
		return "CPUs, no GPU: " + c.By
	}
	return "on a GPU: " + c.By
}

// Name is how a timeline refers to the trace.
func (o OwnTrace) Name() string {
	return fmt.Sprintf("busbar's own step (%s; %s, %s; %s; %v)", o.Tool, o.Model, o.Step, o.Backend, o.Computing)
}

// SeveralDevices reports a rank whose process used several devices.
type SeveralDevices struct {
	Rank    int `json:"rank"`
	Devices int `json:"devices"`
	Main    int `json:"main_device"`
}

// NoGPUActivity reports a trace in which nothing ran on a GPU.
type NoGPUActivity struct {
	Format TraceFormat `json:"format"`
}

// Advice depends on the profiler.
func (n NoGPUActivity) Advice() string {
	if n.Format == Nsight {
		return "record with nsys profile --trace=cuda,nvtx …"
	}
	return "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and a schedule with an active step"
}

// EmptyGraphs reports launches of CUDA graphs without kernels in a trace of PyTorch.
type EmptyGraphs struct {
	Launches int `json:"launches"`
}

// GraphKernelsMissing reports launches of CUDA graphs that Nsight Systems recorded as a whole.
type GraphKernelsMissing struct {
	Launches int `json:"launches"`
}

// NCCLCallsMissing reports an export with kernels of NCCL, and none of its calls.
type NCCLCallsMissing struct {
	Command string `json:"command"` // that exports them
}

// PayloadsMissing reports an export without what NCCL's ranges carry.
type PayloadsMissing struct {
	Command string `json:"command"` // that exports it
}

// KernelsInGraphs reports kernels of NCCL that ran in CUDA graphs.
type KernelsInGraphs struct {
	Kernels int `json:"kernels"`
	Of      int `json:"of"`
}

// NsightWarning reports a warning that Nsight Systems recorded.
type NsightWarning struct {
	Text string `json:"text"`
	Lost bool   `json:"lost,omitempty"` // events were lost
}

// Advice is for what was lost.
func (n NsightWarning) Advice() string {
	if !n.Lost {
		return ""
	}
	return "record less: a shorter time (--capture-range, --duration), and only " +
		"nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none …"
}

func (OwnTrace) Code() Code            { return "busbar-trace" }
func (SeveralDevices) Code() Code      { return "several-devices" }
func (NoGPUActivity) Code() Code       { return "no-gpu-activity" }
func (EmptyGraphs) Code() Code         { return "empty-graphs" }
func (GraphKernelsMissing) Code() Code { return "graph-kernels-missing" }
func (NCCLCallsMissing) Code() Code    { return "nccl-calls-missing" }
func (PayloadsMissing) Code() Code     { return "payloads-missing" }
func (KernelsInGraphs) Code() Code     { return "nccl-kernels-in-graphs" }
func (NsightWarning) Code() Code       { return "nsight-warning" }

const nvtxDoc = `NCCL's NVTX ranges have the sizes and communicators of its operations. Without them, times are known,
	but bandwidths are not.`

var traceNotes = []notice.Entry{
	{
		Example: OwnTrace{
			"busbar 1.0", "resnet50", "ddp 25M float32", "mpi", Computer{"1 thread of FMA", true, false}, true,
		},
		Severity: notice.Info,
		Text: `training steps of {Model}, run and recorded by {Tool} without a profiler ({Step}; {Backend};
			{Computing})`,
		Details: []string{"[{Events}]", "Measurements between the steps are left out: the steps follow each other."},
		Doc:     "rank --step writes a trace of one step of each rank. docs/step.md describes it.",
	},
	{
		Example: SeveralDevices{5, 2, 5}, Severity: notice.Info,
		Text: "the process of rank {Rank} used {Devices device}; the rank's is device {Main}, which ran most",
		Doc:  "A process may create a context on another device without computing there.",
	},
	{
		Example: NoGPUActivity{Kineto}, Severity: notice.Warning,
		Text: "the file has no GPU activity",
		Doc:  "A timeline needs GPU activity.",
	},
	{
		Example: EmptyGraphs{3}, Severity: notice.Warning,
		Text: `{Launches launch} of CUDA graphs without kernels in the file: what ran in them is missing and looks like
			idle time`,
		Advice: "profile with CUPTI of CUDA 12 or newer, which records the kernels of graphs, or without graphs",
		Doc:    "Older versions of CUPTI record the launch of a graph and none of its kernels.",
	},
	{
		Example: GraphKernelsMissing{3}, Severity: notice.Warning,
		Text: `{Launches launch} of CUDA graphs recorded without kernels: communication and computation in them are
			unknown`,
		Advice: "record them: nsys profile --cuda-graph-trace=node …",
		Doc:    "Nsight Systems records graphs as a whole unless asked for their nodes.",
	},
	{
		Example: NCCLCallsMissing{"nsys export … run.nsys-rep"}, Severity: notice.Warning,
		Text:   "NCCL ran, but its calls are not in this export: sizes and communicators of its operations are unknown",
		Advice: "record with nsys profile --trace=cuda,nvtx …, without NCCL_NVTX_DISABLE, then {Command}",
		Doc:    nvtxDoc,
	},
	{
		Example: PayloadsMissing{"nsys export … run.nsys-rep"}, Severity: notice.Warning,
		Text: `sizes and communicators of NCCL's operations are not in this export: it was made without the payloads of
			NVTX`,
		Advice: "export again: {Command}",
		Doc:    nvtxDoc,
	},
	{
		Example: KernelsInGraphs{12, 40}, Severity: notice.Warning,
		Text: `{Kernels} of {Of} kernels of NCCL ran in CUDA graphs, which have no calls: their sizes and communicators
			are unknown`,
		Doc: nvtxDoc,
	},
	{
		Example: NsightWarning{"Not all CUDA events might have been collected", true}, Severity: notice.Warning,
		Text: "Nsight Systems reports: {Text}",
		Doc:  "The file has diagnostics of the recording. Those on lost events concern all times.",
	},
}
