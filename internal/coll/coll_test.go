package coll

import (
	"encoding"
	"errors"
	"math"
	"testing"

	"github.com/shoenig/test"
)

// roundTrip reads every value back from its text.
func roundTrip[T interface {
	comparable
	encoding.TextMarshaler
}, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, values ...T) {
	t.Helper()
	for _, v := range values {
		var w T
		b, err := v.MarshalText()
		if err == nil {
			err = P(&w).UnmarshalText(b)
		}
		if err != nil || w != v {
			t.Errorf("%s: %v", b, err)
		}
	}
}

func TestWordsRoundTrip(t *testing.T) {
	roundTrip(t, Collectives()...)
	roundTrip(t, DataTypes()...)
	roundTrip(t, append(RedOps(), 0)...)
	roundTrip(t, OutOfPlace, InPlace)
	roundTrip(t, Throughput, Latency)
	if _, err := Collective(0).MarshalText(); err == nil {
		t.Error("no collective can be written")
	}
	if len(titles) != len(Collectives()) || len(typeSizes) != len(DataTypes()) {
		t.Error("a table is shorter than its words")
	}
}

// Operations of other tools can be written and read, but not requested.
func TestOther(t *testing.T) {
	b, err := Other.MarshalText()
	var c Collective
	if err != nil || c.UnmarshalText(b) != nil || c != Other {
		t.Errorf("%s is read as %s, %v", b, c, err)
	}
	if _, err := ParseCollective(string(b)); err == nil {
		t.Error("it can be asked for")
	}
	test.EqOp(t, 0, Other.BusFactor(8))
}

func TestAlternativeSpellings(t *testing.T) {
	for s, want := range map[string]Collective{"AllReduce": AllReduce, "bcast": Broadcast, "all-to-all": AllToAll,
		" gather ": Gather} {
		if c, err := ParseCollective(s); err != nil || c != want {
			t.Errorf("%q is %v, %v", s, c, err)
		}
	}
	for s, want := range map[string]DataType{"float": Float32, "half": Float16, "double": Float64, "bf16": BFloat16} {
		if d, err := ParseDataType(s); err != nil || d != want {
			t.Errorf("%q is %v, %v", s, d, err)
		}
	}
}

func TestUnknownWordSuggestsNearest(t *testing.T) {
	for s, want := range map[string]string{"allreduze": "all_reduce", "flaot": "", "reduce_scater": "reduce_scatter",
		"brodcast": "broadcast", "xyzzy": ""} {
		_, err := ParseCollective(s)
		var unknown *UnknownWordError
		if !errors.As(err, &unknown) || unknown.Nearest != want {
			t.Errorf("%q: %v", s, err)
		}
	}
	_, err := ParseDataType("flaot")
	var unknown *UnknownWordError
	if !errors.As(err, &unknown) || unknown.Nearest != "float" {
		t.Errorf("flaot: %v", err)
	}
}

func TestSizes(t *testing.T) {
	for s, want := range map[string]int64{"8": 8, "64K": 64 << 10, "1m": 1 << 20, "8G": 8 << 30, "1MiB": 1 << 20,
		"1 MB": 1 << 20, "2T": 2 << 40, "0": 0, "10B": 10} {
		if n, err := ParseSize(s); err != nil || n != want {
			t.Errorf("%q is %d, %v", s, n, err)
		}
	}
	for _, s := range []string{"", "1X", "K", "-8", "1.5G", "9223372036854775808", "9223372036854775807K", "1K2"} {
		if n, err := ParseSize(s); err == nil {
			t.Errorf("%q is read as %d", s, n)
		}
	}
	for n, want := range map[int64]string{8: "8", 1000: "1000", 1024: "1K", 1536: "1536", 8 << 30: "8G", 0: "0"} {
		test.EqOp(t, want, FormatSize(n, false), test.Sprint(n))
		if back, err := ParseSize(FormatSize(n, true)); err != nil || back != n {
			t.Errorf("%q reads back as %d, %v", FormatSize(n, true), back, err)
		}
	}
}

