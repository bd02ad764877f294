//go:build cgo

package gloo

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/needs"
	"busbar/internal/operation"
	"busbar/internal/result"

	"github.com/shoenig/test"
)

func TestOperations(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) {
			if n > 3 {
				needs.TestAll(t)
			}
			must(t, group(t, n, Options{}, everything))
		})
	}
}

// everything runs all collectives, types, reductions and placements. Small worlds cover all types; the larger ones,
// for which this machine has too few cores, use one type per size.
func everything(c *Context) error {
	types := coll.DataTypes()[:coll.Float64]
	switch {
	case c.size > 4:
		types = []coll.DataType{coll.Float16, coll.UInt32}
	case c.size > 3:
		types = []coll.DataType{coll.Int8, coll.Float16, coll.UInt32, coll.Float64}
	}
	return collectives(c, types, []coll.RedOp{coll.Sum, coll.Prod, coll.Min, coll.Max, coll.Avg}, 0, 1, 7, 1000)
}

// collectives runs all collectives and placements on some types, reductions and counts, with different roots.
func collectives(c *Context, types []coll.DataType, ops []coll.RedOp, counts ...int64) error {
	for _, k := range benchtest.Grid(c.size, coll.Collectives(), places, types, ops, counts...) {
		if err := correct(c, k); err != nil {
			return fmt.Errorf("%s root %d of %d, count %d: %w", k.Point(), k.Root, c.size, k.Count, err)
		}
	}
	return nil
}

// places are the placements that Gloo has.
func places(c coll.Collective) []coll.Placement {
	switch c {
	case coll.AllToAll, coll.AllToAllV, coll.SendRecv:
		return []coll.Placement{coll.OutOfPlace}
	}
	return []coll.Placement{coll.InPlace, coll.OutOfPlace}
}

// Messages longer than the chunks of Gloo and the ring, with a remainder.
func TestLongMessages(t *testing.T) {
	must(t, group(t, 3, Options{}, func(c *Context) error {
		return collectives(c, []coll.DataType{coll.Int32}, []coll.RedOp{coll.Sum}, 1<<20+12345)
	}))
}

// correct runs the operation once per slot, and compares every element of the results of this rank with those of
// internal/bench, which knows nothing of Gloo. The input and what lies behind each slot must stay as they are.
func correct(c *Context, k coll.Case) error {
	s := operation.Host{Spec: operation.Spec{Case: k, Slots: 1}}
	if k.Count == 7 {
		s.Slots = 4
		if k.Type == coll.Int32 {
			s.Aggregate = 2
		}
	}
	var segment int64
	if k.Collective == coll.ReduceScatter && k.Count == 1000 {
		segment = 99 // many of them, the last one shorter
	}
	b, err := fill(c, &s)
	if err != nil {
		return err
	}
	defer b.send.Free()
	defer b.recv.Free()
	o, err := c.prepare(s, segment)
	if err != nil {
		return err
	}
	defer o.Close()
	if err := issue(o, s.Slots/max(1, s.Aggregate)); err != nil {
		return err
	}
	return b.check()
}

// buffers are those of an operation with slots.
type buffers struct {
	operation.Host
	rank         int
	send, recv   *loop.Buffer
	given, clean []byte // what both held before
	slots        []bench.Buffers
	data         *bench.Data
}

// guard is the number of bytes behind each slot that no operation may touch.
const guard = 64

// fill allocates and fills the buffers of an operation.
func fill(c *Context, s *operation.Host) (*buffers, error) {
	size := int64(s.Type.Size())
	in, out, at, to := s.SendCount(c.rank)*size, s.RecvCount(c.rank)*size, int64(0), int64(0)
	s.SendStride, s.RecvStride = in+guard, out+guard
	here, own := s.Placement == coll.InPlace, int64(c.rank)*s.Count*size
	if here {
		s.RecvStride = max(in, out) + guard
		switch {
		case s.Collective == coll.AllGather, s.Collective == coll.Gather && c.rank == s.Root:
			at = own
		case s.Collective == coll.Scatter && c.rank == s.Root:
			to = own
		}
	}
	send, err1 := loop.AllocBuffer(s.SendStride * int64(s.Slots))
	recv, err2 := loop.AllocBuffer(s.RecvStride * int64(s.Slots))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	s.Send = send.Pointer()
	if here || out > 0 {
		s.Recv = recv.Pointer()
	}
	b := &buffers{Host: *s, rank: c.rank, send: send, recv: recv,
		data: bench.NewData(bench.World{Rank: c.rank, Size: 1, Comm: alone{}})}
	for i := range int64(s.Slots) {
		from, into := send.Bytes()[i*s.SendStride:], recv.Bytes()[i*s.RecvStride:]
		if here {
			from = into[at:]
		}
		slot := bench.Buffers{Send: bench.Host(from[:in]), Recv: bench.Host(into[to : to+out])}
		if err := b.data.Load(s.Case, slot); err != nil {
			return nil, err
		}
		b.flip(from[:in], i)
		b.slots = append(b.slots, slot)
	}
	b.given, b.clean = bytes.Clone(send.Bytes()), bytes.Clone(recv.Bytes())
	return b, nil
}

