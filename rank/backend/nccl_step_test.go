package backend

import (
	"testing"

	"busbar/cudart"
	"busbar/internal/program"
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
