// Package trace reads what profilers wrote about GPUs: Kineto traces of PyTorch and SQLite exports of Nsight Systems.
// It returns what ran when, on which stream, and the recorded parameters of collectives; package timeline interprets
// them.
//
// It reads a file in one pass and keeps only GPU activities, their launches, and steps.
package trace

import (
	"cmp"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// File is the content of one file.
type File struct {
	Path   string
	Format Format
	Tool   string // program that wrote it, if recorded: "Nsight Systems 2026.2.1"
	Cut    string // why the file is truncated, and how far it was read; "" if complete

	Own     *Own          // of a step of rank --step; nil in files of profilers
	Devices []*Device     // by process and number
	Notes   []notice.Fact // limits of this file's values
}

// Own describes the step in a trace written by rank --step.
type Own struct {
	Tool      string `json:"tool"` // "busbar 0.9.0"
	Run       string `json:"run"`  // ID of the run
	Point     int    `json:"point"`
	Model     string `json:"model"`
	Step      string `json:"step"` // the point as text
	Backend   string `json:"backend"`
	Computing string `json:"computing"` // compute implementation
	OnHost    bool   `json:"on_host"`   // no GPU computed
	Rehearsed bool   `json:"rehearsed"`
	Host      string `json:"host"`

	NonBlocking bool `json:"non_blocking"` // operations are started, then polled
}

// Fact returns the notice about this trace.
func (o *Own) Fact() profiles.OwnTrace {
	return profiles.OwnTrace{
		Tool: o.Tool, Model: o.Model, Step: o.Step, Backend: o.Backend,
		Computing: profiles.Computer{By: o.Computing, OnHost: o.OnHost, Simulated: o.Rehearsed},
		Events:    !o.OnHost && !o.Rehearsed,
	}
}

// Format is a file format.
type Format string

// The formats.
const (
	Kineto Format = "kineto" // chrome trace JSON, as torch.profiler writes it
	Nsight Format = "nsight" // SQLite export of Nsight Systems
)

// Unknown is a number, a time or a size that the file does not record.
const Unknown = -1

// Device is one GPU as one process used it.
type Device struct {
	Rank    int    // world rank; Unknown
	World   int    // world size; 0: unknown
	Host    string // "" if unknown
	Process int64  // pid; Unknown
	ID      int    // number of the device in its process
	GPU     string // its name
	NCCL    string // version, as in the file

	Origin     int64 // nanoseconds since 1970 of time 0; Unknown
	Names      []string
	Activities []Activity // by Start; the longer first if equal
	Calls      []Call     // collectives; see Activity.Call
	Groups     []Group    // communicators; see Call.Group
	Ranges     []Range    // host ranges by Start: steps of the profiler, annotations, NVTX
}

// NoTime is an unknown time.
const NoTime = -1 << 63

// Span is a time span in nanoseconds since the device's Origin.
type Span struct{ Start, End int64 }

// compare orders by start, then the longer first.
func (s Span) compare(o Span) int {
	return cmp.Or(cmp.Compare(s.Start, o.Start), cmp.Compare(o.End, s.End))
}

// Activity is a kernel, copy or memset on a device. Times are nanoseconds since the device's Origin; End is never
// before Start.
type Activity struct {
	Start, End int64
	Launch     int64 // start of the host call that launched it; NoTime
	Bytes      int64 // of copies and memsets; Unknown
	Name       int32 // index in Device.Names
	Stream     int32 // profiler's number
	Call       int32 // index in Device.Calls; Unknown
	Kind       Kind
	Graph      bool // launched as part of a CUDA graph
}

// Kind is the kind of an activity.
type Kind uint8

// The kinds.
const (
	Kernel Kind = iota
	MemcpyHostToDevice
	MemcpyDeviceToHost
	MemcpyDeviceToDevice
	MemcpyPeer  // between devices
	MemcpyOther // of unknown direction
	Memset
	GraphTrace // a whole CUDA graph without its kernels
)

// Memcpy reports whether it is a copy, of any direction.
func (k Kind) Memcpy() bool { return k >= MemcpyHostToDevice && k <= MemcpyOther }

// Call is a collective as recorded in the file. A call may have several activities. An activity of several calls (a
// group) has the first as its Call, and Parts counts them.
type Call struct {
	Name  string          // as in the file: "allreduce", "_allgather_base", "ncclAllReduce"
	What  coll.Collective // Other for send, recv, or a group of different calls
	Bytes int64           // S as nccl-tests counts it, of the whole collective (CONTRIBUTING: internal/coll); Unknown
	Type  string          // data type by our name if it has one: "float32"; "" if unknown
	Group int32           // index in Device.Groups; Unknown
	Seq   int64           // its number within the group; Unknown
	Peer  int             // rank of the peer in the group; Unknown
	// calls in one kernel, at least 1. Bytes is their total; What is Other if they differ
	Parts int

	Splits *Splits // of an all-to-all; nil: none in the file
}

// Splits are how one rank divides an all-to-all among the ranks of its group.
type Splits struct{ Sent, Received Rows }

// Rows are the parts of one side.
type Rows struct {
	Of    []int64 // rows of the tensor, by rank of the group; Unknown where torch truncated the list; nil: unknown
	Bytes int64   // of all rows; Unknown
}

// Group is a communicator (a process group).
type Group struct {
	Name  string // identifies it across ranks: name of the process group, or hash of the communicator
	About string // its description: "default_pg", "tensor parallel"; ""
	Ranks []int  // world ranks in order; nil if incomplete in the file
	Size  int    // ranks; 0: unknown
	Rank  int    // this device's rank in it; Unknown
}

// Range is a named span of the host.
type Range struct {
	Span
	Name string
}
