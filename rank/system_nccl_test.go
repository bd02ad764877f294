package main

import (
	"testing"

	"busbar/internal/result"
)

// rehearsed are the flags of a run over the stand-ins.
func rehearsed(args ...string) []string {
	return append([]string{"--rehearse", "--backend", "nccl"}, args...)
}

// Each record says how its data was checked and what that took, and the header what preparing it took.
func TestCostOfChecks(t *testing.T) {
	out := t.TempDir()
	launch{mpirun: openMPI, np: 2, args: rehearsed(small(out)...)}.mustRun(t)
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	for _, r := range f.Records {
		if r.Check.Way != "pinned host memory" || r.Check.Seconds <= 0 {
			t.Errorf("%s: checked by %q in %g s", r.Case, r.Check.Way, r.Check.Seconds)
		}
	}
	setup := map[string]float64{}
	for _, s := range f.Run.Setup {
		setup[s.What] = s.Seconds
	}
	if len(setup) != 2 || setup["checks"] <= 0 || setup["communicator"] <= 0 {
		t.Errorf("set up: %v", f.Run.Setup)
	}
}
