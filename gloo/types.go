// Package gloo is a small binding of Gloo, loaded at run time.
//
// Programs are built without Gloo and without a C++ compiler. A shim of ours (gloo/shim, C++) is compiled once where
// libgloo-dev is, into lib/busbar-gloo.so, and Load opens it. A context is made in steps around an exchange of
// addresses that the caller does by its own means: there is no store, no port to choose, and nothing that could be in
// use.
//
// It binds what a benchmark of collectives needs and no more. It knows no launcher and no MPI.
package gloo

import "busbar/internal/operation"

// Info describes the loaded library.
type Info struct {
	Version  string // of the headers that the shim was compiled with: "0.5.0"
	Path     string // file of libgloo
	BuildID  string // its GNU build id; "" if it has none
	ShimPath string
}

// Device is Gloo's description of its network device.
type Device struct {
	Interface, Address string
}

// functions are the functions of Gloo, or what is done where it has none. reduce_scatter goes around the ring over
// Gloo's unbound buffers; sendrecv sends by these to the next rank.
var functions = operation.Functions(`
	gloo::allreduce, gloo::allgather, reduce_scatter over Gloo's buffers, gloo::broadcast, gloo::reduce,
	gloo::alltoall, gloo::gather, gloo::scatter, send and receive by Gloo's buffers, gloo::alltoallv`)
