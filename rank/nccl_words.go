package main

import "busbar/internal/coll"

// ncclPlaces says which placements NCCL has: what goes to every peer, or to the next, needs a buffer of its own.
func ncclPlaces(c coll.Collective) []coll.Placement {
	if c == coll.AllToAll || c == coll.SendRecv {
		return []coll.Placement{coll.OutOfPlace}
	}
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}
