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
	"busbar/rank/plan"
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
			"still to come (1M)",
		func(s string) (err error) { o.First, err = firstBucket(s); return err })
	f.value("strategy", "LIST",
		"ddp (gradients are reduced, bucket by bucket), fsdp (parameters are gathered, gradients "+
			"reduced and scattered) (ddp)",
		list(one(step.ParseStrategy), &o.Strategies))
	f.value("progress", "LIST", "how communication on a host goes on beside computing: none (no call of the library), "+
		"poll (it is tested now and then), thread (a second thread) (MPI: none,poll; Gloo: thread)",
		list(one(step.ParseProgress), &o.Progress))
	f.value("poll-interval", "TIME", "computing between two tests of --progress poll (200us)",
		func(s string) (err error) { o.Poll, err = positive(s); return err })
	f.value("compute", "TIME", "what forward and backward pass take together; layers keep their proportions (the "+
		"model's own)", func(s string) (err error) { o.Compute, err = positive(s); return err })
	f.count("compute-threads", &o.Threads, 1, "threads that compute on a host (1)")
	f.choice("compute-kernel", "NAME",
		&o.Kernel,
		"what computes on a GPU: gemm (cuBLAS), fma (busbar's own), or auto, "+
			"which is gemm where cuBLAS can be loaded",
		"auto", "gemm", "fma")
	f.on("no-trace", &o.NoTrace, "write no trace of the last overlapped steps")
}

func firstBucket(s string) (int64, error) {
	n, err := coll.ParseSize(s)
	if err == nil && n == 0 {
		return 0, fmt.Errorf("want more than 0; 1 is a first bucket of one layer")
	}
	return n, err
}

func positive(s string) (time.Duration, error) {
	d, err := sweeps.ParseDuration(s)
	if err == nil && d <= 0 {
		return 0, fmt.Errorf("want more than 0")
	}
	return d, err
}

// notWithStep are the flags that mean nothing to a step, and what to do instead.
var notWithStep = map[string]string{
	"sweep":      "the model says what is communicated: leave out --sweep, or --step",
	"collective": "--strategy ddp reduces, fsdp gathers and scatters: leave out --collective",
	"minbytes":   "--bucket says how large messages are: leave out -b",
	"maxbytes":   "--bucket says how large messages are: leave out -e",
	"stepfactor": "--bucket says how large messages are: leave out -f",
	"stepbytes":  "--bucket says how large messages are: leave out -i",
	"elements":   "the model says how many elements there are: leave out --elements",
	"op":         "gradients are summed: leave out --op",
	"root":       "nothing in a step has a root: leave out --root",
	"placement":  "gradients are reduced where they lie: leave out --placement",
	"mode":       "each step is timed alone, in four modes of its own: leave out --mode",
	"agg-iters":  "each step is timed alone: leave out --agg-iters",
	"run-cycles": "rounds are repeated until the figure is sure: -n fixes their number; leave out --run-cycles",
	"average":    "a step is over when its last rank is done: leave out --average",
	"rotate":     "each layer has its own memory as in a training: leave out --rotate",
	"pattern":    "--pattern compares nodes by collectives: leave one of them out",
	"preflight":  "--preflight measures nothing: leave one of them out",
	"time-limit": "make points shorter with --budget, or fewer with --bucket; --list shows them",
	"retry":      "a point that failed is measured again with --resume: leave out --retry",
	"like":       "nccl-tests has no training step: leave out --like",
	"cudagraph":  "a step is issued as trainings do it, operation by operation: leave out --cudagraph",
	"path":       "ask with the sizes of its buckets and a sweep: --collective all_reduce -b 25M -e 25M --path",
}

// checkStep refuses what does not go with --step, and flags of it without it.
func (c *config) checkStep(f *pflag.FlagSet) (err error) {
	refuse := func(format string, a ...any) {
		if err == nil {
			err = exit.Usagef(format, a...)
		}
	}
	f.Visit(func(fl *pflag.Flag) {
		instead, odd := notWithStep[fl.Name]
		switch {
		case c.Step.Model == "" && fl.Annotations[group][0] == stepSection:
			refuse(
				"--%s belongs to --step, which is not there: add --step MODEL, such as --step resnet50, "+
					"or leave it out",
				fl.Name,
			)
		case c.Step.Model != "" && odd:
			refuse("--%s is not for --step: %s", fl.Name, instead)
		}
	})
	o := &c.Step
	if err != nil || o.Model == "" {
		return err
	}
	switch {
	case f.Changed("first-bucket") && !slices.Contains(o.Strategies, step.DDP):
		refuse("--first-bucket is DDP's, and --strategy %s has none: leave it out", plan.Words(o.Strategies))
	case f.Changed("poll-interval") && len(o.Progress) > 0 && !slices.Contains(o.Progress, step.Poll):
		refuse(
			"--poll-interval is for --progress poll, and --progress %s does not poll: leave it out",
			plan.Words(o.Progress),
		)
	case o.Kernel == "fma" && c.GPU.Register == "window":
		refuse(
			"--compute-kernel fma: %s: use --compute-kernel gemm, or leave out --register window",
			backend.FMABesideWindows,
		)
	}
	for _, t := range c.Flags.Types {
		if !t.Float() {
			refuse(
				"--step sums gradients, and %s is no type of theirs: -d takes float32, float16, bfloat16, "+
					"float8e4m3, float8e5m2 or float64",
				t,
			)
		}
	}
	return err
}
