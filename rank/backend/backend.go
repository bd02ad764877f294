// Package backend has the libraries that rank measures, each behind the same two interfaces: a Library is opened once
// for a launch, and opens a Backend in each world. A library gets a Host, and knows nothing else of the program. What
// only some libraries have are optional interfaces (capabilities.go).
//
// A new library is an adapter in this package and its line in kinds.
package backend

import (
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// Library is what a backend measures, as this rank has it, loaded once for a launch.
type Library interface {
	// Name is the backend's in files and tables.
	Name() string
	Facts() result.Backend
	// Device is what the ranks compute on: a processor's or a GPU's name.
	Device() string
	// Unfit is the reason why a world of that size cannot be measured, as what follows "it"; "" if it can. It is the
	// same on all ranks.
	Unfit(world int) string
	// Open makes the library ready for a world. Collective over it.
	Open(*World, Method) (Backend, error)
}

// Backend is a library in one world.
type Backend interface {
	bench.Backend
	// Memory is what the buffers of a case take on this rank, in bytes.
	Memory(coll.Case) float64
	// Room is how many bytes of buffers every rank may have, and on rank 0 what bounds them. Collective.
	Room() (most float64, limit notice.MemoryLimit, err error)
	// Reserve allocates at least so many bytes, in place of what was reserved before, for the buffers of every case.
	// Pages are touched by this rank when a case first fills them.
	Reserve(bytes int64) error
	// Ready is called when the buffers are reserved, before the first case. Collective.
	Ready() error
	// Close ends the world. Collective.
	Close() error
}
