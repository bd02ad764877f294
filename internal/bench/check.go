package bench

import (
	"bytes"

	"busbar/internal/coll"
)

// averageULP is how far a floating average over n ranks may be from the exact one, in units in the last place: two as
// in nccl-tests and, where 1/n is not exact, half of one for each addition, since libraries scale the inputs and round
// after every step.
func averageULP(n int) uint64 {
	if n&(n-1) == 0 {
		return 2
	}
	return 2 + uint64(n)/2
}

// expectation is the expected content of a range of a rank's output: elements [from, to) are the elements first,
// first+1, … of a table.
type expectation struct {
	from, to int64
	key      tableKey
	first    int64
}

// expected lists the required content of a rank's output.
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
	if c.Collective == coll.AllToAllV {
		at, offsets := int64(0), c.Offsets(rank)
		for r, count := range c.Receives(rank) {
			parts[r] = expectation{at, at + count, own(r), offsets[r]}
			at += count
		}
		return parts
	}
	for r := range parts {
		parts[r] = expectation{int64(r) * c.Count, int64(r+1) * c.Count, own(r), 0}
		if c.Collective == coll.AllToAll {
			parts[r].first = int64(rank) * c.Count
		}
	}
	return parts
}

// load poisons the output and fills the input with the pattern.
func load(c coll.Case, rank int, b Buffers) error {
	if err := b.Recv.Set(poison); err != nil {
		return err
	}
	return b.Send.Fill(table(tableKey{c.Type, c.Op, c.World, rank}), 0)
}

// loadTimed fills a slot for the timed part. An in-place reduction feeds its result to the next one: sums would
// overflow and products decay, and arithmetic on infinities or denormals has another speed. Such inputs are the
// operation's neutral element. loaded reports that a check round has already filled the input. The result reports
// whether the output can be checked afterwards.
func loadTimed(c coll.Case, rank int, b Buffers, loaded bool) (checkable bool, err error) {
	if c.Placement != coll.InPlace && loaded { // the input is unchanged
		return true, b.Recv.Set(poison)
	}
	if err := load(c, rank, b); err != nil || c.Placement != coll.InPlace {
		return true, err
	}
	var neutral float64
	switch c.Op {
	case coll.Sum, coll.Avg, coll.MulSum:
	case coll.Prod:
		neutral = 1
	default: // data is moved, or minimum and maximum: nothing grows, but it may not stay where it was
		return c.Collective == coll.Broadcast || c.Collective == coll.AllGather, nil
	}
	one := make([]byte, c.Type.Size())
	Encode(c.Type, neutral, one)
	one = bytes.Repeat(one, period)
	if err := b.Recv.Fill(one, 0); err != nil {
		return false, err
	}
	return false, b.Send.Fill(one, 0)
}

// mismatch is the result of a check of a rank's output.
type mismatch struct {
	elements int64 // compared
	wrong    int64
	index    int64 // of the first wrong element
	want     string
	got      string
}

// lookBytes is how much is read to compare element by element where something is wrong: whole elements of any type.
const lookBytes = 1 << 20

// verify compares every element of an output with its expected value.
func verify(c coll.Case, rank int, b Buffers) (mismatch, error) {
	m := mismatch{index: -1}
	size := int64(c.Type.Size())
	near := near(c)
	for _, e := range expected(c, rank) {
		want := table(e.key)
		m.elements += e.to - e.from
		place := func(element int64) int64 { return (e.first + element - e.from) % period * size } // in the table
		for at := e.from; at < e.to; {
			differs, err := b.Recv.Differs(at*size, e.to*size, want, place(at), near)
			if err != nil {
				return m, err
			}
			if differs < 0 {
				break
			}
			at = differs / size
			got := make([]byte, min(lookBytes, (e.to-at)*size))
			if err := b.Recv.Read(at*size, got); err != nil {
				return m, err
			}
			must := make([]byte, len(got))
			if err := Host(must).Fill(want, place(at)); err != nil {
				return m, err
			}
			m.compare(c.Type, got, must, at, near)
			at += int64(len(got)) / size
		}
	}
	return m, nil
}

// compare finds the wrong elements of a stretch that has some.
func (m *mismatch) compare(t coll.DataType, got, want []byte, at int64, near Near) {
	s := t.Size()
	for i := 0; i < len(got); i += s {
		g, w := got[i:i+s], want[i:i+s]
		if firstFar(g, w, near) < 0 {
			continue
		}
		if m.wrong == 0 {
			m.index, m.want, m.got = at+int64(i/s), show(t, w), show(t, g)
		}
		m.wrong++
	}
}
