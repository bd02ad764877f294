//go:build cgo

package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/coll"

	"github.com/shoenig/test"
)

// Inputs and outputs of three ranks, computed by hand: the inputs are (5·rank + 3·i) mod 7 - 3.
func TestOutputs(t *testing.T) {
	in := [][]float64{{-3, 0, 3, -1, 2, -2}, {2, -2, 1, -3, 0, 3}, {0, 3, -1, 2, -2, 1}}
	for _, c := range []struct {
		collective coll.Collective
		op         coll.RedOp
		rank       int
		want       []float64
	}{
		{coll.AllReduce, coll.Sum, 0, []float64{-1, 1}},
		{coll.ReduceScatter, coll.Prod, 1, []float64{-3, 6}},
		{coll.AllReduce, coll.Min, 2, []float64{-3, -2}},
		{coll.AllReduce, coll.Max, 2, []float64{2, 3}},
		{coll.ReduceScatter, coll.Avg, 1, []float64{1, 0}},
		{coll.Reduce, coll.Sum, 1, []float64{-1, 1}},
		{coll.Reduce, coll.Sum, 0, nil},
		{coll.ReduceScatter, coll.Sum, 1, []float64{3, -2}},
		{coll.AllGather, 0, 2, []float64{-3, 0, 2, -2, 0, 3}},
		{coll.Gather, 0, 1, []float64{-3, 0, 2, -2, 0, 3}},
		{coll.Gather, 0, 2, nil},
		{coll.AllToAll, 0, 1, []float64{3, -1, 1, -3, -1, 2}},
		{coll.Broadcast, 0, 2, []float64{2, -2}},
		{coll.Scatter, 0, 2, []float64{0, 3}},
		{coll.SendRecv, 0, 0, []float64{0, 3}},
	} {
		k := coll.Case{Collective: c.collective, Type: coll.Int32, Op: c.op, Root: 1, World: 3, Count: 2}
		for r := range in {
			if got := input(k, r, 0); !slices.Equal(got, in[r][:len(got)]) {
				t.Errorf("%s: rank %d gives %v, want the first of %v", c.collective, r, got, in[r])
			}
		}
		test.SliceEqOp(t, c.want, output(k, c.rank, 0), test.Sprint(c.collective, c.op, c.rank))
	}
}

// With one rank, all_reduce is a copy, which is correct; any other wrong result is detected.
func TestTrial(t *testing.T) {
	one := trial{Case: coll.Case{Collective: coll.AllReduce, Type: coll.Int32, Op: coll.Sum, World: 1, Count: 5},
		Slots: 2}
	a, b := one.Strides()
	if a != 5*4+guard || b != a {
		t.Errorf("strides %d and %d", a, b)
	}
	failed := errors.New("it failed")
	for want, spoil := range map[string]func(send, recv []byte) error{
		"":                                       func(_, _ []byte) error { return nil },
		"it failed":                              func(_, _ []byte) error { return failed },
		"the input was changed: from byte 3 ":    func(send, _ []byte) error { send[3]++; return nil },
		"the output: from byte 19 of 168 on":     func(_, recv []byte) error { recv[19]++; return nil },
		"the output: from byte 20 of 168 on":     func(_, recv []byte) error { recv[20]++; return nil },
		"the output: from byte 84 of 168 on it ": func(_, recv []byte) error { recv[84]++; return nil },
	} {
		err := one.Run(func(send, recv unsafe.Pointer) error {
			from, to := unsafe.Slice((*byte)(send), 2*a), unsafe.Slice((*byte)(recv), 2*b)
			for slot := range int64(2) {
				copy(to[slot*b:slot*b+20], from[slot*a:])
			}
			return spoil(from, to)
		})
		if said := fmt.Sprint(err); (err == nil) != (want == "") || want != "" && !strings.Contains(said, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Data after the result of an in-place reduce_scatter is checked unless the library may use it.
func TestScratch(t *testing.T) {
	for _, scratch := range []bool{false, true} {
		one := trial{Case: coll.Case{Collective: coll.ReduceScatter, Type: coll.Int8, Op: coll.Max,
			Placement: coll.InPlace,
			World:     2, Count: 3}, Slots: 1, Scratch: scratch}
		err := one.Run(func(_, recv unsafe.Pointer) error {
			to := unsafe.Slice((*byte)(recv), 6+guard)
			copy(to, encode(coll.Int8, output(one.Case, 0, 0)))
			to[5]++
			return nil
		})
		if (err == nil) != scratch {
			t.Errorf("scratch %t: %v", scratch, err)
		}
	}
}

func TestCheckPatterns(t *testing.T) {
	right := make([]uint16, patterns)
	const t16 = coll.BFloat16
	for i := range right {
		right[i] = encodeHalf(t16, decodeHalf(t16, pattern(0, uint32(i), 1))+decodeHalf(t16, pattern(1, uint32(i), 1)))
	}
	test.NoError(t, checkPatterns(right, coll.BFloat16, coll.Sum, 1))
	right[0x3f80] ^= 1
	test.ErrorContains(t, checkPatterns(right, coll.BFloat16, coll.Sum, 1), "bfloat16 sum of 1 and ")
}
