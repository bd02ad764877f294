// Package gloo is a small binding of Gloo, loaded at run time.
//
// Programs are built without Gloo and without a C++ compiler. A shim of ours (gloo/shim, C++) is compiled once where
// libgloo-dev is, into lib/busbar-gloo.so, and Load opens it. A context is made in steps around an exchange of
// addresses that the caller does by its own means: there is no store, no port to choose, and nothing that could be in
// use.
//
// It binds what a benchmark of collectives needs and no more. It knows no launcher and no MPI.
package gloo

import (
	"strconv"
	"time"
	"unsafe"
)

// Info describes the loaded library.
type Info struct {
	Version  string // of the headers that the shim was compiled with: "0.5.0"
	Path     string // file of libgloo
	BuildID  string // its GNU build id; "" if it has none
	ShimPath string
}

// Options say how a context is made.
type Options struct {
	Rank, Size int

	// The network: an interface's name, or an address that belongs to this host (Choose finds one). With neither, Gloo
	// takes the address of the host's name.
	Interface, Address string

	// How long another rank may take to connect, and how long to come to an operation. 0: a minute, and a day: who
	// measures has a watchdog of its own.
	ConnectTimeout, Timeout time.Duration

	// Where the thread that Gloo starts may run; empty: where the calling thread may.
	CPUs []int
	// SCHED_BATCH for that thread: it then preempts nobody.
	Batch bool
}

// Device is what Gloo says of its network device.
type Device struct {
	Interface string
	Address   string
	SpeedMbps int // of the interface, as the system knows it; below 0 if it does not
}

// Kind is a collective operation that can be measured.
type Kind int

// The measured collectives.
const (
	AllReduce Kind = iota + 1
	AllGather
	ReduceScatter // around the ring over Gloo's unbound buffers: Gloo has no such function
	Broadcast
	Reduce
	AllToAll
	Gather
	Scatter
	SendRecv // to the next rank, from the previous one, by Gloo's unbound buffers
)

var functions = []string{"", "gloo::allreduce", "gloo::allgather", "reduce_scatter over Gloo's buffers",
	"gloo::broadcast",
	"gloo::reduce", "gloo::alltoall", "gloo::gather", "gloo::scatter", "send and receive by Gloo's buffers"}

// String is the function of Gloo, or what is done where it has none.
func (k Kind) String() string { return name(functions, int(k)) }

func (k Kind) reduces() bool { return k == AllReduce || k == ReduceScatter || k == Reduce }

func (k Kind) rooted() bool { return k == Broadcast || k == Reduce || k == Gather || k == Scatter }

// shared says whether the count is that of one rank's share.
func (k Kind) shared() bool {
	return k == AllGather || k == ReduceScatter || k == AllToAll || k == Gather || k == Scatter
}

// Type is the type of one element.
type Type int

// The element types.
const (
	Int8 Type = iota + 1
	UInt8
	Int32
	UInt32
	Int64
	UInt64
	Float16
	BFloat16
	Float32
	Float64
)

var types = []struct {
	name string
	size int64
}{{}, {"int8", 1}, {"uint8", 1}, {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8}, {"float16", 2},
	{"bfloat16", 2}, {"float32", 4}, {"float64", 8}}

func (t Type) valid() bool { return t >= Int8 && t <= Float64 }

func (t Type) String() string {
	if !t.valid() {
		return name(nil, int(t))
	}
	return types[t].name
}

// Size is the size of one element in bytes; 0 for no type.
func (t Type) Size() int64 {
	if !t.valid() {
		return 0
	}
	return types[t].size
}

// Op is a reduction.
type Op int

// The reductions. Avg is Sum and a division by the number of ranks.
const (
	Sum Op = iota + 1
	Prod
	Min
	Max
	Avg
)

func (o Op) String() string { return name([]string{"", "sum", "prod", "min", "max", "avg"}, int(o)) }

// Algorithm is how Gloo does an all_reduce.
type Algorithm int

// The algorithms of Gloo's all_reduce. Ring is its default.
const (
	Ring Algorithm = iota
	BCube
)

func (a Algorithm) String() string { return name([]string{"ring", "bcube"}, int(a)) }

// OpSpec is one operation to be measured. Its buffers are memory outside Go's heap (loop.AllocBuffer) and must live
// until Operation.Close.
//
// With base = Count, n = ranks, and where the operation has a buffer at all:
//
//	                 Send           Recv
//	AllReduce        base           base
//	AllGather        base           n·base
//	ReduceScatter    n·base         base
//	Broadcast        base, root     base, on every rank
//	Reduce           base           base at the root
//	AllToAll         n·base         n·base
//	Gather           base           n·base at the root
//	Scatter          n·base, root   base
//	SendRecv         base           base
//
// InPlace: Recv is the one buffer of every rank and holds the larger of the two, Send is not looked at. The input of
// AllGather lies at its own share (rank·base), that of Gather too, at the root; the output of ReduceScatter comes to
// the front; the root's share of Scatter stays where it is. Reduce leaves partial results in the buffers of the ranks
// that are not the root. AllToAll and SendRecv have no such form.
type OpSpec struct {
	Kind      Kind
	Type      Type
	Op        Op        // of AllReduce, ReduceScatter and Reduce; else 0
	Algorithm Algorithm // of AllReduce
	Root      int       // of Broadcast, Reduce, Gather and Scatter
	InPlace   bool

	Send, Recv unsafe.Pointer
	Count      int64 // elements, see above; with 0 nothing is sent and nobody waits

	// Operation i uses the buffers at Send + (i mod Slots)·SendStride and Recv + (i mod Slots)·RecvStride, in bytes.
	// Slots of 0 or 1 is one place.
	Slots                  int
	SendStride, RecvStride int64

	// Operations for each one that the loop issues (nccl-tests' -m); 0 is 1.
	Aggregate int

	// The C function that brings all ranks together before a batch (busbar_step, internal/loop/loop.h) and its context;
	// nil: nothing does.
	Sync, SyncContext unsafe.Pointer
}

// UnsupportedError says what Gloo cannot do.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string { return e.Reason }

func name(names []string, i int) string {
	if i < 0 || i >= len(names) || names[i] == "" {
		return "(" + strconv.Itoa(i) + ")"
	}
	return names[i]
}
