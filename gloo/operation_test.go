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

	"busbar/internal/loop"
)

func TestOperations(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8} {
		t.Run(fmt.Sprint(n, " ranks"), func(t *testing.T) { must(t, group(t, n, Options{}, everything)) })
	}
}

// everything runs all kinds, types, reductions, placements and algorithms. What is special to a type shows in small
// worlds; the larger ones, for which this machine has too few cores, take one of each size.
func everything(c *Context) error {
	types := []Type{Int8, UInt8, Int32, UInt32, Int64, UInt64, Float16, BFloat16, Float32, Float64}
	switch {
	case c.size > 4:
		types = []Type{Float16, UInt32}
	case c.size > 3:
		types = []Type{Int8, Float16, UInt32, Float64}
	}
	for kind := AllReduce; kind <= SendRecv; kind++ {
		for _, t := range types {
			ops := []Op{0}
			if kind.reduces() {
				ops = []Op{Sum, Prod, Min, Max, Avg}
			}
			for _, op := range ops {
				for _, inPlace := range []bool{false, true} {
					for i, count := range []int64{0, 1, 7, 1000} {
						s := OpSpec{Kind: kind, Type: t, Op: op, InPlace: inPlace, Count: count, Root: (i + int(t)) % c.size}
						if err := variants(c, s); err != nil {
							return fmt.Errorf("%s %s %s in place %t, count %d, root %d of %d: %w", kind, t, op, inPlace, count, s.Root, c.size, err)
						}
					}
				}
			}
		}
	}
	return nil
}

func variants(c *Context, s OpSpec) error {
	if s.Count == 7 {
		s.Slots = 4
		if s.Type == Int32 {
			s.Aggregate = 2
		}
	}
	var segment int64
	if s.Kind == ReduceScatter && s.Count == 1000 {
		segment = 99 // many of them, the last one shorter
	}
	if err := correct(c, s, segment); err != nil || s.Kind != AllReduce {
		return err
	}
	s.Algorithm = BCube
	if err := correct(c, s, 0); err != nil {
		return fmt.Errorf("bcube: %w", err)
	}
	return nil
}

// Messages longer than what Gloo and the ring send at once, with a rest.
func TestLongMessages(t *testing.T) {
	must(t, group(t, 3, Options{}, func(c *Context) error {
		for kind := AllReduce; kind <= SendRecv; kind++ {
			for _, inPlace := range []bool{false, true} {
				s := OpSpec{Kind: kind, Type: Int32, InPlace: inPlace, Count: 1<<20 + 12345, Root: 1}
				if kind.reduces() {
					s.Op = Sum
				}
				if err := correct(c, s, 0); err != nil {
					return fmt.Errorf("%s in place %t: %w", kind, inPlace, err)
				}
			}
		}
		return nil
	}))
}

// guard is the number of bytes around each place of a buffer that no operation may touch.
const guard = 64

// correct runs the operation once per slot and compares every byte of both buffers on this rank.
func correct(c *Context, s OpSpec, segment int64) error {
	slots := max(1, s.Slots)
	in, out := c.layout(s)
	size := s.Type.Size()
	s.SendStride, s.RecvStride = in*size+guard, out*size+guard
	if s.InPlace {
		s.RecvStride = max(in, out)*size + guard
	}
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
		input := encode(s.Type, c.input(s, c.rank, slot))
		if s.InPlace {
			at := b + c.inputAt(s)*size
			copy(recv.Bytes()[at:], input)
			copy(wantRecv[at:], input)
		} else {
			copy(send.Bytes()[a:], input)
			copy(wantSend[a:], input)
		}
		copy(wantRecv[b:], encode(s.Type, c.want(s, slot)))
	}
	o, err := c.prepare(s, segment)
	var lacks *UnsupportedError
	if errors.As(err, &lacks) && s.InPlace && (s.Kind == AllToAll || s.Kind == SendRecv) {
		return nil
	}
	if err != nil {
		return err
	}
	defer o.Close()
	if err := issue(o, max(1, slots/max(1, s.Aggregate))); err != nil {
		return err
	}
	got := bytes.Clone(recv.Bytes())
	for slot := range slots { // what is not the result is the library's to use when in place
		b := int64(slot) * s.RecvStride
		if own := out * size; s.InPlace && in > out {
			copy(wantRecv[b+own:b+in*size], got[b+own:])
		}
	}
	if !bytes.Equal(send.Bytes(), wantSend) {
		return fmt.Errorf("rank %d: the input was changed", c.rank)
	}
	if !bytes.Equal(got, wantRecv) {
		at := 0
		for got[at] == wantRecv[at] {
			at++
		}
		end := min(at+32, len(got))
		return fmt.Errorf("rank %d: from byte %d of %d on the output is\n%x, want\n%x", c.rank, at, len(got), got[at:end], wantRecv[at:end])
	}
	return nil
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xa5
	}
}

