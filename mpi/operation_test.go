//go:build cgo

package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/loop"
)

func TestOperations(t *testing.T) { run(t, "operations", append(worlds, world{OpenMPI, 4})...) }

func init() {
	workers["operations"] = func(m *MPI) error {
		c := m.World()
		if c.Size() == 4 {
			sub, err := c.Split(c.Rank()%2, 0)
			if err != nil {
				return err
			}
			return errors.Join(everything(m, c, []int64{13}), everything(m, sub, []int64{5}), sub.Free())
		}
		return everything(m, c, []int64{0, 1, 7, 1000})
	}
}

// everything runs all kinds, types, reductions and placements, with the counts as they are and as if they were too
// large for an int.
func everything(m *MPI, c *Comm, counts []int64) error {
	for kind := AllReduce; kind <= SendRecv; kind++ {
		for _, inPlace := range []bool{false, true} {
			if kind == Broadcast && !inPlace {
				continue
			}
			for t := Int8; t <= Float64; t++ {
				ops := []Op{0}
				if kind.reduces() {
					ops = []Op{Sum, Prod, Min, Max, Avg}
				}
				for _, op := range ops {
					for i, count := range counts {
						s := OpSpec{Kind: kind, Type: t, Op: op, InPlace: inPlace, Count: count, Root: (i + int(t)) % c.Size()}
						if quirk(m.info.Name, s) != nil {
							s.Root = 0
						}
						if err := variants(m, c, s); err != nil {
							return fmt.Errorf("%s %s %s in place %t, count %d, root %d of %d: %w", kind, t, op, inPlace, count, s.Root, c.Size(), err)
						}
					}
				}
			}
		}
	}
	return nil
}

func variants(m *MPI, c *Comm, s OpSpec) error {
	if s.Count == 7 {
		s.Slots = 4
	}
	if err := correct(c, s, ""); err != nil {
		return err
	}
	if s.Slots > 1 || !s.InPlace { // in place, a second operation would have the first one's result as its input
		s.Aggregate = 2
	}
	defer func() { m.intMax, m.noLarge = math.MaxInt32, false }()
	m.intMax = max(1, s.Count*2/5)
	total := s.Count
	if s.Kind.shared() {
		total *= int64(c.size)
	}
	for _, m.noLarge = range []bool{false, true} {
		note := ""
		switch {
		case total <= m.intMax:
		case m.info.LargeCounts == "native" && !m.noLarge:
			note = "_c"
		case s.Kind.reduces() || !s.Kind.shared():
			note = "parts of up to"
		default:
			note = "derived type"
		}
		if err := correct(c, s, note); err != nil {
			return fmt.Errorf("limit %d, native %t: %w", m.intMax, !m.noLarge, err)
		}
	}
	return nil
}

// guard is the number of bytes around each place of a buffer that no operation may touch.
const guard = 64

// correct runs the operation once per slot and compares every byte of both buffers on this rank.
func correct(c *Comm, s OpSpec, note string) error {
	slots := max(1, s.Slots)
	in, out := c.layout(s)
	size := s.Type.Size()
	s.SendStride, s.RecvStride = in*size+guard, max(in*b2i(s.InPlace), out)*size+guard
	send, err1 := loop.AllocBuffer(s.SendStride * int64(slots))
	recv, err2 := loop.AllocBuffer(s.RecvStride * int64(slots))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	defer func() { _, _ = send.Free(), recv.Free() }()
	s.Send, s.Recv = send.Pointer(), recv.Pointer()
	if out == 0 && !s.InPlace {
		s.Recv = nil
	}
	poison(send.Bytes())
	poison(recv.Bytes())
	wantSend, wantRecv := bytes.Clone(send.Bytes()), bytes.Clone(recv.Bytes())
	for slot := range slots {
		a, b := int64(slot)*s.SendStride, int64(slot)*s.RecvStride
		input, place := encode(s.Type, c.input(s, c.rank, slot)), send.Bytes()[a:]
		if s.InPlace {
			place = recv.Bytes()[b+c.inputAt(s)*size:]
		} else {
			copy(wantSend[a:], input)
		}
		copy(place, input)
		if s.InPlace {
			copy(wantRecv[b+c.inputAt(s)*size:], input)
		}
		copy(wantRecv[b:], encode(s.Type, c.want(s, slot)))
	}
	// What is not the result is MPI's to use when in place.
	if s.InPlace && s.Kind == ReduceScatter {
		for slot := range slots {
			b := int64(slot) * s.RecvStride
			copy(wantRecv[b+out*size:b+in*size], make([]byte, (in-out)*size))
		}
	}
	o, err := c.Prepare(s)
	if err != nil {
		return err
	}
	notes := strings.Join(o.Notes(), "\n")
	if (note == "") != !strings.Contains(notes, "count ") || !strings.Contains(notes, note) {
		return fmt.Errorf("notes %q, want %q", notes, note)
	}
	if err := issue(o, max(1, slots/max(1, s.Aggregate))); err != nil {
		return err
	}
	if err := o.Close(); err != nil {
		return err
	}
	got := bytes.Clone(recv.Bytes())
	if s.InPlace && s.Kind == ReduceScatter {
		for slot := range slots {
			b := int64(slot) * s.RecvStride
			copy(got[b+out*size:b+in*size], make([]byte, (in-out)*size))
		}
	}
	if !bytes.Equal(send.Bytes(), wantSend) {
		return fmt.Errorf("rank %d: the input was changed:\ngot  %x\nwant %x", c.rank, send.Bytes(), wantSend)
	}
	if !bytes.Equal(got, wantRecv) {
		return fmt.Errorf("rank %d: the output is\n%x, want\n%x", c.rank, got, wantRecv)
	}
	return nil
}

