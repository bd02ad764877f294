package mpi

import "testing"

func TestQuirk(t *testing.T) {
	reduce := OpSpec{Kind: Reduce, InPlace: true, Root: 1}
	for _, c := range []struct {
		library string
		spec    OpSpec
		refused bool
	}{
		{"MPICH 4.0.2", reduce, true},
		{"MPICH 4.1.1", reduce, true},
		{"MPICH 4.2.0", reduce, false},
		{"MPICH 3.2.1", reduce, false},
		{"MPICH of tomorrow", reduce, false},
		{"Open MPI 4.1.4", reduce, false},
		{"MPICH 4.0.2", OpSpec{Kind: Reduce, InPlace: true}, false},
		{"MPICH 4.0.2", OpSpec{Kind: Reduce, Root: 1}, false},
		{"MPICH 4.0.2", OpSpec{Kind: Gather, InPlace: true, Root: 1}, false},
	} {
		if err := quirk(c.library, c.spec); (err != nil) != c.refused {
			t.Errorf("%s, %+v: %v", c.library, c.spec, err)
		}
	}
}
