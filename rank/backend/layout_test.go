package backend

import (
	"testing"

	"busbar/internal/coll"
	"busbar/internal/step"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// NCCL's rules for windows: equal sizes on all ranks, and outputs at the same offset on each, in place at the rank's
// share.
func TestWindowLayout(t *testing.T) {
	const count, ranks = 1000, 3
	for _, collective := range coll.Collectives() {
		for _, place := range ncclPlaces(collective) {
			for _, rotate := range []int64{0, 1 << 20} {
				c := coll.Case{Collective: collective, Type: coll.Float32, Count: count, World: ranks, Placement: place,
					Root: -1}
				if collective.Rooted() {
					c.Root = 1
				}
				if collective == coll.AllToAllV {
					c.Imbalance = "hot:4"
					c = c.WithSize(4 * count)
				}
				if collective.Reduces() {
					c.Op = coll.Sum
				}
				root := Layout{Rank: max(0, c.Root), Rotate: rotate, alike: collective == coll.AllToAllV}
				for rank := range ranks {
					l := Layout{Rank: rank, Rotate: rotate, alike: true}
					send, recv, slots := l.Slots(c)
					wantSend, wantRecv, wantSlots := root.Slots(c)
					if send != wantSend || recv != wantRecv || slots != wantSlots || l.Memory(c) != root.Memory(c) ||
						l.first(send, slots) != root.first(wantSend, wantSlots) {
						t.Errorf("%s, rotating over %d: rank %d has %d and %d bytes in %d slots, the root %d and %d "+
							"in %d", c, rotate, rank, send, recv, slots, wantSend, wantRecv, wantSlots)
					}
					in, out := l.views(c)
					if place == coll.InPlace {
						send = recv
					}
					if in.n > 0 && in.at+in.n > send || out.n > 0 && out.at+out.n > recv {
						t.Errorf("%s: rank %d has its input at %+v of %d bytes, its output at %+v of %d", c, rank, in,
							send, out, recv)
					}
					var wantIn, wantOut int64
					share := int64(rank) * count * 4
					switch {
					case place != coll.InPlace:
					case collective == coll.AllGather, collective == coll.Gather:
						wantIn = share
					case collective == coll.ReduceScatter, collective == coll.Scatter:
						wantOut = share
					}
					if in.at != wantIn || out.at != wantOut {
						t.Errorf("%s: on rank %d the input begins at %d, the output at %d; wanted %d and %d", c, rank,
							in.at, out.at, wantIn, wantOut)
					}
				}
			}
		}
	}
}

func TestHostArea(t *testing.T) {
	var a HostArea
	test.Len(t, 0, a.bytes())
	must.NoError(t, a.Reserve(4096))
	a.bytes()[0] = 7
	if err := a.Reserve(100); err != nil || len(a.bytes()) < 4096 || a.bytes()[0] != 7 {
		t.Error("less than there is changes the area", err)
	}
	if err := a.Reserve(1 << 62); err == nil || len(a.bytes()) < 4096 {
		t.Errorf("a failed reserve leaves %d bytes: %v", len(a.bytes()), err)
	}
	if err := a.Free(); err != nil || len(a.bytes()) != 0 {
		t.Error(err)
	}
}

// The total work does not depend on the segments.
func TestHostUnits(t *testing.T) {
	c := &hostComputing{speed: 1e6}
	for _, k := range []struct {
		segments int
		each     float64 // s
	}{{1, 4e-4}, {1000, 4e-7}, {1600, 2.5e-7}, {250, 1.6e-6}} {
		var all []step.Segment
		for range k.segments {
			all = append(all, step.Segment{Pieces: []float64{k.each}})
		}
		var sum uint64
		for _, units := range c.units(all) {
			sum += units
		}
		if sum != 400 {
			t.Errorf("%d segments of %g s come to %d units, not 400", k.segments, k.each, sum)
		}
	}
}
