package session

import (
	"fmt"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/rank/backend"
	"busbar/sweeps"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// Every case appears once, with each library before the next case; a single library keeps the order of its plan.
func TestTurns(t *testing.T) {
	sweep := sweeps.Default()
	sweep.Parts[0].Collectives = []coll.Collective{coll.AllReduce, coll.Broadcast}
	sweep.Parts[0].Placements = []coll.Placement{coll.OutOfPlace, coll.InPlace}
	of := func(name string) *session {
		cases, err := sweep.Plan(2, backend.Places(name))
		must.NoError(t, err)
		return &session{cases: cases}
	}
	mpi, nccl := of("mpi"), of("nccl")
	alone := takeTurns([]*session{mpi})
	for i, turn := range alone {
		must.EqOp(t, i, turn.i)
	}
	turns := takeTurns([]*session{mpi, nccl})
	if len(turns) != len(mpi.cases)+len(nccl.cases) {
		t.Fatalf("%d turns for %d and %d cases", len(turns), len(mpi.cases), len(nccl.cases))
	}
	var got []string
	for _, turn := range turns {
		c := turn.session.cases[turn.i]
		if c.SizeBytes == mpi.cases[0].SizeBytes {
			got = append(
				got,
				fmt.Sprintf(
					"%s %s %s",
					map[*session]string{mpi: "mpi", nccl: "nccl"}[turn.session],
					c.Collective,
					c.Placement,
				),
			)
		}
	}
	want := "mpi all_reduce out, nccl all_reduce out, mpi all_reduce in, nccl all_reduce in, mpi broadcast in, nccl " +
		"broadcast in, nccl broadcast out"
	test.EqOp(t, want, strings.Join(got, ", "))
}
