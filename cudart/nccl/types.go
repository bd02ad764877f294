// Package nccl is a small binding of NCCL and of every library with its ABI (NCCLX, MSCCL++), loaded at run time.
//
// Programs are built without NCCL's headers: nccl.h has one table of the functions with types of our own, filled from
// the library by name. What a library can do is found by its symbols and by the results of calls, never by its version
// number. CUDA's streams and device memory are the caller's; the package knows them as addresses.
package nccl

import (
	"fmt"
	"strconv"
)

// The names of the libraries that Load tells apart.
const (
	NameNCCL      = "NCCL"
	NameNCCLX     = "NCCLX"
	NameMSCCLPP   = "MSCCL++"
	NameRehearsal = "NCCL rehearsal"
)

// Info describes a loaded library.
type Info struct {
	Name      string // one of the names above
	Version   string // "2.27.7"
	Code      int    // as ncclGetVersion gives it: 22707
	CUDA      string // the version of CUDA that it was built for: "12.9"; "" if it does not say
	Path      string
	BuildID   string   // its GNU build id; "" if it has none
	Rehearsed bool     // a stand-in on host memory: its figures are no GPU's
	Missing   []string // functions that newer versions of NCCL have and this library has not
}

// Kind is a collective operation that can be measured.
type Kind int

// The measured collectives.
const (
	AllReduce     Kind = iota + 1 // ncclAllReduce
	AllGather                     // ncclAllGather
	ReduceScatter                 // ncclReduceScatter
	Broadcast                     // ncclBroadcast
	Reduce                        // ncclReduce
	AllToAll                      // ncclAlltoAll, or ncclSend and ncclRecv in a group
	Gather                        // ncclGather, or the same
	Scatter                       // ncclScatter, or the same
	SendRecv                      // ncclSend to the next rank and ncclRecv from the previous one in a group
)

var functions = []string{"", "ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast", "ncclReduce",
	"ncclAlltoAll", "ncclGather", "ncclScatter", "ncclSend and ncclRecv"}

// String is the function of NCCL.
func (k Kind) String() string { return word(functions, int(k)) }

func (k Kind) reduces() bool { return k == AllReduce || k == ReduceScatter || k == Reduce }

// shared says whether the count is that of one rank's share.
func (k Kind) shared() bool {
	return k == AllGather || k == ReduceScatter || k == AllToAll || k == Gather || k == Scatter
}

func (k Kind) rooted() bool { return k == Broadcast || k == Reduce || k == Gather || k == Scatter }

// Type is the type of one element.
type Type int

// The element types, in NCCL's order.
const (
	Int8 Type = iota + 1
	UInt8
	Int32
	UInt32
	Int64
	UInt64
	Float16
	Float32
	Float64
	BFloat16   // since 2.10
	Float8E4M3 // since 2.24; reductions need compute capability 9.0
	Float8E5M2
)

var types = []struct {
	name string
	size int64
}{{}, {"int8", 1}, {"uint8", 1}, {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8}, {"float16", 2},
	{"float32", 4}, {"float64", 8}, {"bfloat16", 2}, {"float8e4m3", 1}, {"float8e5m2", 1}}

func (t Type) valid() bool { return t >= Int8 && t <= Float8E5M2 }

func (t Type) String() string {
	if !t.valid() {
		return word(nil, int(t))
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

// The reductions, in NCCL's order.
const (
	Sum Op = iota + 1
	Prod
	Max
	Min
	Avg       // since 2.10
	PreMulSum // the sum of every rank's input times PreMulFactor; since 2.11
)

// PreMulFactor is what PreMulSum multiplies every input by; it is exact in all types.
const PreMulFactor = 2

func (o Op) String() string {
	return word([]string{"", "sum", "prod", "max", "min", "avg", "premulsum"}, int(o))
}

// UnsupportedError says what this library, or NCCL, cannot do.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string { return e.Reason }

func unsupported(format string, args ...any) error {
	return &UnsupportedError{Reason: fmt.Sprintf(format, args...)}
}

// IDBytes is the size of an ID.
const IDBytes = 128

// ID is NCCL's unique id: one rank makes it, and all ranks of a communicator give it to Init.
type ID [IDBytes]byte

func word(words []string, i int) string {
	if i < 0 || i >= len(words) || words[i] == "" {
		return "(" + strconv.Itoa(i) + ")"
	}
	return words[i]
}
