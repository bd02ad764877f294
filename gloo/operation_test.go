//go:build cgo

package gloo

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/operation"
	"busbar/internal/reference"

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
	for k := range reference.Cases(c.size, coll.Collectives(), types, ops, counts...) {
		if k.Placement == coll.InPlace && (k.Collective == coll.AllToAll || k.Collective == coll.SendRecv) {
			continue
		}
		if err := correct(c, k); err != nil {
			return fmt.Errorf("%s root %d of %d, count %d: %w", k.Point(), k.Root, c.size, k.Count, err)
		}
	}
	return nil
}

// Messages longer than the chunks of Gloo and the ring, with a remainder.
func TestLongMessages(t *testing.T) {
	must(t, group(t, 3, Options{}, func(c *Context) error {
		return collectives(c, []coll.DataType{coll.Int32}, []coll.RedOp{coll.Sum}, 1<<20+12345)
	}))
}

// correct runs the operation once per slot and compares every byte of both buffers on this rank.
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
	trial := reference.Trial{Case: k, Rank: c.rank, Slots: s.Slots, Scratch: true}
	s.SendStride, s.RecvStride = trial.Strides()
	return trial.Run(func(send, recv unsafe.Pointer) error {
		s.Send, s.Recv = send, recv
		o, err := c.prepare(s, segment)
		if err != nil {
			return err
		}
		defer o.Close()
		return issue(o, s.Slots/max(1, s.Aggregate))
	})
}

// Two ranks combine every pattern of float16 and bfloat16 with another, and an average halves the sum.
func TestHalves(t *testing.T) {
	must(t, group(t, 2, Options{}, func(c *Context) error {
		return reference.Halves(c.rank, func(t coll.DataType, op coll.RedOp, at unsafe.Pointer, count int64) error {
			o, err := c.Prepare(reference.InPlace(coll.AllReduce, t, op, at, count))
			if err != nil {
				return err
			}
			defer o.Close()
			return issue(o, 1)
		})
	}))
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
