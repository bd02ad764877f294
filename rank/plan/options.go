// Package plan decides what a launch measures: from the command line and a sweep's file to the worlds, groups, cases
// and training steps, equal on all ranks.
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

// Options are what the command line asks a run to measure, how, and where results go. It has many fields because each
// is one flag.
type Options struct {
	backend.Options
	Sweep   string           // name or path; empty when not given
	Flags   sweeps.Overrides // they win over the sweep
	Pattern string           // pairs, halves; empty: all ranks measure together
	Step    StepOptions

	Average  bench.Average
	Rotate   int64 // bytes of buffers to walk through; 0: the same buffers each time
	Packed   bool  // buffers move as in nccl-tests
	Cycles   int   // 0: until stopped
	Deadline time.Duration

	Out      string // folder of the results
	Campaign string
	Block    string
	Variant  string
	Resume   bool
}

// StepOptions are what the command line asks of a training step.
type StepOptions struct {
	Model      string // name of a preset, or a YAML file; empty: collectives are measured, not steps
	Buckets    []step.Cap
	First      int64 // bytes of DDP's first bucket
	Strategies []step.Strategy
	Compute    time.Duration // of forward and backward together; 0: the model's own
	NoTrace    bool
	backend.ComputeOptions
}

// Defaults returns what a command line without flags asks for.
func Defaults() Options {
	return Options{Average: bench.Max, Cycles: 1, Deadline: time.Minute, Out: "results",
		Step: StepOptions{Buckets: step.Caps(), First: step.FirstBucket, Strategies: []step.Strategy{step.DDP},
			ComputeOptions: backend.ComputeOptions{Poll: 200 * time.Microsecond, Threads: 1, Kernel: "auto"}}}
}

// ForBackend returns what the backends need to know.
func (o *Options) ForBackend() backend.Options {
	b := o.Options
	b.Compute = o.Step.ComputeOptions
	return b
}

// Layout returns how a rank's buffers lie for these cases. As nccl-tests, --like nccl-tests walks through the largest
// size, and no further than its operations come.
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
