package backend

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/step"
)

// Simulation is the backend's name where the CUDA driver and NCCL are simulated.
const Simulation = "nccl-rehearsal"

// kind is a backend as flags, plans and checks need to know it before its library is loaded.
type kind struct {
	name   string
	open   func(h *Host, worlds []int) (Library, error)
	places func(coll.Collective) []coll.Placement
	hosts  bool // it measures on the memory of hosts, without a GPU
	ncclx  bool // its library must be NCCLX
	// How communication can progress beside computing, and what is measured by default; none on a GPU, where a stream
	// does it.
	progress, usual []step.Progress
}

// kinds are all backends; the simulation is chosen by --simulate.
var kinds = []kind{
	{name: "mpi", open: openMPI, places: MPIPlaces, hosts: true, progress: step.Ways(),
		usual: []step.Progress{step.NoCalls, step.Poll}},
	{name: "gloo", open: openGloo, places: ncclPlaces, hosts: true, progress: []step.Progress{step.Thread},
		usual: []step.Progress{step.Thread}},
	{name: "nccl", open: ncclOpener("nccl"), places: ncclPlaces},
	{name: "ncclx", open: ncclOpener("ncclx"), places: ncclPlaces, ncclx: true},
	{name: Simulation, open: ncclOpener(Simulation), places: ncclPlaces},
}

// ncclPlaces are the placements of NCCL: collectives that send to every peer, or to the next, need a second buffer.
func ncclPlaces(c coll.Collective) []coll.Placement {
	if c == coll.AllToAll || c == coll.SendRecv || c == coll.AllToAllV {
		return []coll.Placement{coll.OutOfPlace}
	}
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

func ncclOpener(name string) func(*Host, []int) (Library, error) {
	return func(h *Host, worlds []int) (Library, error) { return openNCCL(h, name, worlds) }
}

// find returns the backend of that name, or nil.
func find(name string) *kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); i >= 0 {
		return &kinds[i]
	}
	return nil
}

// Names returns the names that --backend accepts beside auto.
func Names() (names []string) {
	for _, k := range kinds {
		if k.name != Simulation {
			names = append(names, k.name)
		}
	}
	return names
}

// OnHosts reports whether a backend measures on the memory of hosts, without a GPU.
func OnHosts(name string) bool { k := find(name); return k != nil && k.hosts }

// NeedsNCCLX reports whether the library of a backend must be NCCLX.
func NeedsNCCLX(name string) bool { k := find(name); return k != nil && k.ncclx }

// Places returns the placements that a backend has for a collective.
func Places(name string) func(coll.Collective) []coll.Placement {
	if k := find(name); k != nil {
		return k.places
	}
	return ncclPlaces
}

// Progress returns the ways in which the communication of a backend can progress beside computing, and those that are
// measured by default; none on a GPU.
func Progress(name string) (has, usual []step.Progress) {
	if k := find(name); k != nil {
		return k.progress, k.usual
	}
	return nil, nil
}

// Unseen is what --backend auto means without looking for libraries (--list).
func Unseen(o *Options) string {
	if o.NCCLFlag() != "" || o.Simulate {
		return "nccl"
	}
	return "mpi"
}
