// Package plan makes the plan of a launch from command line and sweep: worlds, groups, cases and training steps, equal
// on all ranks.
package plan

import (
	"cmp"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/sweeps"
)

// Options holds the plan, the method and the output of the command line. It has many fields because each is one flag.
type Options struct {
	backend.Options
	Sweep   string           // name or path; "" without the flag
	Flags   sweeps.Overrides // override the sweep
	Pattern string           // pairs or halves; "": all ranks measure together
	Step    StepOptions

	Average  bench.Average
	Rotate   int64 // bytes of buffers to rotate through; 0: always the same buffers
	Packed   bool  // buffers move as in nccl-tests
	Cycles   int   // 0: until stopped
	Deadline time.Duration

	Out      string // folder of the results
	Campaign string
	Block    string
	Variant  string
	Resume   bool
}

// StepOptions holds the flags of a training step.
type StepOptions struct {
	Model      string // name of a preset, or a YAML file; "": measure collectives
	Buckets    []step.Cap
	First      int64 // bytes of DDP's first bucket
	Strategies []step.Strategy
	Compute    time.Duration // of forward and backward together; 0: the model's
	NoTrace    bool
	backend.ComputeOptions
}

// Defaults returns the options of a command line without flags.
func Defaults() Options {
	return Options{Average: bench.Max, Cycles: 1, Deadline: time.Minute, Out: "results",
		Step: StepOptions{Buckets: step.Caps(), First: step.FirstBucket, Strategies: []step.Strategy{step.DDP},
			ComputeOptions: backend.ComputeOptions{Poll: 200 * time.Microsecond, Threads: 1, Kernel: "auto"}}}
}

// ForBackend returns the options of the backends.
func (o *Options) ForBackend() backend.Options {
	b := o.Options
	b.Compute = o.Step.ComputeOptions
	return b
}

// Layout returns the layout of a rank's buffers for these cases. As in nccl-tests, --like nccl-tests rotates through
// the maximum message size, and stops after its last operation.
func (o *Options) Layout(s *sweeps.Sweep, cases []coll.Case, rank int) backend.Layout {
	l := backend.Layout{Rank: rank, Rotate: o.Rotate}
	if !o.Packed {
		return l
	}
	l.Packed = cmp.Or(s.Iterations, backend.GraphOperations) * max(1, s.Aggregate)
	for _, of := range cases {
		l.Rotate = max(l.Rotate, of.SizeBytes)
	}
	return l
}
