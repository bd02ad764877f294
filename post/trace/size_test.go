package trace

import (
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"

	"github.com/shoenig/test"
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
		test.EqOp(t, c.want, wholeSize(c.what, c.in, c.out, c.ranks), test.Sprint(c.what, c.in, c.out, c.ranks))
	}
}

func TestElementType(t *testing.T) {
	for _, want := range golden.Table[struct {
		What, Name string
		Bytes      int
	}](t, `
		What                 Name              Bytes
		Float                float32           4
		BFloat16             bfloat16          2
		c10::BFloat16        bfloat16          2
		Half                 float16           2
		Long                 int64             8
		long int             int64             8
		unsigned char        uint8             1
		Int                  int32             4
		Char                 int8              1
		Byte                 uint8             1
		Bool                 bool              1
		Short                int16             2
		Float8_e4m3fn        float8e4m3        1
		Float8_e5m2          float8e5m2        1
		ComplexFloat         complex64         8
		c10::complex<float>  complex64         8
		Float4_e2m1fn_x2     Float4_e2m1fn_x2  0
		-                    -                 0
	`) {
		if name, bytes := elementType(want.What); name != want.Name || bytes != want.Bytes {
			t.Errorf("%q: %q of %d bytes, want %q of %d", want.What, name, bytes, want.Name, want.Bytes)
		}
	}
}
