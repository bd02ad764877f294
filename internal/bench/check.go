package bench

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
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

// expectation says what a stretch of a rank's output must hold: elements [from, to) are the elements first, first+1,
// … of a table.
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
func load(c coll.Case, rank int, buffers []Buffers) error {
	t := table(tableKey{c.Type, c.Op, c.World, rank})
	for _, b := range buffers {
		if err := b.Recv.Set(poison); err != nil {
			return err
		}
		if err := b.Send.Fill(t, 0); err != nil {
			return err
		}
	}
	return nil
}

// loadTimed fills the buffers for the timed part. A reduction in place feeds its result to the next one: sums would
// grow until they overflow and products decay, and arithmetic on infinities or denormals has another speed, so such
// inputs are the operation's neutral element. loaded says that a check round has filled the inputs before; what comes
// back says whether the output can be checked afterwards.
func loadTimed(c coll.Case, rank int, buffers []Buffers, loaded bool) (checkable bool, err error) {
	if c.Placement != coll.InPlace && loaded { // the input is what it was
		for _, b := range buffers {
			if err := b.Recv.Set(poison); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	if err := load(c, rank, buffers); err != nil || c.Placement != coll.InPlace {
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
	one := make([]byte, period*c.Type.Size())
	for j := range period {
		Encode(c.Type, neutral, one[j*c.Type.Size():])
	}
	for _, b := range buffers {
		for _, m := range []Memory{b.Recv, b.Send} {
			if err := m.Fill(one, 0); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// mismatch is what a check of one rank's outputs found.
type mismatch struct {
	elements int64 // compared
	wrong    int64
	index    int64 // of the first wrong element
	want     string
	got      string
}

// lookBytes is how much is read to compare element by element where something is wrong: whole elements of any type.
const lookBytes = 1 << 20

// verify compares every element of the outputs with what they must hold.
func verify(c coll.Case, rank int, buffers []Buffers) (mismatch, error) {
	m := mismatch{index: -1}
	size := int64(c.Type.Size())
	near := near(c)
	for _, b := range buffers {
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

// waysOf names the way of all ranks, or each with the number of its ranks.
func waysOf(ranks [ways]int) string {
	var plain, counted []string
	for w, n := range ranks {
		if n == 0 {
			continue
		}
		ranks := "ranks"
		if n == 1 {
			ranks = "rank"
		}
		plain = append(plain, Way(w).String())
		counted = append(counted, fmt.Sprintf("%s (%d %s)", Way(w), n, ranks))
	}
	if len(plain) == 1 {
		return plain[0]
	}
	return strings.Join(counted, ", ")
}

// collect adds what this rank has found to the check of a point, with all others; every rank learns from check.Result
// whether something was wrong, and rank 0 what. of names the operation of the first wrong element where there are
// several.
func (w World) collect(
	check *result.Check, found mismatch, of string, seconds float64, way Way,
) (wrong notice.Fact, err error) {
	any := []float64{float64(found.wrong)}
	if err := w.Max(any); err != nil {
		return nil, err
	}
	const each = 5
	all, err := w.Gather([]float64{float64(found.elements), float64(found.wrong), float64(found.index), seconds,
		float64(way)})
	if err != nil {
		return nil, err
	}
	check.Result = "ok"
	var ranks [ways]int
	for r := 0; r < len(all); r += each {
		check.Elements += int64(all[r])
		check.Wrong += int64(all[r+1])
		check.Seconds = max(check.Seconds, all[r+3])
		ranks[int(all[r+4])]++
	}
	check.Way = waysOf(ranks)
	if any[0] == 0 {
		return nil, nil
	}
	check.Result = "wrong"
	var words [3]string
	rank := -1
	for i, text := range []string{of, found.got, found.want} {
		if rank, words[i], err = w.firstText(text); err != nil {
			return nil, err
		}
	}
	if w.Rank != 0 {
		return nil, nil
	}
	check.First = &result.Wrong1{Rank: w.Name(rank), Index: int64(all[each*rank+2]), Want: words[2], Got: words[1]}
	if rank < len(w.Hosts) {
		check.First.Host = w.Hosts[rank]
	}
	return notice.DataWrong{
		Wrong: check.Wrong, Elements: check.Elements, Of: words[0],
		WrongElement: notice.WrongElement{
			Rank: check.First.Rank, Host: check.First.Host, Index: check.First.Index, Want: words[2], Got: words[1],
		},
	}, nil
}
