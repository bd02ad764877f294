//go:build cgo

package nccl

import (
	"unsafe"

	"busbar/internal/loop"
)

// OpSpec is one operation to be measured. Its buffers are device memory and must live until Operation.Close. It has
// many fields because each is one argument of NCCL's calls, of their graph or of the loop around them.
//
// With base = Count, n = ranks, and where the operation has a buffer at all:
//
//	                 Send           Recv           in place: Send is
//	AllReduce        base           base           Recv
//	AllGather        base           n·base         Recv + rank·base
//	ReduceScatter    n·base         base           Recv - rank·base
//	Broadcast        base, root     base           Recv
//	Reduce           base           base, root     Recv
//	AllToAll         n·base         n·base         -
//	Gather           base           n·base, root   Recv + rank·base
//	Scatter          n·base, root   base           Recv - rank·base
//	SendRecv         base           base           -
type OpSpec struct {
	Kind Kind
	Type Type
	Op   Op  // of AllReduce, ReduceScatter and Reduce; else 0
	Root int // of Broadcast, Reduce, Gather and Scatter

	Send, Recv uint64 // device addresses
	Count      int64  // elements, see above

	// Operation i uses the buffers at Send + (i mod Slots)·SendStride and Recv + (i mod Slots)·RecvStride, in bytes.
	// Slots of 0 or 1 is one place.
	Slots                  int
	SendStride, RecvStride int64

	// Operations for each one that the loop issues, in one group (nccl-tests' -m); 0 is 1.
	Aggregate int

	Stream unsafe.Pointer // CUstream
	Cuda   unsafe.Pointer // *struct busbar_cuda (cudart/cuda.h): the driver's functions

	// Sync brings the ranks together before a batch; nil for nothing. What it returns is its own library's.
	Sync        loop.Step
	SyncContext unsafe.Pointer

	// With Graph of g > 0, what the loop issues is a launch of a CUDA graph of g operations (or groups, with
	// Aggregate), captured when it is first issued: operations 0 to g-1, so g should be a multiple of Slots.
	Graph int

	// With Events of b > 0, the device's times of up to b batches are kept (Operation.Times), by an event before the
	// first and one behind the last operation of each.
	Events int

	// The algorithms that the library may use, in its own words (ncclCollConfig_t's algSelection); "" leaves it the
	// choice. Where none of them can be had issuing fails. SendRecv has none, nor has what is done by sends and
	// receives.
	Algorithms string
}
