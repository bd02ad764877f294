package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
)

// stepSection is the section of the help with the flags of --step; only `rank --step --help` prints it.
const stepSection = "Training step"

// positive stores a parsed value, which must be above 0.
func positive[T int64 | time.Duration](parse func(string) (T, error), to *T) func(string) error {
	return func(s string) (err error) {
		if *to, err = parse(s); err == nil && *to <= 0 {
			return fmt.Errorf("value must be above 0")
		}
		return err
	}
}

// checkStep rejects flags that exclude the strategy or kernel of --step.
func (c *config) checkStep(f *pflag.FlagSet) error {
	o := &c.Step
	switch {
	case o.Model == "":
		return nil
	case f.Changed("first-bucket") && !slices.Contains(o.Strategies, step.DDP):
		return exit.Usagef("--first-bucket requires --strategy ddp: leave it out, or add ddp")
	case o.Kernel == "fma" && c.GPU.Register == "window":
		return exit.Usagef("--compute-kernel fma: %s: use --compute-kernel gemm, or leave out --register window",
			backend.FMABesideWindows)
	}
	for _, t := range c.Flags.Types {
		if !t.Float() {
			return exit.Usagef("--step does not support -d %s: use float32, float16, bfloat16, float64, float8e4m3 or "+
				"float8e5m2", t)
		}
	}
	return nil
}