// flip makes the data of each slot different, where it is only moved; twice is not at all.
func (b *buffers) flip(data []byte, slot int64) {
	for i := range data {
		if !b.Collective.Reduces() {
			data[i] ^= byte(slot)
		}
	}
}

// check compares the buffers after the operation.
func (b *buffers) check() error {
	if !bytes.Equal(b.send.Bytes(), b.given) {
		return fmt.Errorf("rank %d: the input was changed", b.rank)
	}
	for i, slot := range b.slots {
		end := int64(i+1) * b.RecvStride
		if !bytes.Equal(b.recv.Bytes()[end-guard:end], b.clean[end-guard:end]) {
			return fmt.Errorf("rank %d: bytes behind slot %d were changed", b.rank, i)
		}
		b.flip(slot.Recv.(bench.Host), int64(i))
		if err := b.data.Verify("", b.Case, slot); err != nil {
			return err
		}
	}
	var found result.Check
	first, err := b.data.Collect(&found)
	if all := int64(len(b.slots)) * b.RecvCount(b.rank); found.Wrong > 0 || found.Elements != all {
		return fmt.Errorf("rank %d: %d of %d elements are compared, %d wrong: %v", b.rank, found.Elements, all,
			found.Wrong, first)
	}
	return err
}

// alone is the bench.Comm of a rank that checks for itself.
type alone struct{}

func (alone) Max([]float64) error                   { return nil }
func (alone) Sum([]float64) error                   { return nil }
func (alone) Gather(x []float64) ([]float64, error) { return x, nil }
func (alone) Bcast([]float64) error                 { return nil }

// inPlace is an operation in place on the buffer at an address.
func inPlace(c coll.Collective, t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) operation.Host {
	return operation.Host{Recv: at, Spec: operation.Spec{Case: coll.Case{Collective: c, Type: t, Op: op, Count: count,
		Placement: coll.InPlace}}}
}

// Two ranks combine every pattern of float16 and bfloat16 with another, and an average halves the sum.
func TestHalves(t *testing.T) {
	must(t, group(t, 2, Options{}, func(c *Context) error {
		for _, k := range []coll.DataType{coll.Float16, coll.BFloat16} {
			for _, op := range []coll.RedOp{coll.Sum, coll.Prod, coll.Min, coll.Max, coll.Avg} {
				for _, factor := range []int{1, 40503} {
					if err := halves(c, k, op, factor); err != nil {
						return fmt.Errorf("%s %s: %w", k, op, err)
					}
				}
			}
		}
		return nil
	}))
}

// halves has rank 0 give each pattern, and rank 1 another for each, which the odd factor chooses.
func halves(c *Context, t coll.DataType, op coll.RedOp, factor int) error {
	const patterns = 1 << 16
	b, err := loop.AllocBuffer(2 * patterns)
	if err != nil {
		return err
	}
	defer b.Free()
	got := unsafe.Slice((*uint16)(b.Pointer()), patterns)
	other := func(i int) uint16 { return uint16(i*factor + 12345) }
	for i := range got {
		if got[i] = uint16(i); c.rank == 1 {
			got[i] = other(i)
		}
	}
	o, err := c.Prepare(inPlace(coll.AllReduce, t, op, b.Pointer(), patterns))
	if err != nil {
		return err
	}
	defer o.Close()
	if err := issue(o, 1); err != nil {
		return err
	}
	value := func(bits uint16) float64 { return bench.Decode(t, unsafe.Slice((*byte)(unsafe.Pointer(&bits)), 2)) }
	rounded := func(x float64) (bits uint16) {
		bench.Encode(t, x, unsafe.Slice((*byte)(unsafe.Pointer(&bits)), 2))
		return bits
	}
	for i, bits := range got {
		p, q := value(uint16(i)), value(other(i))
		want := rounded(map[coll.RedOp]float64{coll.Sum: p + q, coll.Avg: p + q, coll.Prod: p * q, coll.Min: min(p, q),
			coll.Max: max(p, q)}[op])
		if op == coll.Avg {
			want = rounded(value(want) / 2)
		}
		// All NaNs are as good, and minimum and maximum may take either zero.
		x, r := value(bits), value(want)
		same := math.IsNaN(x) && math.IsNaN(r) || x == 0 && r == 0 && (op == coll.Min || op == coll.Max)
		if bits != want && !same {
			return fmt.Errorf("%g and %g: %g (%#04x), expected %g (%#04x)", p, q, x, bits, r, want)
		}
	}
	return nil
}

func TestNotes(t *testing.T) {
	for want, k := range map[string]coll.Case{
		"Gloo's ring":             {Collective: coll.AllReduce, Op: coll.Sum},
		"no reduce_scatter":       {Collective: coll.ReduceScatter, Op: coll.Sum},
		"division by busbar":      {Collective: coll.ReduceScatter, Op: coll.Avg},
		"unbound buffers":         {Collective: coll.SendRecv},
		"partial results":         {Collective: coll.Reduce, Op: coll.Max, Placement: coll.InPlace},
		"memory that busbar adds": {Collective: coll.Reduce, Op: coll.Max},
		"onto itself":             {Collective: coll.Gather, Placement: coll.InPlace},
	} {
		test.StrContains(t, strings.Join(notes(k), "; "), want, test.Sprint(k.Collective))
	}
}
