package plan

import (
	"testing"

	"busbar/internal/coll"
	"busbar/rank/backend"
	"busbar/sweeps"

	"github.com/shoenig/test"
)

// nccl-tests moves both buffers by the larger one, without gaps, up to its operations and the maximum message size.
func TestLayoutOfNCCLTests(t *testing.T) {
	for _, k := range []struct {
		collective       coll.Collective
		place            coll.Placement
		rank             int
		bytes            int64 // S
		send, recv       int64 // from position to position
		slots            int
		largest          int64
		iters, aggregate int
	}{
		{coll.AllReduce, coll.OutOfPlace, 0, 12, 12, 12, 20, 1 << 20, 20, 1},
		{coll.AllReduce, coll.OutOfPlace, 0, 12, 12, 12, 60, 1 << 20, 20, 3},
		{coll.AllReduce, coll.OutOfPlace, 0, 300 << 10, 300 << 10, 300 << 10, 3, 1 << 20, 20, 1},
		{coll.AllReduce, coll.InPlace, 1, 1 << 20, 0, 1 << 20, 1, 1 << 20, 20, 1},
		{coll.AllGather, coll.OutOfPlace, 1, 64 << 10, 64 << 10, 64 << 10, 16, 1 << 20, 20, 1},
		{coll.Gather, coll.OutOfPlace, 1, 64 << 10, 64 << 10, 64 << 10, 16, 1 << 20, 20, 1}, // not the root
	} {
		c := coll.Case{
			Collective: k.collective,
			Type:       coll.Float32,
			World:      4,
			Placement:  k.place,
			Root:       -1,
		}.WithSize(
			k.bytes,
		)
		largest := c.WithSize(k.largest)
		if c.Collective.Rooted() {
			c.Root = 0
		}
		s := &sweeps.Sweep{}
		s.Iterations, s.Aggregate = k.iters, k.aggregate
		l := (&Options{Packed: true}).Layout(s, []coll.Case{c, largest}, k.rank)
		send, recv, slots := l.Slots(c)
		if send != k.send || recv != k.recv || slots != k.slots {
			t.Errorf("%s, rank %d: %d places %d and %d bytes apart, want %d, %d and %d",
				c, k.rank, slots, send, recv, k.slots, k.send, k.recv)
		}
	}
	test.EqOp(t, (backend.Layout{Rank: 2, Rotate: 1 << 30}), (&Options{Rotate: 1 << 30}).Layout(&sweeps.Sweep{}, nil,
		2))
}
