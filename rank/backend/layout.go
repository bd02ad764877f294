package backend

import (
	"busbar/internal/coll"
)

// Layout is how a case's buffers lie in one area of memory, on a host or a device: the inputs of all slots, and from a
// page of its own on the outputs.
type Layout struct {
	Rank   int
	Rotate int64 // bytes over which operations walk; 0: one place
	// places at most, each right behind the one before as in nccl-tests; 0: all that fit, on pages of their own
	Packed int
	alike  bool // every rank has room for what the root has, and each buffer lies at the same offset on all
	front  bool // in place, the output of a reduce_scatter comes to the front of the buffer
}

// extent is a stretch of bytes.
type extent struct{ at, n int64 }

// PageBytes keeps slots apart, so that each starts on a page of its own.
const PageBytes = 4096

func wholePages(n int64) int64 { return (n + PageBytes - 1) / PageBytes * PageBytes }

// Slots is how much memory one slot of a case takes on this rank, and how many there are, which is the same on all
// ranks though a root has larger buffers: they walk in step.
func (l Layout) Slots(c coll.Case) (send, recv int64, slots int) {
	send, recv = l.slot(c, l.Rank)
	if l.Rotate == 0 {
		return send, recv, 1
	}
	root := max(0, c.Root)
	most, larger := int64(1), int64(1) // of both buffers, of one
	if c.Collective == coll.AllToAllV {
		most, larger = max(1, 2*c.SizeBytes), max(1, c.SizeBytes) // of the busiest rank
	}
	for _, rank := range []int{root, (root + 1) % c.World} {
		s, r := l.slot(c, rank)
		most, larger = max(most, s+r), max(larger, s, r)
	}
	if l.Packed == 0 {
		return send, recv, int(max(1, l.Rotate/most))
	}
	// startColl in nccl-tests' common.cu: both buffers move by the larger one, on every rank.
	if send = larger; c.Placement == coll.InPlace {
		send = 0
	}
	return send, larger, int(min(max(1, l.Rotate/larger), int64(l.Packed)))
}

// slot is the size of a rank's buffers in bytes.
func (l Layout) slot(c coll.Case, rank int) (send, recv int64) {
	s := int64(c.Type.Size())
	if l.alike && c.Collective.Rooted() {
		rank = c.Root
	}
	if l.alike && c.Collective == coll.AllToAllV {
		return c.SizeBytes, c.SizeBytes
	}
	if c.Placement == coll.InPlace {
		recv = max(c.SendCount(rank), c.RecvCount(rank)) * s
	} else {
		send, recv = c.SendCount(rank)*s, c.RecvCount(rank)*s
	}
	if l.Rotate > 0 && l.Packed == 0 {
		send, recv = wholePages(send), wholePages(recv)
	}
	return send, recv
}

// first is where the outputs begin.
func (l Layout) first(send int64, slots int) int64 { return wholePages(send * int64(slots)) }

// Memory is what a case takes on this rank in bytes; a float, since what is asked for may be beyond any integer.
func (l Layout) Memory(c coll.Case) float64 {
	send, recv, slots := l.Slots(c)
	return (float64(send)+float64(recv))*float64(slots) + PageBytes
}

// views are where the input and the output of this rank lie within a slot of each. In place there is one buffer, and
// libraries define where in it a rank's own share lies. Beside a root the others have nothing but their share; where
// all have room alike it lies where the root's would.
func (l Layout) views(c coll.Case) (in, out extent) {
	s := int64(c.Type.Size())
	in.n, out.n = c.SendCount(l.Rank)*s, c.RecvCount(l.Rank)*s
	if c.Placement != coll.InPlace {
		return in, out
	}
	share := int64(l.Rank) * c.Count * s
	switch root := l.Rank == c.Root || l.alike; {
	case c.Collective == coll.AllGather, c.Collective == coll.Gather && root:
		in.at = share
	case c.Collective == coll.ReduceScatter && !l.front, c.Collective == coll.Scatter && root:
		out.at = share
	}
	return in, out
}