// layout is the number of elements that a rank has as input and gets as output.
func (c *Context) layout(s OpSpec) (in, out int64) { return shape(s, c.rank, c.size) }

func shape(s OpSpec, rank, size int) (in, out int64) {
	n, others := int64(size), rank != s.Root
	in, out = s.Count, s.Count
	switch {
	case s.Kind == ReduceScatter, s.Kind == AllToAll, s.Kind == Scatter && !others:
		in *= n
	case (s.Kind == Scatter || s.Kind == Broadcast) && others:
		in = 0
	}
	switch {
	case s.Kind == AllGather, s.Kind == AllToAll, s.Kind == Gather && !others:
		out *= n
	case (s.Kind == Gather || s.Kind == Reduce) && others:
		out = 0
	}
	return in, out
}

// inputAt is where the input of an operation in place lies in its buffer.
func (c *Context) inputAt(s OpSpec) int64 {
	if s.Kind == AllGather || s.Kind == Gather && c.rank == s.Root {
		return int64(c.rank) * s.Count
	}
	return 0
}

func (c *Context) input(s OpSpec, rank, slot int) []float64 {
	in, _ := shape(s, rank, c.size)
	values := make([]float64, in)
	for i := range values {
		values[i] = value(s.Type, s.Op, rank, i, slot)
	}
	return values
}

// want is the output of this rank.
func (c *Context) want(s OpSpec, slot int) []float64 {
	_, out := c.layout(s)
	n, count := c.size, int(s.Count)
	input := make([][]float64, n)
	for r := range input {
		input[r] = c.input(s, r, slot)
	}
	values := make([]float64, out)
	column := make([]float64, n)
	for i := range values {
		switch s.Kind {
		case AllReduce, Reduce, ReduceScatter:
			at := i
			if s.Kind == ReduceScatter {
				at += c.rank * count
			}
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
func TestHalves(t *testing.T) {
	must(t, group(t, 2, Options{}, func(c *Context) error {
		for _, t := range []Type{Float16, BFloat16} {
			for op := Sum; op <= Avg; op++ {
				for _, factor := range []uint32{1, 40503} {
					if err := everyHalf(c, t, op, factor); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}))
}

func everyHalf(c *Context, t Type, op Op, factor uint32) error {
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
	defer o.Close()
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

func TestNotesAndRefusals(t *testing.T) {
	must(t, group(t, 2, Options{}, func(c *Context) error {
		for want, s := range map[string]OpSpec{
			"bcube":                   {Kind: AllReduce, Op: Sum, Type: Int8, Algorithm: BCube},
			"Gloo's ring":             {Kind: AllReduce, Op: Sum, Type: Int8},
			"no reduce_scatter":       {Kind: ReduceScatter, Op: Sum, Type: Int8},
			"division by busbar":      {Kind: ReduceScatter, Op: Avg, Type: Int8},
			"unbound buffers":         {Kind: SendRecv, Type: Int8},
			"partial results":         {Kind: Reduce, Op: Max, Type: Int8, InPlace: true},
			"memory that busbar adds": {Kind: Reduce, Op: Max, Type: Int8},
			"onto itself":             {Kind: Gather, Type: Int8, InPlace: true},
		} {
			o, err := c.Prepare(s)
			if err != nil {
				return err
			}
			if notes := strings.Join(o.Notes(), "; "); !strings.Contains(notes, want) {
				return fmt.Errorf("%s: notes %q, want %q", s.Kind, notes, want)
			}
			o.Close()
			o.Close()
		}
		for want, s := range map[string]OpSpec{
			"no operation": {Kind: SendRecv + 1, Type: Int8},
			"no type":      {Kind: AllGather, Type: Float64 + 1},
			"is none":      {Kind: AllReduce, Type: Int8},
			"in place":     {Kind: AllToAll, Type: Int8, InPlace: true},
			"more than":    {Kind: AllGather, Type: Int64, Count: math.MaxInt64 / 8},
			"no algorithm": {Kind: AllReduce, Op: Sum, Type: Int8, Algorithm: 2},
		} {
			_, err := c.Prepare(s)
			var lacks *UnsupportedError
			if !errors.As(err, &lacks) || !strings.Contains(lacks.Reason, want) {
				return fmt.Errorf("%+v: %v, want %q", s, err, want)
			}
		}
		if _, err := c.Prepare(OpSpec{Kind: Gather, Type: Int8, Root: 2}); err == nil || !strings.Contains(err.Error(), "root 2") {
			return fmt.Errorf("root 2 of 2 ranks: %v", err)
		}
		return nil
	}))
}
