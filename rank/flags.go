package main

import (
	"cmp"
	_ "embed" // for flags.tsv
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/pattern"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/plan"
	"busbar/rank/timeout"
	"busbar/sweeps"
)

// config holds the command line and the BUSBAR_* environment variables.
type config struct {
	plan.Options

	help, shortHelp                bool // --help, -h
	version, list, preflight, json bool
	format                         document.Format // of the report of --preflight; "" is text
	quiet                          bool
	mpi                            string
	bootstrap                      launch.Bootstrap

	noSideChannel bool    // BUSBAR_SIDE_CHANNEL=off
	timeScale     float64 // BUSBAR_TIME_SCALE
}

// parseFlags parses the command line and the environment. It returns early on -h and --help.
func parseFlags(args []string, env func(string) string) (*config, error) {
	c := &config{Options: plan.Defaults(), mpi: "auto", bootstrap: launch.BootstrapAuto}
	c.Campaign, c.Block, c.Variant = env("BUSBAR_CAMPAIGN"), env("BUSBAR_BLOCK"), env("BUSBAR_VARIANT")
	switch value := env("BUSBAR_SIDE_CHANNEL"); value {
	case "", "on":
	case "off":
		c.noSideChannel = true
	default:
		return nil, exit.Usagef("BUSBAR_SIDE_CHANNEL=%s: value must be on or off", value)
	}
	var err error
	if c.timeScale, err = timeout.ParseScale(env("BUSBAR_TIME_SCALE")); err != nil {
		return nil, err
	}
	f := newFlags(c)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			c.shortHelp = true // only -h: --help is a flag
			return c, nil
		}
		return nil, exit.With(exit.Usage, suggestFlag(f, err))
	}
	if c.Step.Model == "--help" || c.Step.Model == "-h" { // parsed as the value of --step
		c.help = true
	}
	if c.help {
		return c, nil
	}
	if err := errors.Join(checkTogether(f), c.checkGPU(), c.checkStep(f)); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if c.Like != "" {
		if err := likeNCCLTests(f); err != nil {
			return nil, exit.With(exit.Usage, err)
		}
		c.Packed = !f.Changed("rotate")
	}
	if f.NArg() > 0 {
		return nil, exit.Usagef("unexpected argument %q: rank accepts only flags (rank --help)", f.Arg(0))
	}
	if c.json {
		c.format = document.JSON
	}
	return c, nil
}

// checkGPU rejects GPU flags that exclude each other, and sets the flags that they imply.
func (c *config) checkGPU() error {
	switch {
	case c.GPU.Register == "window" && c.GPU.Alloc == "driver":
		return exit.Usagef("--register window requires memory from ncclMemAlloc: leave out --alloc driver")
	case c.GPU.MaxCTAs > 0 && c.GPU.MinCTAs > c.GPU.MaxCTAs:
		return exit.Usagef("--min-ctas %d is more than --max-ctas %d", c.GPU.MinCTAs, c.GPU.MaxCTAs)
	case c.GPU.Register == "window":
		c.GPU.Alloc = "nccl"
	}
	return nil
}

// excluded lists, by flag, the flags that it excludes. A step gets its operations from model and strategy. A pattern
// measures every group once, in its own worlds. A CUDA graph fixes its buffers.
var excluded = map[string]string{
	"step": `sweep collective minbytes maxbytes stepfactor stepbytes elements op root placement mode groups agg-iters
		run-cycles average rotate pattern preflight time-limit like cudagraph algorithms`,
	"pattern":   "groups worlds run-cycles time-limit preflight",
	"preflight": "list",
	"cudagraph": "rotate",
}

