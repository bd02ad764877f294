package main

import (
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// library is what a backend measures, as this rank has it, loaded once for a launch.
type library interface {
	// name is the backend's in files and tables.
	name() string
	facts() result.Backend
	// device is what the ranks compute on: a processor's or a GPU's name.
	device() string
	// unfit says why a world of so many ranks cannot be measured, as what follows "it"; "" if it can. It is the same on
	// all ranks.
	unfit(world int) string
	// open makes the library ready for a world. Collective over it.
	open(*World, Method) (backend, error)
}

// backend is a library in one world.
type backend interface {
	bench.Backend
	// memory is what the buffers of a case take on this rank, in bytes.
	memory(coll.Case) float64
	// room is how many bytes of buffers every rank may have, and on rank 0 what bounds them. Collective.
	room() (most float64, limit notice.MemoryLimit, err error)
	// reserve allocates at least so many bytes, in place of what was reserved before, for the buffers of every case. Pages
	// are touched by this rank when a case first fills them.
	reserve(bytes int64) error
	// ready is called when the buffers are reserved, before the first case. Collective.
	ready() error
	// close ends the world. Collective.
	close() error
}

// onHosts says whether a backend measures on the memory of hosts, without a GPU.
func onHosts(backend string) bool { return backend == "mpi" || backend == "gloo" }

// places says which placements a backend has for a collective.
func places(backend string) func(coll.Collective) []coll.Placement {
	if backend == "mpi" {
		return mpiPlaces
	}
	return ncclPlaces
}
