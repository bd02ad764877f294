//go:build cgo

package gloo

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/reference"
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
						s := OpSpec{Kind: kind, Type: t, Op: op, InPlace: inPlace, Count: count,
							Root: (i + int(t)) % c.size}
						if err := variants(c, s); err != nil {
							return fmt.Errorf("%s %s %s in place %t, count %d, root %d of %d: %w", kind, t, op, inPlace,
								count, s.Root, c.size, err)
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

// correct runs the operation once per slot and compares every byte of both buffers on this rank.
func correct(c *Context, s OpSpec, segment int64) error {
	trial := reference.Trial{Case: reference.Case(s.Kind, s.Type, s.Op, s.InPlace, s.Root, c.size, s.Count),
		Rank: c.rank, Slots: max(1, s.Slots), Scratch: true}
	s.SendStride, s.RecvStride = trial.Strides()
	err := trial.Run(func(send, recv unsafe.Pointer) error {
		s.Send, s.Recv = send, recv
		o, err := c.prepare(s, segment)
		if err != nil {
			return err
		}
		defer o.Close()
		return issue(o, max(1, s.Slots/max(1, s.Aggregate)))
	})
	var lacks *UnsupportedError
	if errors.As(err, &lacks) && s.InPlace && (s.Kind == AllToAll || s.Kind == SendRecv) {
		return nil
	}
	return err
}

// Two ranks combine every pattern of float16 and bfloat16 with another, and an average halves the sum.
func TestHalves(t *testing.T) {
	must(t, group(t, 2, Options{}, func(c *Context) error {
		return reference.Halves(c.rank, func(t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) error {
			o, err := c.Prepare(OpSpec{Kind: AllReduce, Type: Type(t), Op: Op(op), InPlace: true, Recv: at,
				Count: count})
			if err != nil {
				return err
			}
			defer o.Close()
			return issue(o, 1)
		})
	}))
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
		if _, err := c.Prepare(OpSpec{Kind: Gather, Type: Int8, Root: 2}); err == nil ||
			!strings.Contains(err.Error(), "root 2") {
			return fmt.Errorf("root 2 of 2 ranks: %v", err)
		}
		return nil
	}))
}
