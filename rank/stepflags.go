package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/sweeps"
)

// stepSection is the section of the help with the flags of --step.
const stepSection = "A training step"

func stepFlags(c *config, f *flagSet) {
	o := &c.Step
	f.text("step", "MODEL", &o.Model, "measure the step of a data-parallel training, not collectives: resnet50, gpt2, "+
		"llama, uniform, or a YAML file; its time with and without communication, and how much of that is hidden")
	f.value("bucket", "LIST", "caps of buckets: sizes, layer (each layer alone), all (one bucket) "+
		"(1M,5M,10M,25M,50M,100M,all)", list(one(step.ParseCap), &o.Buckets))
	f.value("first-bucket", "SIZE",
		"cap of DDP's first bucket, which is communicated while most of the backward pass is "+
			"still to come (1M)", positive(coll.ParseSize, &o.First))
	f.value("strategy", "LIST",
		"ddp (gradients are reduced, bucket by bucket), fsdp (parameters are gathered, gradients "+
			"reduced and scattered) (ddp)",
		list(one(step.ParseStrategy), &o.Strategies))
	f.value("compute", "TIME", "what forward and backward pass take together; layers keep their proportions (the "+
		"model's own)", positive(sweeps.ParseDuration, &o.Compute))
	f.choice("compute-kernel", "NAME",
		&o.Kernel,
		"what computes on a GPU: gemm (cuBLAS), fma (busbar's own), or auto, "+
			"which is gemm where cuBLAS can be loaded",
		"auto", "gemm", "fma")
	f.on("no-trace", &o.NoTrace, "write no trace of the last overlapped steps")
}

// positive stores a parsed value that is more than 0.
func positive[T int64 | time.Duration](parse func(string) (T, error), to *T) func(string) error {
	return func(s string) (err error) {
		if *to, err = parse(s); err == nil && *to <= 0 {
			return fmt.Errorf("value must be more than 0")
		}
		return err
	}
}

// checkStep refuses what does not apply to the strategy and the kernel of --step.
func (c *config) checkStep(f *pflag.FlagSet) error {
	o := &c.Step
	switch {
	case o.Model == "":
		return nil
	case f.Changed("first-bucket") && !slices.Contains(o.Strategies, step.DDP):
		return exit.Usagef("--first-bucket is DDP's: leave it out, or add --strategy ddp")
	case o.Kernel == "fma" && c.GPU.Register == "window":
		return exit.Usagef("--compute-kernel fma: %s: use --compute-kernel gemm, or leave out --register window",
			backend.FMABesideWindows)
	}
	for _, t := range c.Flags.Types {
		if !t.Float() {
			return exit.Usagef("--step sums gradients, which are never %s: -d supports float32, float16, bfloat16, "+
				"float8e4m3, float8e5m2 and float64", t)
		}
	}
	return nil
}
