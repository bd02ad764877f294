// Package operation is what the bindings of MPI, Gloo and NCCL have in common: the operation that they bind, and the
// error of one that a library does not have. Whoever calls a binding checks first that the library has the data type,
// the reduction and the placement.
package operation

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"busbar/internal/coll"
)

// Spec is a case and the places in its buffers that operations use in turn. Of the case only the collective, type,
// reduction, root, placement and count are used.
//
// With base = Count, n = ranks, and where the operation has a buffer at all:
//
//	                 Send           Recv           in place, NCCL: Send is
//	AllReduce        base           base           Recv
//	AllGather        base           n·base         Recv + rank·base
//	ReduceScatter    n·base         base           Recv - rank·base
//	Broadcast        base, root     base           Recv
//	Reduce           base           base, root     Recv
//	AllToAll         n·base         n·base         -
//	Gather           base           n·base, root   Recv + rank·base
//	Scatter          n·base, root   base           Recv - rank·base
//	SendRecv         base           base           -
//	AllToAllV        of Sends       of Receives    -
type Spec struct {
	coll.Case

	// Operation i uses the buffers at Send + (i mod Slots)·SendStride and Recv + (i mod Slots)·RecvStride, in bytes.
	// Slots of 0 or 1 is one place.
	Slots                  int
	SendStride, RecvStride int64

	// Operations for each one that the loop issues (nccl-tests' -m); 0 is 1.
	Aggregate int
}

// Splits are the elements that a rank of that many sends to each rank, and receives from each, as C arrays of int64_t;
// nil but for an AllToAllV. They are pinned until the caller unpins them.
func (s Spec) Splits(rank, ranks int, pinned *runtime.Pinner) (sends, receives unsafe.Pointer) {
	if s.Collective != coll.AllToAllV {
		return nil, nil
	}
	s.World = ranks
	to, from := s.Sends(rank), s.Receives(rank)
	pinned.Pin(&to[0])
	pinned.Pin(&from[0])
	return unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0])
}

// RootRank is the root for libraries, which require a valid rank also without a root.
func (s Spec) RootRank() int { return max(0, s.Root) }

// Host is an operation on host memory outside Go's heap (loop.AllocBuffer), which must live until it is closed.
//
// In place, Recv is the one buffer of every rank and holds the larger of the two, and Send is not used. The input of
// AllGather lies at its own share (rank·base), that of Gather too, at the root; the output of ReduceScatter comes to
// the front; the root's share of Scatter stays where it is.
type Host struct {
	Spec
	Send, Recv unsafe.Pointer
}

// UnsupportedError is the error for an operation that a library does not support.
type UnsupportedError struct{ Reason string }

func (e *UnsupportedError) Error() string { return e.Reason }

// Unsupported returns an *UnsupportedError.
func Unsupported(format string, args ...any) error {
	return &UnsupportedError{Reason: fmt.Sprintf(format, args...)}
}

// Functions gives the collectives, in the order of coll.Collectives, their names of a list that is separated by commas.
func Functions(names string) map[coll.Collective]string {
	all, list := map[coll.Collective]string{}, strings.Split(names, ",")
	for i, c := range coll.Collectives() {
		all[c] = strings.TrimSpace(list[i])
	}
	return all
}
