package coll

import (
	"errors"
	"slices"
	"testing"

	"github.com/shoenig/test"
)

func uneven(i Imbalance, world int, bytes int64) Case {
	return Case{Collective: AllToAllV, Type: Float32, Root: -1, World: world, Imbalance: i}.WithSize(bytes)
}

// Parts in bytes, from each rank to each; nccl-tests' formula for spread: (1-s)T/n + sTd/(n(n-1)/2).
func TestImbalances(t *testing.T) {
	for _, c := range []struct {
		imbalance Imbalance
		world     int
		bytes     int64
		want      Matrix
		size      int64
	}{
		{Even, 3, 96, Matrix{{32, 32, 32}, {32, 32, 32}, {32, 32, 32}}, 96},
		{Even, 3, 97, Matrix{{32, 32, 32}, {32, 32, 32}, {32, 32, 32}}, 96},
		{"spread:1", 3, 96, Matrix{{0, 32, 64}, {64, 0, 32}, {32, 64, 0}}, 96},
		{"spread:0.5", 3, 192, Matrix{{32, 64, 96}, {96, 32, 64}, {64, 96, 32}}, 192},
		{"spread:1", 1, 64, Matrix{{64}}, 64},
		{"hot:4", 3, 192, Matrix{{64, 16, 16}, {64, 16, 16}, {64, 16, 16}}, 192}, // rank 0 receives 3 x 64
		{"zipf:1", 2, 384, Matrix{{192, 96}, {192, 96}}, 384},
		{"zipf:50", 2, 64, Matrix{{32, 0}, {32, 0}}, 64},
	} {
		k := uneven(c.imbalance, c.world, c.bytes)
		test.EqOp(t, c.size, k.SizeBytes, test.Sprint(c.imbalance, c.bytes))
		checkParts(t, k, c.want)
	}
}

// checkParts compares sends, receives and offsets with a matrix of bytes.
func checkParts(t *testing.T, k Case, want Matrix) {
	t.Helper()
	size := int64(k.Type.Size())
	for from := range want {
		sends := k.Sends(from)
		for to, bytes := range want[from] {
			if sends[to]*size != bytes || k.Receives(to)[from]*size != bytes {
				t.Errorf("%s: %d to %d sends %d, receives %d, want %d bytes", k, from, to, sends[to]*size,
					k.Receives(to)[from]*size, bytes)
			}
		}
		if k.SendCount(from) != Total(sends) || k.RecvCount(from) != Total(k.Receives(from)) {
			t.Errorf("%s: counts of rank %d differ", k, from)
		}
		for to := range want {
			test.EqOp(t, Total(sends[:to]), k.Offsets(to)[from], test.Sprint(k, from, to))
		}
	}
}

func TestImbalanceMatrix(t *testing.T) {
	m := Matrix{{0, 160, 32}, {16, 0, 0}, {48, 320, 0}}
	i := m.Register("m.txt")
	other := Matrix{{1, 2, 3}, {0, 0, 0}, {0, 0, 0}}.Register("m.txt")
	if i.Bytes() != 480 || i.Ranks() != 3 || i != m.Register("m.txt") || i == other {
		t.Fatalf("%s: %d bytes of %d ranks", i, i.Bytes(), i.Ranks())
	}
	k := uneven(i, 3, i.Bytes())
	checkParts(t, k, m)
	test.EqOp(t, 480, k.SizeBytes)
	checkParts(t, uneven(i, 3, 960), Matrix{{0, 320, 64}, {32, 0, 0}, {96, 640, 0}})
	if even, is := k.EvenVolume(); !is || even.Imbalance != Even || even.SizeBytes != 192 { // 576 bytes in all, 64 each
		t.Errorf("even volume %s, %t", even, is)
	}
}

func TestEvenVolume(t *testing.T) {
	even, uneven := uneven("hot:4", 3, 192).EvenVolume()
	if !uneven || even.SizeBytes != 96 { // every rank sends 64 + 16 + 16
		t.Errorf("%s, %t", even, uneven)
	}
	if _, uneven := even.EvenVolume(); uneven {
		t.Error("an even alltoallv is uneven")
	}
	k := Case{Collective: AllToAllV, Type: Float32, World: 8, Imbalance: "hot:4"}.WithSize(1 << 10)
	if _, exists := k.EvenVolume(); exists { // 352 bytes per rank, of which equal parts are 256 or 384
		t.Error("an even reference that is 9 % off")
	}
	a := Case{Collective: AllToAllV, Type: Float32, World: 3, Imbalance: Even}.WithSize(1008)
	test.EqOp(t, a.WithSize(1011), a)
}

// Every size, and even of 1/n where floats are inexact, has the parts that integers give.
func TestEvenPartsExact(t *testing.T) {
	for world := 1; world <= 130; world++ {
		for _, each := range []int64{4, 400, 1 << 20, 3 << 28} {
			k := uneven(Even, world, int64(world)*each*4)
			if sends := k.Sends(0); slices.ContainsFunc(sends, func(n int64) bool { return n != each }) {
				t.Fatalf("%d ranks: parts of %d, want %d", world, sends[0], each)
			}
		}
	}
}

func TestParseImbalance(t *testing.T) {
	for in, want := range map[string]Imbalance{"even": Even, "spread:0.50": "spread:0.5", "hot:4": "hot:4",
		"zipf:1.2": "zipf:1.2", "zipf:0": "zipf:0"} {
		if got, err := ParseImbalance(in); err != nil || got != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for _, in := range []string{"spread", "spread:", "spread:1.1", "spread:-1", "hot:0", "hot:x", "zipf:NaN",
		"zipf:-1"} {
		unknown := (*UnknownWordError)(nil)
		if _, err := ParseImbalance(in); err == nil || errors.As(err, &unknown) {
			t.Errorf("%s: %v", in, err)
		}
	}
	unknown := (*UnknownWordError)(nil)
	if _, err := ParseImbalance("m.txt"); !errors.As(err, &unknown) {
		t.Error(err)
	}
}
