package backend

import (
	"errors"
	"testing"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
)

func newRefusing(algorithms string, capabilities ...int) *ncclBackend {
	h := &Host{}
	h.Options.GPU.Algorithms = algorithms
	l := &ncclLibrary{ncclGPUs: ncclGPUs{h: h}}
	w := &World{}
	for r, major := range capabilities {
		l.ranks = append(l.ranks, gpuFacts{Major: major})
		w.Names = append(w.Names, r)
	}
	return &ncclBackend{l: l, w: w}
}

// What a library has refused is not tried again: each try may cost a communicator.
func TestRefusedReduction(t *testing.T) {
	float8 := coll.Case{Collective: coll.AllReduce, Type: coll.Float8E5M2, Op: coll.Sum, World: 2}
	float32 := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, World: 2}
	refusal := &bench.OperationError{Status: result.Unsupported, Err: errors.New("no float8")}
	b := newRefusing("", 8, 8)
	b.remember(float32, &bench.OperationError{Status: result.Failed, Err: errors.New("lost")})
	b.remember(float8, refusal)
	float8.SizeBytes = 4096
	if got := b.unsupported[reductionOf(float8)]; got != "no float8" {
		t.Errorf("float8 after its refusal: %q", got)
	}
	float8.Op = coll.Max
	for _, c := range []coll.Case{float32, float8} {
		if got := b.unsupported[reductionOf(c)]; got != "" {
			t.Errorf("%s: %q", c, got)
		}
	}
	b = newRefusing("nvls", 8, 8) // may fit another size
	b.remember(float32, refusal)
	if got := b.unsupported[reductionOf(float32)]; got != "" {
		t.Errorf("with --algo: %q", got)
	}
}

// NCCL compares the least compute capability of all ranks.
func TestFloat8NeedsHopperOnEveryRank(t *testing.T) {
	float8 := coll.Case{Collective: coll.AllReduce, Type: coll.Float8E4M3, Op: coll.Sum, World: 2}
	if newRefusing("", 9, 10).lacksFloat8(float8) || !newRefusing("", 9, 8).lacksFloat8(float8) {
		t.Error("float8 is refused where one GPU is older, and only there")
	}
	float8.Type = coll.Float16
	if newRefusing("", 8).lacksFloat8(float8) {
		t.Error("float16 is not refused")
	}
}
