package benchtest

import (
	"testing"

	"busbar/internal/bench"
	"busbar/internal/coll"

	"github.com/shoenig/test"
)

func both(coll.Collective) []coll.Placement {
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

// The fake must pass the suite that the real backends must pass.
func TestFakePassesSuite(t *testing.T) {
	for _, n := range []int{1, 2, 3, 8} {
		for r, err := range Run(n, func(w bench.World) error {
			return Suite(w, &Fake{World: w, Script: &Script{}}, both, []int64{8, 1024, 10_000})
		}) {
			test.NoError(t, err, test.Sprint(n, r))
		}
	}
}

// Buffers that rotate are checked slot by slot.
func TestFakePassesSuiteWithSlots(t *testing.T) {
	for r, err := range Run(3, func(w bench.World) error {
		return Suite(w, &Fake{World: w, Script: &Script{Slots: 3}}, both, []int64{4096})
	}) {
		test.NoError(t, err, test.Sprint(r))
	}
}

// The suite must be able to fail.
func TestSuiteFindsWrongData(t *testing.T) {
	errs := Run(2, func(w bench.World) error {
		return Suite(w, &Fake{World: w, Script: &Script{Corrupt: func(c coll.Case, rank int, out []byte) {
			if rank == 1 && len(out) > 9 {
				out[9] ^= 1
			}
		}}}, both, []int64{1024})
	})
	for r, err := range errs {
		if err == nil {
			t.Errorf("rank %d did not see the wrong data", r)
		}
	}
}
