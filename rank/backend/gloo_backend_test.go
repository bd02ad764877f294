package backend

import (
	"errors"
	"testing"

	"busbar/internal/coll"
	"busbar/rank/exit"
)

// Who gives up breaks the connections of the others; they are not the ones to speak.
func TestFailedRank(t *testing.T) {
	fine, gaveUp, left := glooRank{}, glooRank{Error: "waited too long"},
		glooRank{Error: "lost the connection", Follows: true}
	for _, c := range []struct {
		ranks   []glooRank
		speaker int // -1: nobody failed
	}{
		{[]glooRank{fine, fine}, -1},
		{[]glooRank{fine, gaveUp, gaveUp}, 1},
		{[]glooRank{left, gaveUp, fine}, 1},
		{[]glooRank{fine, left, left}, 1},
	} {
		for self := range c.ranks {
			err := failedRank(c.ranks, self)
			switch {
			case c.speaker < 0 && err == nil:
			case self == c.speaker && exit.CodeOf(err) == exit.Environment && err.Error() == c.ranks[self].Error:
			case c.speaker >= 0 && self != c.speaker && errors.Is(err, exit.ErrElsewhere):
			default:
				t.Errorf("%+v: rank %d has %v", c.ranks, self, err)
			}
		}
	}
}

func TestGlooMemory(t *testing.T) {
	memory := func(aggregate int, c coll.Case) float64 {
		b := &glooBackend{hostBackend: hostBackend{Layout: Layout{Rank: 1}, aggregate: aggregate}}
		return b.Memory(c) - b.Layout.Memory(c)
	}
	c := coll.Case{Collective: coll.ReduceScatter, Type: coll.Float32, Op: coll.Sum, Count: 1 << 20, World: 3,
		Placement: coll.OutOfPlace}
	share := float64(c.Count) * float64(c.Type.Size())
	reduce, inPlace := c, c
	reduce.Collective, inPlace.Placement = coll.Reduce, coll.InPlace
	if one, more := memory(1, c), memory(8, c); one != share || more != 2*share {
		t.Errorf("reduce_scatter: %g alone and %g together, want one and two of %g", one, more, share)
	}
	if other := memory(1, reduce); other != share {
		t.Errorf("reduce on a rank that is not the root: %g, want %g", other, share)
	}
	if none := memory(8, inPlace); none != 0 {
		t.Errorf("in place: %g", none)
	}
}
