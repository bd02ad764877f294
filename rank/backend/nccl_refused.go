package backend

import (
	"errors"
	"slices"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
)

// reduction is what decides whether a library has an operation.
type reduction struct {
	collective coll.Collective
	element    coll.DataType
	op         coll.RedOp
}

func reductionOf(c coll.Case) reduction { return reduction{c.Collective, c.Type, c.Op} }

// refusals are what a library has refused, with its reason, so that later cases of the same kind do not cost a
// communicator each.
type refusals map[reduction]string

// remember keeps the refusal of a case.
func (r refusals) remember(c coll.Case, err error) {
	var lost *bench.OperationError
	if errors.As(err, &lost) && lost.Status == result.Unsupported {
		r[reductionOf(c)] = lost.Error()
	}
}

// lacksFloat8 reports whether the case is one of float8 and the GPU of some rank is below compute capability 9.0. NCCL
// refuses a reduction then on every rank, before it issues anything: it compares the minimum over all ranks (minCompCap
// in enqueue.cc).
func (b *ncclBackend) lacksFloat8(c coll.Case) bool {
	older := func(r int) bool { return b.l.ranks[r].Major < 9 }
	return (c.Type == coll.Float8E4M3 || c.Type == coll.Float8E5M2) &&
		slices.ContainsFunc(b.w.Names, older)
}
