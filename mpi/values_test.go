//go:build cgo

package mpi

import (
	"encoding/binary"
	"math"

	"busbar/internal/coll"
)

// What the tests of operations expect: collectives in plain Go, slow and simple on purpose. It shares nothing with the
// binding, and with internal/bench only the conversion of halves. Values are float64, which holds all of them exactly.

func signed(t coll.DataType) bool {
	return t.Float() || t == coll.Int8 || t == coll.Int32 || t == coll.Int64
}

func put(t coll.DataType, b []byte, x float64) {
	switch t {
	case coll.Int8:
		b[0] = byte(int8(x))
	case coll.UInt8:
		b[0] = byte(x)
	case coll.Int32:
		binary.NativeEndian.PutUint32(b, uint32(int32(x)))
	case coll.UInt32:
		binary.NativeEndian.PutUint32(b, uint32(x))
	case coll.Int64:
		binary.NativeEndian.PutUint64(b, uint64(int64(x)))
	case coll.UInt64:
		binary.NativeEndian.PutUint64(b, uint64(x))
	case coll.Float16, coll.BFloat16:
		binary.NativeEndian.PutUint16(b, encodeHalf(t, x))
	case coll.Float32:
		binary.NativeEndian.PutUint32(b, math.Float32bits(float32(x)))
	case coll.Float64:
		binary.NativeEndian.PutUint64(b, math.Float64bits(x))
	}
}

// encode makes the bytes of a vector.
func encode(t coll.DataType, values []float64) []byte {
	b := make([]byte, t.Size()*len(values))
	for i, x := range values {
		put(t, b[i*t.Size():], x)
	}
	return b
}

// combine reduces the values of all ranks at one place. They are small whole numbers, so that only the division of
// an average rounds: float32 and the halves once more when they are stored.
func combine(t coll.DataType, op coll.RedOp, values []float64) float64 {
	r := values[0]
	for _, x := range values[1:] {
		switch op {
		case coll.Sum, coll.Avg:
			r += x
		case coll.Prod:
			r *= x
		case coll.Min:
			r = min(r, x)
		case coll.Max:
			r = max(r, x)
		}
	}
	if op != coll.Avg {
		return r
	}
	switch n := float64(len(values)); {
	case t == coll.Float64:
		return r / n
	case t.Float():
		return float64(float32(r) / float32(n))
	default:
		return math.Trunc(r / n)
	}
}

// value is the number at place i of the whole vector of a rank: small, so that sums, and products of four, fit int8.
// Further ranks multiply by one.
func value(t coll.DataType, op coll.RedOp, rank, i, salt int) float64 {
	if op == coll.Prod && rank >= 4 {
		return 1
	}
	v := float64((rank*5 + i*3 + i/7 + salt) % 7)
	if signed(t) {
		v -= 3
	}
	return v
}

// input is what a rank gives; the salt makes each slot's different.
func input(c coll.Case, rank, salt int) []float64 {
	values := make([]float64, c.SendCount(rank))
	for i := range values {
		values[i] = value(c.Type, c.Op, rank, i, salt)
	}
	return values
}

// output is what a rank must get.
func output(c coll.Case, rank, salt int) []float64 {
	n, count := c.World, int(c.Count)
	inputs := make([][]float64, n)
	for r := range inputs {
		inputs[r] = input(c, r, salt)
	}
	values := make([]float64, c.RecvCount(rank))
	column := make([]float64, n)
	for i := range values {
		switch c.Collective {
		case coll.AllReduce, coll.Reduce, coll.ReduceScatter:
			at := i
			if c.Collective == coll.ReduceScatter {
				at += rank * count
			}
			for r := range column {
				column[r] = inputs[r][at]
			}
			values[i] = combine(c.Type, c.Op, column)
		case coll.AllGather, coll.Gather:
			values[i] = inputs[i/count][i%count]
		case coll.AllToAll:
			values[i] = inputs[i/count][rank*count+i%count]
		case coll.AllToAllV:
			from, at := sender(c, rank, int64(i))
			values[i] = inputs[from][at]
		case coll.Broadcast:
			values[i] = inputs[c.Root][i]
		case coll.Scatter:
			values[i] = inputs[c.Root][rank*count+i]
		case coll.SendRecv:
			values[i] = inputs[(rank+n-1)%n][i]
		}
		if c.Placement == coll.InPlace && c.Collective == coll.Scatter && rank == c.Root {
			values[i] = inputs[rank][i] // its own share stays where it is, among the others
		}
	}
	return values
}

// sender is the rank that element i of a rank's output of an alltoallv comes from, and its place in that rank's input.
func sender(c coll.Case, rank int, i int64) (from int, at int64) {
	for r, count := range c.Receives(rank) {
		if i < count {
			return r, c.Offsets(rank)[r] + i
		}
		i -= count
	}
	return 0, 0
}
