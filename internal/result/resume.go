package result

import "busbar/internal/coll"

// RunKey is what two runs must share for the points of one to count for the other: backend, library and shape of world.
type RunKey struct {
	Backend, Library, Version  string
	Variant                    string
	World, Nodes, RanksPerNode int
	Device                     string
	Rehearsed                  bool
}

// Key is the run's RunKey.
func (r *Run) Key() RunKey { return RunKey{} }

// PointKey identifies a point of a sweep: the case with its mode, the backend and the cycle.
type PointKey struct {
	coll.Case
	Backend string
	Cycle   int // 0 and 1 are the same cycle
}

// Point is the key of a case in a cycle.
func Point(backend string, c coll.Case, cycle int) PointKey { return PointKey{} }

// Past is what earlier runs have measured.
type Past struct {
	Problems []Problem
}

// ReadPast reads the runs in files (see Find); those that cannot be read are Problems.
func ReadPast(files []string) (*Past, error) { return nil, nil }

// Done returns the points that are ok in runs of that key, and the IDs of those runs, oldest first.
func (p *Past) Done(key RunKey) (done map[PointKey]bool, runs []string) { return nil, nil }
