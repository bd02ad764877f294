// Package mpi is a small binding of MPI, loaded at run time.
//
// Programs are built without any MPI. A C shim of ours (mpi/shim) is compiled once per MPI with its mpicc into
// lib/busbar-mpi-openmpi.so or lib/busbar-mpi-mpich.so; Load opens the one that fits the launcher, after the
// environment is set that keeps the library's signal handlers off Go's. It binds what a benchmark of collectives
// needs and no more, and it never pretends: without a library it returns an error, not a world size of 1.
package mpi

import "busbar/internal/operation"

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
	return []string{"single", "funneled", "serialized", "multiple"}[t]
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

// functions are the MPI functions of the collectives.
var functions = operation.Functions(`
	MPI_Allreduce, MPI_Allgather, MPI_Reduce_scatter_block, MPI_Bcast, MPI_Reduce, MPI_Alltoall, MPI_Gather,
	MPI_Scatter, MPI_Sendrecv, MPI_Alltoallv`)
