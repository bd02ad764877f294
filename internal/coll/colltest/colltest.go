// Package colltest has cases for tests.
package colltest

import "busbar/internal/coll"

// AllReduce returns an all_reduce of 2 ranks with size bytes: float32 sum, out-of-place, throughput mode.
func AllReduce(size int64) coll.Case {
	return coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 2}.WithSize(size)
}