// checkTogether rejects flags that exclude each other, and flags that lack the flag they require.
func checkTogether(f *pflag.FlagSet) (err error) {
	f.Visit(func(fl *pflag.Flag) {
		for _, other := range strings.Fields(excluded[fl.Name]) {
			if f.Changed(other) {
				err = exit.Usagef("--%s does not go with --%s: leave out one of them", fl.Name, other)
			}
		}
		requires := map[string]string{"format": "preflight", "json": "preflight"}[fl.Name]
		if fl.Annotations[group][0] == stepSection {
			requires = "step"
		}
		if requires != "" && !f.Changed(requires) {
			err = exit.Usagef("--%s requires --%s", fl.Name, requires)
		}
	})
	return err
}

// likeNCCLTests sets the defaults of nccl-tests (2025) for flags that the command line leaves out.
func likeNCCLTests(f *pflag.FlagSet) error {
	for _, d := range []struct{ name, value string }{{"iters", "20"}, {"warmup-iters", "1"}, {"average", "1"},
		{"mode", "throughput"}, {"placement", "both"}, {"alloc", "nccl"}} {
		if f.Changed(d.name) {
			continue
		}
		if err := f.Set(d.name, d.value); err != nil {
			return err
		}
	}
	return nil
}

// group is the annotation that holds a flag's section of the help.
const group = "group"

//go:embed flags.tsv
var flagsFile string

// aliases maps earlier names of flags to their documented names.
var aliases = map[string]string{"rehearse": "simulate", "path": "algorithms"}

func newFlags(c *config) *pflag.FlagSet {
	f := pflag.NewFlagSet("rank", pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		return pflag.NormalizedName(cmp.Or(aliases[name], name))
	})
	setters, switches := c.setters(), c.switches()
	section := ""
	for line := range strings.Lines(flagsFile) {
		names, rest, isFlag := strings.Cut(strings.TrimSpace(line), "\t")
		if !isFlag {
			section = names // the comment above is none of a flag
			continue
		}
		kind, usage, _ := strings.Cut(rest, "\t")
		long, short, _ := strings.Cut(names, ",")
		if to := switches[long]; to != nil {
			f.BoolVarP(to, long, short, false, usage)
		} else {
			f.VarP(&setter{set: setters[long], kind: kind}, long, short, usage)
		}
		f.Lookup(long).Annotations = map[string][]string{group: {section}}
	}
	return f
}

// setters parse the values of flags, by name.
func (c *config) setters() map[string]func(string) error {
	p, g, o := &c.Flags, &c.GPU, &c.Step
	return map[string]func(string) error{
		"backend":        into(backends, &c.Backends),
		"sweep":          func(s string) error { c.Sweep = s; return nil },
		"collective":     list(sweeps.ParseCollectives, &p.Collectives),
		"imbalance":      imbalances(c),
		"groups":         list(sweeps.ParseGroups, &p.Groups),
		"minbytes":       size(&p.MinBytes),
		"maxbytes":       size(&p.MaxBytes),
		"stepfactor":     value(factor, &p.StepFactor),
		"stepbytes":      size(&p.StepBytes),
		"elements":       list(sweeps.ParseElements, &p.Elements),
		"datatype":       list(sweeps.ParseTypes, &p.Types),
		"op":             list(sweeps.ParseOps, &p.Ops),
		"root":           list(sweeps.ParseRoots, &p.Roots),
		"placement":      list(sweeps.ParsePlacements, &p.Placements),
		"worlds":         list(sweeps.ParseWorlds, &p.Worlds),
		"pattern":        into(oneOf(pattern.Kinds...), &c.Pattern),
		"mode":           list(sweeps.ParseModes, &p.Modes),
		"iters":          number(1, &p.Iterations),
		"warmup-iters":   number(0, &p.Warmup),
		"agg-iters":      number(1, &p.Aggregate),
		"check":          number(0, &p.Check),
		"precision":      value(sweeps.ParsePercent, &p.Precision),
		"budget":         value(sweeps.ParseBudget, &p.Budget),
		"time-limit":     value(sweeps.ParseDuration, &p.TimeLimit),
		"run-cycles":     into(atLeast(0), &c.Cycles),
		"average":        c.setAverage,
		"rotate":         into(coll.ParseSize, &c.Rotate),
		"out":            into(nonEmpty, &c.Out),
		"format":         c.format.Set,
		"deadline":       into(deadline, &c.Deadline),
		"campaign":       into(nonEmpty, &c.Campaign),
		"block":          into(nonEmpty, &c.Block),
		"variant":        into(nonEmpty, &c.Variant),
		"cudagraph":      into(atLeast(0), &g.Graph),
		"alloc":          into(oneOf("driver", "nccl"), &g.Alloc),
		"register":       into(oneOf(registrations...), &g.Register),
		"cta-policy":     into(atLeast(0), &g.CTAPolicy),
		"min-ctas":       into(atLeast(1), &g.MinCTAs),
		"max-ctas":       into(atLeast(1), &g.MaxCTAs),
		"like":           into(oneOf("nccl-tests"), &c.Like),
		"local-register": c.setRegistration,
		"timeout":        into(deadline, &c.Deadline),
		"nthreads":       exactlyOne,
		"ngpus":          exactlyOne,
		"nccl":           into(nonEmpty, &c.NCCL),
		"cuda":           into(nonEmpty, &c.CUDA),
		"bootstrap":      c.bootstrap.Set,
		"mpi":            into(nonEmpty, &c.mpi),
		"gloo-iface":     into(nonEmpty, &c.Gloo.Network),
		"step":           into(nonEmpty, &o.Model),
		"bucket":         list(one(step.ParseCap), &o.Buckets),
		"first-bucket":   positive(coll.ParseSize, &o.First),
		"strategy":       list(one(step.ParseStrategy), &o.Strategies),
		"compute":        positive(sweeps.ParseDuration, &o.Compute),
		"compute-kernel": into(oneOf("auto", "gemm", "fma"), &o.Kernel),
	}
}

