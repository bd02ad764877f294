package bench

import (
	"bytes"

	"busbar/internal/coll"
)

// averageULP is how far a floating average may be from the exact one, in units in the last place, as in nccl-tests.
const averageULP = 2

// expectation says what a stretch of a rank's output must hold: elements [from, to) are the elements first, first+1, …
// of a table.
type expectation struct {
	from, to int64
	key      tableKey
	first    int64
}

// expected lists what a rank's whole output must hold.
func expected(c coll.Case, rank int) []expectation {
	key := tableKey{c.Type, c.Op, c.World, -1}
	own := func(r int) tableKey { return tableKey{c.Type, 0, c.World, r} }
	n := c.RecvCount(rank)
	if n == 0 {
		return nil
	}
	switch c.Collective {
	case coll.AllReduce, coll.Reduce:
		return []expectation{{0, n, key, 0}}
	case coll.ReduceScatter:
		return []expectation{{0, n, key, int64(rank) * c.Count}}
	case coll.Broadcast:
		return []expectation{{0, n, own(c.Root), 0}}
	case coll.Scatter:
		return []expectation{{0, n, own(c.Root), int64(rank) * c.Count}}
	case coll.SendRecv:
		return []expectation{{0, n, own((rank - 1 + c.World) % c.World), 0}}
	}
	parts := make([]expectation, c.World)
	for r := range parts {
		parts[r] = expectation{int64(r) * c.Count, int64(r+1) * c.Count, own(r), 0}
		if c.Collective == coll.AllToAll {
			parts[r].first = int64(rank) * c.Count
		}
	}
	return parts
}

// load poisons the outputs and fills the inputs with the pattern.
func load(c coll.Case, rank int, buffers []Buffers) {
	t := table(tableKey{c.Type, c.Op, c.World, rank})
	for _, b := range buffers {
		fillByte(b.Recv, poison)
		fill(b.Send, t, 0, c.Type.Size())
	}
}

// loadTimed fills the buffers for the timed part. A reduction in place feeds its result to the next one: sums would
// grow until they overflow and products decay, and arithmetic on infinities or denormals has another speed, so such
// inputs are the operation's neutral element. loaded says that a check round has filled the inputs before; what comes
// back says whether the output can be checked afterwards.
func loadTimed(c coll.Case, rank int, buffers []Buffers, loaded bool) (checkable bool) {
	if c.Placement != coll.InPlace && loaded { // the input is what it was
		for _, b := range buffers {
			fillByte(b.Recv, poison)
		}
		return true
	}
	load(c, rank, buffers)
	if c.Placement != coll.InPlace {
		return true
	}
	var neutral float64
	switch c.Op {
	case coll.Sum, coll.Avg:
	case coll.Prod:
		neutral = 1
	default: // data is moved, or minimum and maximum: nothing grows, but it may not stay where it was
		return c.Collective == coll.Broadcast || c.Collective == coll.AllGather
	}
	one := make([]byte, period*c.Type.Size())
	for j := range period {
		encode(c.Type, neutral, one[j*c.Type.Size():])
	}
	for _, b := range buffers {
		fill(b.Recv, one, 0, c.Type.Size())
		fill(b.Send, one, 0, c.Type.Size())
	}
	return false
}

// mismatch is what a check of one rank's outputs found.
type mismatch struct {
	elements int64 // compared
	wrong    int64
	index    int64 // of the first wrong element
	want     string
	got      string
}

// verify compares every element of the outputs with what they must hold.
func verify(c coll.Case, rank int, buffers []Buffers) mismatch {
	m := mismatch{index: -1}
	size := int64(c.Type.Size())
	loose := c.Op == coll.Avg && c.Type.Float()
	for _, b := range buffers {
		for _, e := range expected(c, rank) {
			want := table(e.key)
			m.elements += e.to - e.from
			for at := e.from; at < e.to; {
				j := (e.first + at - e.from) % period
				run := min(period-j, e.to-at)
				got, must := b.Recv[at*size:(at+run)*size], want[j*size:(j+run)*size]
				if !bytes.Equal(got, must) {
					m.compare(c.Type, got, must, at, loose)
				}
				at += run
			}
		}
	}
	return m
}

// compare finds the wrong elements of a stretch that is not equal bit for bit.
func (m *mismatch) compare(t coll.DataType, got, want []byte, at int64, loose bool) {
	s := t.Size()
	for i := 0; i < len(got); i += s {
		g, w := got[i:i+s], want[i:i+s]
		if bytes.Equal(g, w) || loose && ulps(t, g, w) <= averageULP {
			continue
		}
		if m.wrong == 0 {
			m.index, m.want, m.got = at+int64(i/s), show(t, w), show(t, g)
		}
		m.wrong++
	}
}
