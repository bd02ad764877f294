package profiles

import (
	"fmt"
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

	Events bool `json:"device_times,omitempty"`
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
type GraphKernelsMissing EmptyGraphs

// NCCLCallsMissing reports an export with kernels of NCCL, and none of its calls.
type NCCLCallsMissing struct {
	Command string `json:"command"` // that exports them
}

// PayloadsMissing reports an export without what NCCL's ranges carry.
type PayloadsMissing NCCLCallsMissing

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
