package backend

import (
	"errors"
	"testing"

	"busbar/cudart"
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/program"
	"busbar/internal/result"
	"busbar/internal/step"

	"github.com/shoenig/test"
)

// A rank reports its position in a running step, for a plan that combines FSDP and DDP.
func TestGPUPosition(t *testing.T) {
	tr := &gpuTraining{plan: &step.Plan{
		Segments: []step.Segment{{Name: "forward"}, {Name: "backward"}, {Name: "optimizer"}},
		Ops:      []step.Op{{Name: "gather", After: -1, Before: 1}, {Name: "bucket", After: 1, Before: 2}},
	}}
	for _, k := range []struct {
		r    cudart.Reached
		want string
	}{
		{cudart.Reached{Mode: program.Compute, Segments: 1}, "computing backward"},
		{cudart.Reached{Mode: program.Comm, Ops: 1}, "bucket in flight"},
		{cudart.Reached{Mode: program.Sequential, Segments: 2}, "computing optimizer"},
		{cudart.Reached{Mode: program.Sequential, Segments: 3}, "gather in flight"},
		{cudart.Reached{Mode: program.Overlapped}, "computing forward, gather in flight"},
		{cudart.Reached{Mode: program.Overlapped, Segments: 1}, "waiting for gather, gather in flight"},
		{cudart.Reached{Mode: program.Overlapped, Segments: 1, Ops: 1}, "computing backward"},
		{cudart.Reached{Mode: program.Overlapped, Segments: 2, Ops: 1}, "waiting for bucket, bucket in flight"},
		{cudart.Reached{Mode: program.Overlapped, Segments: 3, Ops: 2}, "at the end of the step"},
	} {
		k.r.Running, k.r.Putting = true, -1
		test.EqOp(t, k.want, tr.doing(k.r), test.Sprint(k.r))
	}
	test.EqOp(t, "issuing bucket, computing backward", tr.doing(cudart.Reached{Mode: program.Overlapped,
		Segments: 1, Ops: 1, Putting: 1}))
}

func onCapabilities(capabilities ...int) *ncclBackend {
	l := &ncclLibrary{}
	w := &World{}
	for r, major := range capabilities {
		l.ranks = append(l.ranks, gpuFacts{Major: major})
		w.Names = append(w.Names, r)
	}
	return &ncclBackend{ncclBuffers: ncclBuffers{l: l}, w: w}
}

// An operation that the library refused is not retried: each try may cost a communicator.
func TestUnsupportedReduction(t *testing.T) {
	float8 := coll.Case{Collective: coll.AllReduce, Type: coll.Float8E5M2, Op: coll.Sum, World: 2}
	float32 := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, World: 2}
	refusal := &bench.OperationError{Status: result.Unsupported, Err: errors.New("no float8")}
	r := refusals{}
	r.remember(float32, &bench.OperationError{Status: result.Failed, Err: errors.New("lost")})
	r.remember(float8, refusal)
	float8.SizeBytes = 4096
	test.EqOp(t, "no float8", r[reductionOf(float8)])
	float8.Op = coll.Max
	for _, c := range []coll.Case{float32, float8} {
		test.EqOp(t, "", r[reductionOf(c)], test.Sprint(c))
	}
}

// NCCL compares the minimum compute capability of all ranks.
func TestFloat8NeedsHopperOnEveryRank(t *testing.T) {
	float8 := coll.Case{Collective: coll.AllReduce, Type: coll.Float8E4M3, Op: coll.Sum, World: 2}
	if onCapabilities(9, 10).lacksFloat8(float8) || !onCapabilities(9, 8).lacksFloat8(float8) {
		t.Error("float8 is refused where one GPU is older, and only there")
	}
	float8.Type = coll.Float16
	if onCapabilities(8).lacksFloat8(float8) {
		t.Error("float16 is not refused")
	}
}