// switches are the flags without a value.
func (c *config) switches() map[string]*bool {
	return map[string]*bool{
		"fit":              &c.Flags.Fit,
		"resume":           &c.Resume,
		"list":             &c.list,
		"preflight":        &c.preflight,
		"json":             &c.json,
		"quiet":            &c.quiet,
		"algorithms":       &c.GPU.Path,
		"profile-range":    &c.Profile,
		"allow-shared-gpu": &c.ShareGPU,
		"simulate":         &c.Simulate,
		"no-trace":         &c.Step.NoTrace,
		"version":          &c.version,
		"help":             &c.help,
	}
}

// setAverage sets how times of ranks are combined.
func (c *config) setAverage(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 3 {
		return fmt.Errorf("value must be 0 (rank 0), 1 (mean), 2 (min) or 3 (max)")
	}
	c.Average = bench.Average(n)
	return nil
}

// registrations are the values of --register, in the order of nccl-tests' -R.
var registrations = []string{"none", "buffer", "window"}

// setRegistration sets the registration by its number.
func (c *config) setRegistration(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 2 {
		return fmt.Errorf("value must be 0 (none), 1 (buffer) or 2 (window)")
	}
	if c.GPU.Register = registrations[n]; n > 0 {
		c.GPU.Alloc = "nccl"
	}
	return nil
}

func backends(s string) ([]string, error) {
	known := append([]string{"auto"}, backend.Names()...)
	var names []string
	for name := range strings.SplitSeq(s, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return nil, coll.Unknown("backend", name, known)
		}
		names = append(names, name)
	}
	return names, nil
}

func deadline(s string) (time.Duration, error) {
	d, err := sweeps.ParseDuration(s)
	if err == nil && d < time.Second {
		return 0, fmt.Errorf("deadline must be at least 1s")
	}
	return d, err
}

// oneOf returns a parser of words.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", coll.Unknown("value", s, words)
		}
		return s, nil
	}
}

func nonEmpty(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("value must not be empty")
	}
	return s, nil
}

func exactlyOne(s string) error {
	if s != "1" {
		return fmt.Errorf("rank uses one device and one thread; start more ranks (mpirun -np N)")
	}
	return nil
}
