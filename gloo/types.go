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
	"time"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
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

	// Brings all ranks together before a batch of operations, with its context; nil: nothing does.
	Sync        loop.Step
	SyncContext unsafe.Pointer
}

// Device is what Gloo says of its network device.
type Device struct {
	Interface, Address string
}

// functions are the functions of Gloo, or what is done where it has none. reduce_scatter goes around the ring over
// Gloo's unbound buffers; sendrecv sends by these to the next rank.
var functions = map[coll.Collective]string{coll.AllReduce: "gloo::allreduce", coll.AllGather: "gloo::allgather",
	coll.ReduceScatter: "reduce_scatter over Gloo's buffers", coll.Broadcast: "gloo::broadcast",
	coll.Reduce: "gloo::reduce", coll.AllToAll: "gloo::alltoall", coll.Gather: "gloo::gather",
	coll.Scatter: "gloo::scatter", coll.SendRecv: "send and receive by Gloo's buffers"}