// issue runs the operation n times.
func issue(o *Operation, n int) error {
	steps := o.Steps()
	if steps.Wait != nil || steps.Sync == nil {
		return errors.New("the steps of an operation that blocks are to issue and to synchronise")
	}
	l, err := loop.New(steps, 1)
	if err != nil {
		return err
	}
	defer l.Close()
	var step *loop.StepError
	if _, err := l.Run(1, n); errors.As(err, &step) {
		return o.Error(step.Code)
	} else if err != nil {
		return err
	}
	return nil
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}

// layout is the number of elements that a rank has as input and gets as output.
func (c *Comm) layout(s OpSpec) (in, out int64) {
	n, atRoot := int64(c.size), c.rank == s.Root
	in, out = s.Count, s.Count
	switch s.Kind {
	case ReduceScatter, AllToAll:
		in *= n
	case Scatter:
		in *= n * b2i(atRoot)
	case Broadcast:
		in *= b2i(atRoot)
	}
	switch s.Kind {
	case AllGather, AllToAll:
		out *= n
	case Gather:
		out *= n * b2i(atRoot)
	case Reduce:
		out *= b2i(atRoot)
	}
	return in, out
}

// inputAt is where the input of an operation in place lies in its buffer.
func (c *Comm) inputAt(s OpSpec) int64 {
	if s.Kind == AllGather || s.Kind == Gather && c.rank == s.Root {
		return int64(c.rank) * s.Count
	}
	return 0
}

func (c *Comm) input(s OpSpec, rank, slot int) []float64 {
	elsewhere := *c
	elsewhere.rank = rank
	in, _ := elsewhere.layout(s)
	values := make([]float64, in)
	for i := range values {
		values[i] = value(s.Type, rank, i, slot)
	}
	return values
}

// want is the output of this rank.
func (c *Comm) want(s OpSpec, slot int) []float64 {
	_, out := c.layout(s)
	n, count := c.size, int(s.Count)
	input := make([][]float64, n)
	for r := range input {
		input[r] = c.input(s, r, slot)
	}
	values := make([]float64, out)
	for i := range values {
		switch s.Kind {
		case AllReduce, Reduce, ReduceScatter:
			at := i
			if s.Kind == ReduceScatter {
				at += c.rank * count
			}
			column := make([]float64, n)
			for r := range column {
				column[r] = input[r][at]
			}
			values[i] = combine(s.Type, s.Op, column)
		case AllGather, Gather:
			values[i] = input[i/count][i%count]
		case AllToAll:
			values[i] = input[i/count][c.rank*count+i%count]
		case Broadcast:
			values[i] = input[s.Root][i]
		case Scatter:
			values[i] = input[s.Root][c.rank*count+i]
		case SendRecv:
			values[i] = input[(c.rank+n-1)%n][i]
		}
		if s.InPlace && s.Kind == Scatter && c.rank == s.Root {
			values[i] = input[c.rank][i] // its own share stays where it is, among the others
		}
	}
	return values
}

// Two ranks combine every pattern of float16 and bfloat16 with another, and an average halves the sum.
func TestHalves(t *testing.T) { run(t, "halves", world{OpenMPI, 2}, world{MPICH, 2}) }

func init() {
	workers["halves"] = func(m *MPI) error {
		defer func() { m.intMax = math.MaxInt32 }()
		for _, m.intMax = range []int64{math.MaxInt32, 1 << 14} { // by MPI_Op_create_c where there is one
			for _, t := range []Type{Float16, BFloat16} {
				for op := Sum; op <= Avg; op++ {
					for _, factor := range []uint32{1, 40503} {
						if err := everyHalf(m.World(), t, op, factor); err != nil {
							return err
						}
					}
				}
			}
		}
		return nil
	}
}

func everyHalf(c *Comm, t Type, op Op, factor uint32) error {
	const count = 1 << 16
	b, err := loop.AllocBuffer(2 * count)
	if err != nil {
		return err
	}
	defer func() { _ = b.Free() }()
	x := unsafe.Slice((*uint16)(b.Pointer()), count)
	pattern := func(rank int, i uint32) uint16 {
		if rank == 0 {
			return uint16(i)
		}
		return uint16(i*factor + 12345)
	}
	for i := range x {
		x[i] = pattern(c.rank, uint32(i))
	}
	o, err := c.Prepare(OpSpec{Kind: AllReduce, Type: t, Op: op, InPlace: true, Recv: b.Pointer(), Count: count})
	if err != nil {
		return err
	}
	defer func() { _ = o.Close() }()
	if err := issue(o, 1); err != nil {
		return err
	}
	h := halves[t]
	for i := range x {
		p, q := h.decode(pattern(0, uint32(i))), h.decode(pattern(1, uint32(i)))
		r := p + q
		switch op {
		case Prod:
			r = p * q
		case Min:
			r = math.Min(p, q)
		case Max:
			r = math.Max(p, q)
		}
		if (op == Min || op == Max) && (math.IsNaN(p) || math.IsNaN(q)) {
			r = math.NaN()
		}
		want := h.encode(r)
		if op == Avg {
			want = h.encode(h.decode(want) / 2)
		}
		// All NaNs are as good, and minimum and maximum may take either zero.
		got := h.decode(x[i])
		if x[i] != want && !(math.IsNaN(got) && math.IsNaN(r)) && !(got == 0 && r == 0 && (op == Min || op == Max)) {
			return fmt.Errorf("%s %s of %g and %g: %g (%#04x), want %g (%#04x)", t, op, p, q, got, x[i], h.decode(want), want)
		}
	}
	return nil
}
