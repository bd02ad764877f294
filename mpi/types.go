// Package mpi is a small binding of MPI, loaded at run time.
//
// Programs are built without any MPI. A C shim of ours (mpi/shim) is compiled once per MPI with its mpicc into
// lib/busbar-mpi-openmpi.so or lib/busbar-mpi-mpich.so; Load opens the one that fits the launcher, after the
// environment is set that keeps the library's signal handlers off Go's. It binds what a benchmark of collectives
// needs and no more, and it never pretends: without a library there is an error, not a world of one rank.
package mpi

import "unsafe"

// The MPI families whose shims have names of their own. Relatives of MPICH (Intel MPI, MVAPICH, Cray MPICH) are
// mpich here: they share its launcher's variables.
const (
	OpenMPI = "openmpi"
	MPICH   = "mpich"
)

// ThreadLevel is what MPI lets threads do.
type ThreadLevel int

// The thread levels, in MPI's order.
const (
	ThreadSingle     ThreadLevel = iota // one thread
	ThreadFunneled                      // only the thread that called Init calls MPI
	ThreadSerialized                    // one thread at a time
	ThreadMultiple                      // any thread at any time
)

func (t ThreadLevel) String() string {
	return name([]string{"single", "funneled", "serialized", "multiple"}, int(t))
}

// Info describes the loaded library. All but ThreadLevel is known before Init.
type Info struct {
	Family      string // openmpi, mpich, or another family's own word
	Name        string // short: "Open MPI 4.1.4"
	Library     string // first line of the library's version string
	LibraryFull string // all of it
	Standard    string // version of the MPI standard that the library follows: "3.1"
	CompiledFor string // the MPI that the shim was compiled with: "Open MPI 4.1.4"
	LibMPIPath  string // file of libmpi
	BuildID     string // its GNU build id; "" if it has none
	ShimPath    string
	// "native": counts past 2³¹ by the _c functions; "parts": by several calls or a derived type
	LargeCounts string
	ThreadLevel ThreadLevel // granted by Init
}

// Kind is a collective operation that can be measured.
type Kind int

// The measured collectives.
const (
	AllReduce     Kind = iota + 1 // MPI_Allreduce
	AllGather                     // MPI_Allgather
	ReduceScatter                 // MPI_Reduce_scatter_block
	Broadcast                     // MPI_Bcast
	Reduce                        // MPI_Reduce
	AllToAll                      // MPI_Alltoall
	Gather                        // MPI_Gather
	Scatter                       // MPI_Scatter
	SendRecv                      // MPI_Sendrecv: to the next rank, from the previous one
)

var functions = []string{"", "MPI_Allreduce", "MPI_Allgather", "MPI_Reduce_scatter_block", "MPI_Bcast", "MPI_Reduce",
	"MPI_Alltoall", "MPI_Gather", "MPI_Scatter", "MPI_Sendrecv"}

// String is the MPI function.
func (k Kind) String() string { return name(functions, int(k)) }

func (k Kind) reduces() bool { return k == AllReduce || k == ReduceScatter || k == Reduce }

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

// The reductions. Avg is Sum and a division by the number of ranks, for measured operations only.
const (
	Sum Op = iota + 1
	Prod
	Min
	Max
	Avg
)

func (o Op) String() string { return name([]string{"", "sum", "prod", "min", "max", "avg"}, int(o)) }

// OpSpec is one operation to be measured. Its buffers are memory outside Go's heap (loop.AllocBuffer) and must live
// until Operation.Close.
//
// With base = Count, n = ranks, and where the operation has a buffer at all:
//
//	                 Send           Recv
//	AllReduce        base           base
//	AllGather        base           n·base
//	ReduceScatter    n·base         base
//	Broadcast        -              base, on every rank; always InPlace
//	Reduce           base           base at the root
//	AllToAll         n·base         n·base
//	Gather           base           n·base at the root
//	Scatter          n·base, root   base
//	SendRecv         base           base
//
// InPlace: Recv is the one buffer of every rank and holds the larger of the two, Send is not looked at. The input of
// AllGather lies at its own share (rank·base), that of Gather too, at the root; the output of ReduceScatter comes to
// the front; the root's share of Scatter stays where it is.
type OpSpec struct {
	Kind    Kind
	Type    Type
	Op      Op  // of AllReduce, ReduceScatter and Reduce; else 0
	Root    int // of Broadcast, Reduce, Gather and Scatter
	InPlace bool

	Send, Recv unsafe.Pointer
	Count      int64 // elements, see above

	// Operation i uses the buffers at Send + (i mod Slots)·SendStride and Recv + (i mod Slots)·RecvStride, in bytes.
	// Slots of 0 or 1 is one place.
	Slots                  int
	SendStride, RecvStride int64

	// Operations for each one that the loop issues (nccl-tests' -m); 0 is 1.
	Aggregate int
}

// UnsupportedError says what MPI, or this MPI, cannot do.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string { return e.Reason }
