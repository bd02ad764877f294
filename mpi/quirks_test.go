package mpi

import (
	"testing"

	"busbar/internal/coll"
	"busbar/internal/operation"
)

func TestQuirk(t *testing.T) {
	spec := func(c coll.Collective, p coll.Placement, root int) operation.Spec {
		return operation.Spec{Case: coll.Case{Collective: c, Placement: p, Root: root}}
	}
	reduce := spec(coll.Reduce, coll.InPlace, 1)
	for _, c := range []struct {
		library string
		spec    operation.Spec
		refused bool
	}{
		{"MPICH 4.0.2", reduce, true},
		{"MPICH 4.1.1", reduce, true},
		{"MPICH 4.2.0", reduce, false},
		{"MPICH 3.2.1", reduce, false},
		{"MPICH of tomorrow", reduce, false},
		{"Open MPI 4.1.4", reduce, false},
		{"MPICH 4.0.2", spec(coll.Reduce, coll.InPlace, 0), false},
		{"MPICH 4.0.2", spec(coll.Reduce, coll.OutOfPlace, 1), false},
		{"MPICH 4.0.2", spec(coll.Gather, coll.InPlace, 1), false},
	} {
		if err := quirk(c.library, c.spec); (err != nil) != c.refused {
			t.Errorf("%s, %+v: %v", c.library, c.spec, err)
		}
	}
}
