// Package trace reads what profilers wrote about GPUs: Kineto traces of PyTorch and SQLite exports of Nsight Systems.
// It says what happened when, on which stream, and what the file tells of a collective; what is communication and what
// that means is the work of package timeline.
//
// Files are read in one pass, and of a file only what runs on GPUs is kept, with the steps and the calls that launched
// it.
package trace

import (
	"cmp"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// File is what one file holds.
type File struct {
	Path   string
	Format Format
	Tool   string // which program wrote it, as far as the file tells: "Nsight Systems 2026.2.1"
	Cut    string // why it ends early, and how far it was read; "" where it is whole

	Own     *Own          // of a step of rank --step; nil in files of profilers
	Devices []*Device     // by process and number
	Notes   []notice.Fact // what a reader of values from this file has to know
}

// Own describes a step in a trace that rank --step wrote.
type Own struct {
	Tool      string `json:"tool"` // "busbar 0.9.0"
	Run       string `json:"run"`  // ID of the run
	Point     int    `json:"point"`
	Model     string `json:"model"`
	Step      string `json:"step"` // the point in words
	Backend   string `json:"backend"`
	Computing string `json:"computing"` // what computed
	OnHost    bool   `json:"on_host"`   // no GPU computed
	Rehearsed bool   `json:"rehearsed"`
	Host      string `json:"host"`

	NonBlocking bool `json:"non_blocking"` // operations are begun, and looked after later
}

// Fact is what it is.
func (o *Own) Fact() profiles.OwnTrace {
	return profiles.OwnTrace{
		Tool: o.Tool, Model: o.Model, Step: o.Step, Backend: o.Backend,
		Computing: profiles.Computer{By: o.Computing, OnHost: o.OnHost, Simulated: o.Rehearsed},
		Events:    profiles.EventTimes(!o.OnHost && !o.Rehearsed),
	}
}

// Format is the kind of a file.
type Format string

// The formats.
const (
	Kineto Format = "kineto" // chrome trace JSON, as torch.profiler writes it
	Nsight Format = "nsight" // SQLite export of Nsight Systems
)

// Unknown stands for a number, a time or a size that the file does not tell.
const Unknown = -1

// Device is one GPU as one process used it.
type Device struct {
	Rank     int    // of the world; Unknown
	RankFrom string // where the rank was read: "distributedInfo", "file name", …; "" where it is not known
	World    int    // ranks; 0: not known
	Host     string // "" where it is not known
	Process  int64  // pid; Unknown
	ID       int    // number of the device in its process
	GPU      string // its name
	NCCL     string // version, as the file spells it

	Origin     int64 // nanoseconds since 1970 of time 0; Unknown
	Names      []string
	Activities []Activity // by Start; of equal starts the longer first
	Calls      []Call     // of collectives; Activity.Call says which
	Groups     []Group    // communicators; Call.Group says which
	Ranges     []Range    // of the host, by Start: steps of the profiler, annotations, NVTX
}

// NoTime stands for a moment that is not known.
const NoTime = -1 << 63

// Span is from one moment to another, in nanoseconds since the device's Origin.
type Span struct{ Start, End int64 }

// compare orders by start, the longer first.
func (s Span) compare(o Span) int {
	return cmp.Or(cmp.Compare(s.Start, o.Start), cmp.Compare(o.End, s.End))
}

// Activity is one thing that ran on a device. Times are nanoseconds since the device's Origin; End is never before
// Start.
type Activity struct {
	Start, End int64
	Launch     int64 // when the host's call that launched it began; NoTime
	Bytes      int64 // of a copy or a memset; Unknown
	Name       int32 // index in Device.Names
	Stream     int32 // as the profiler numbers them
	Call       int32 // index in Device.Calls; Unknown
	Kind       Kind
	Graph      bool // it was launched as part of a CUDA graph
}

// Kind is what sort of activity it is.
type Kind uint8

// The kinds of activities.
const (
	Kernel Kind = iota
	MemcpyHostToDevice
	MemcpyDeviceToHost
	MemcpyDeviceToDevice
	MemcpyPeer  // between devices
	MemcpyOther // of an unknown direction
	Memset
	GraphTrace // a whole CUDA graph, whose kernels the file does not have
)

// Memcpy says whether it is a copy of any direction.
func (k Kind) Memcpy() bool { return k >= MemcpyHostToDevice && k <= MemcpyOther }

// Call is what the file says of a collective. Several activities may be of one call, and one activity, a group, of
// several: then its Call is the first, and Parts counts them.
type Call struct {
	Name  string          // as the file spells it: "allreduce", "_allgather_base", "ncclAllReduce"
	What  coll.Collective // Other where it is none of ours: send, recv, a group of different ones
	Bytes int64           // S as nccl-tests counts it, of the whole collective (CONTRIBUTING: internal/coll); Unknown
	Type  string          // of the data, in our spelling where it is one of ours: "float32"; "" where it is not known
	Group int32           // index in Device.Groups; Unknown
	Seq   int64           // its number within the group, where the file has one; Unknown
	Peer  int             // rank in the group that it sends to or receives from; Unknown
	// calls in one kernel; 1 or more. Bytes are those of all of them, and What is Other where they are not the same
	Parts int
}

// Group is a communicator (a process group).
type Group struct {
	Name  string // what tells it from others across ranks: name of the process group, hash of the communicator
	About string // its description: "default_pg", "tensor parallel"; ""
	Ranks []int  // of the world, in its order; nil where the file has not all of them
	Size  int    // ranks; 0: not known
	Rank  int    // of this device in it; Unknown
}

// Range is a span of the host that has a name.
type Range struct {
	Span
	Name string
}
