// Package nccl is a small binding of NCCL and of every library with its ABI (NCCLX, MSCCL++), loaded at run time.
//
// Programs are built without NCCL's headers: nccl.h has one table of the functions with types of our own, filled from
// the library by name. The package detects features by symbols and by the results of calls, never by its version
// number. CUDA's streams and device memory are the caller's; the package knows them as addresses.
package nccl

import "busbar/internal/operation"

// The names of the libraries that Load distinguishes.
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
	CUDA      string // the version of CUDA that it was built for: "12.9"; "" if unknown
	Path      string
	BuildID   string   // its GNU build id; "" if it has none
	Rehearsed bool     // simulated on host memory: its values are not a GPU's
	Missing   []string // functions that newer versions of NCCL have and this library has not
}

// functions are the functions of NCCL; alltoall, gather and scatter are done by ncclSend and ncclRecv in a group where
// the library lacks them, and sendrecv always is.
var functions = operation.Functions(`
	ncclAllReduce, ncclAllGather, ncclReduceScatter, ncclBroadcast, ncclReduce, ncclAlltoAll, ncclGather,
	ncclScatter, ncclSend and ncclRecv, ncclAlltoAllv`)

// PreMulFactor is what ncclRedOpCreatePreMulSum multiplies every input by (coll.MulSum); it is exact in all types.
const PreMulFactor = 2

// IDBytes is the size of an ID.
const IDBytes = 128

// ID is NCCL's unique id: one rank makes it, and all ranks of a communicator give it to Init.
type ID [IDBytes]byte
