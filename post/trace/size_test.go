package trace

import (
	"testing"

	"busbar/internal/coll"
)

func TestWholeSize(t *testing.T) {
	for _, c := range []struct {
		what    coll.Collective
		in, out int64
		ranks   int
		want    int64
	}{
		{coll.AllReduce, 100, 100, 8, 100},
		{coll.AllReduce, 100, Unknown, 8, 100},
		{coll.AllReduce, Unknown, 100, 8, 100},
		{coll.AllReduce, 100, 200, 8, Unknown},
		{coll.Broadcast, 100, 0, 8, 100},
		{coll.Reduce, 100, 100, 0, 100},
		{coll.AllToAll, 800, 800, 8, 800},
		{coll.AllToAll, 800, 801, 8, Unknown},
		{coll.AllGather, 100, 800, 8, 800},
		{coll.AllGather, 100, Unknown, 8, 800},
		{coll.AllGather, Unknown, 800, 8, 800},
		{coll.AllGather, 100, 801, 8, Unknown},
		{coll.AllGather, 100, 800, 0, 800},
		{coll.ReduceScatter, 800, 100, 8, 800},
		{coll.ReduceScatter, Unknown, 100, 8, 800},
		{coll.ReduceScatter, 800, 99, 8, Unknown},
		{coll.Gather, 100, 0, 8, 800},
		{coll.Scatter, 0, 100, 8, 800},
		{coll.AllGather, Unknown, Unknown, 8, Unknown},
		{coll.AllGather, 1 << 49, Unknown, 8, Unknown},
		{coll.Other, 100, 100, 8, Unknown},
	} {
		if got := wholeSize(c.what, c.in, c.out, c.ranks); got != c.want {
			t.Errorf("%v of %d in, %d out on %d ranks: %d, want %d", c.what, c.in, c.out, c.ranks, got, c.want)
		}
	}
}

func TestElementType(t *testing.T) {
	for word, want := range map[string]struct {
		name  string
		bytes int
	}{
		"Float": {"float32", 4}, "BFloat16": {"bfloat16", 2}, "c10::BFloat16": {"bfloat16", 2}, "Half": {"float16", 2},
		"Long":     {"int64", 8},
		"long int": {"int64", 8}, "unsigned char": {"uint8", 1}, "Int": {"int32", 4}, "Char": {"int8", 1},
		"Byte": {"uint8", 1}, "Bool": {"bool", 1},
		"Short": {"int16", 2}, "Float8_e4m3fn": {"float8e4m3", 1}, "Float8_e5m2": {"float8e5m2", 1},
		"ComplexFloat":        {"complex64", 8},
		"c10::complex<float>": {"complex64", 8}, "Float4_e2m1fn_x2": {"Float4_e2m1fn_x2", 0}, "": {"", 0},
	} {
		if name, bytes := elementType(word); name != want.name || bytes != want.bytes {
			t.Errorf("%q: %q of %d bytes, want %q of %d", word, name, bytes, want.name, want.bytes)
		}
	}
}