// Sizes and factors of nccl-tests, for four ranks and float32, with a size that it truncates.
func TestSizesMatchNCCLTests(t *testing.T) {
	for _, k := range []struct {
		c           Collective
		size, count int64
		factor      float64
	}{
		{AllReduce, 1000, 250, 1.5},
		{AllGather, 960, 60, 0.75}, // 1000/4/4 = 62 elements a rank, trimmed to 60 (16 bytes)
		{ReduceScatter, 960, 60, 0.75},
		{AllToAll, 960, 60, 0.75},
		{Gather, 960, 60, 0.75},
		{Scatter, 960, 60, 0.75},
		{Broadcast, 1000, 250, 1},
		{Reduce, 1000, 250, 1},
		{SendRecv, 1000, 250, 1},
	} {
		c := Case{Collective: k.c, Type: Float32, World: 4}.WithSize(1000)
		if c.SizeBytes != k.size || c.Count != k.count || k.c.BusFactor(4) != k.factor {
			t.Errorf("%s: size %d, count %d, factor %g; wanted %+v", k.c, c.SizeBytes, c.Count, k.c.BusFactor(4), k)
		}
		if bw := c.AlgBW(1e-6); math.Abs(bw-float64(k.size)*1e6) > 1 {
			t.Errorf("%s: algbw %g", k.c, bw)
		}
		if small := (Case{Collective: k.c, Type: Float32, World: 4}).WithSize(8); k.c.Shared() != (small.Count == 0) ||
			small.SizeBytes != 8 {
			t.Errorf("%s: 8 bytes are %d elements", k.c, small.Count)
		}
	}
	for t64, count := range map[DataType]int64{Int8: 240, Float16: 120, Float64: 30} {
		test.EqOp(t, count, (Case{Collective: AllGather, Type: t64, World: 4}).WithSize(1000).Count, test.Sprint(t64))
	}
	if (Collective(0)).BusFactor(0) != 0 || AllReduce.BusFactor(1) != 0 || (Case{}).AlgBW(0) != 0 {
		t.Error("a world of one has no bus")
	}
}

// Elements are the tensor of one rank, as in the collective profiler.
func TestElements(t *testing.T) {
	for k, size := range map[Collective]int64{AllReduce: 4 << 20, AllGather: 16 << 20, ReduceScatter: 16 << 20,
		Broadcast: 4 << 20} {
		c, err := Case{Collective: k, Type: Float32, World: 4}.WithElements(1 << 20)
		if err != nil || c.Count != 1<<20 || c.SizeBytes != size {
			t.Errorf("%s: %d elements, %d bytes, %v", k, c.Count, c.SizeBytes, err)
		}
	}
	for _, c := range []Case{{Collective: AllGather, Type: Float64}, {Collective: AllReduce, World: 4}} {
		if _, err := c.WithElements(1); err == nil {
			t.Errorf("%+v: a size without type or world", c)
		}
	}
	if _, err := (Case{Collective: AllGather, Type: Float64, World: 1 << 20}).WithElements(1 << 41); err == nil {
		t.Error("an overflow is not an error")
	}
}

// What goes in comes out somewhere: over all ranks, inputs and outputs fit each collective.
func TestBufferCounts(t *testing.T) {
	const n, base = 4, 10
	for k, want := range map[Collective][4]int64{ // root's send, receive; another rank's
		AllReduce: {10, 10, 10, 10}, AllGather: {10, 40, 10, 40}, ReduceScatter: {40, 10, 40, 10}, Broadcast: {10, 10,
			0, 10},
		Reduce: {10, 10, 10, 0}, AllToAll: {40, 40, 40, 40}, Gather: {10, 40, 10, 0}, Scatter: {40, 10, 0, 10},
		SendRecv: {10, 10, 10, 10},
	} {
		c := Case{Collective: k, Type: Int8, World: n, Root: 2, Count: base, Placement: OutOfPlace}
		got := [4]int64{c.SendCount(2), c.RecvCount(2), c.SendCount(1), c.RecvCount(1)}
		if got != want {
			t.Errorf("%s: %v, wanted %v", k, got, want)
		}
		test.EqOp(t, want[0]+want[1], c.MemoryBytes(2), test.Sprint(k))
		c.Placement = InPlace
		test.EqOp(t, max(want[0], want[1]), c.MemoryBytes(2), test.Sprint(k))
	}
}

// 8 GiB of one-byte elements are more than 2³¹.
func TestLargeCounts(t *testing.T) {
	c := Case{Collective: AllGather, Type: Int8, World: 2, Placement: OutOfPlace}.WithSize(8 << 30)
	if c.Count != 4<<30 || c.SizeBytes != 8<<30 || c.RecvCount(0) != 8<<30 || c.MemoryBytes(0) != 12<<30 {
		t.Errorf("%+v", c)
	}
}

func TestCaseText(t *testing.T) {
	c := Case{Collective: Reduce, Type: Float16, Op: Max, Root: 3, Placement: InPlace, Mode: Latency,
		World: 4}.WithSize(64 << 10)
	if got, want := c.String(), "reduce float16 max root 3 64 KiB in-place latency"; got != want {
		t.Errorf("%q, wanted %q", got, want)
	}
}
