package main

import (
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
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/plan"
	"busbar/rank/timeout"
	"busbar/sweeps"
)

// config is what the command line and the environment ask for.
type config struct {
	plan.Options

	help, version, list, preflight, json bool
	format                               document.Format // of the report of --preflight; "" is text
	quiet                                bool
	mpi                                  string

	noSideChannel bool    // BUSBAR_SIDE_CHANNEL=off
	timeScale     float64 // BUSBAR_TIME_SCALE
}

// parseFlags reads the command line. Its errors name the nearest flag.
func parseFlags(args []string, env func(string) string) (*config, error) {
	c := &config{Options: plan.Defaults(), mpi: "auto"}
	c.Campaign, c.Block, c.Variant = env("BUSBAR_CAMPAIGN"), env("BUSBAR_BLOCK"), env("BUSBAR_VARIANT")
	switch value := env("BUSBAR_SIDE_CHANNEL"); value {
	case "", "on":
	case "off":
		c.noSideChannel = true
	default:
		return nil, exit.Usagef("BUSBAR_SIDE_CHANNEL=%s: it can be on or off", value)
	}
	var err error
	if c.timeScale, err = timeout.ParseScale(env("BUSBAR_TIME_SCALE")); err != nil {
		return nil, err
	}
	f := newFlags(c)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			c.help = true
			return c, nil
		}
		return nil, exit.With(exit.Usage, nearestFlag(f, err))
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
		return nil, exit.Usagef("unexpected word %q: rank takes flags only (rank --help)", f.Arg(0))
	}
	if c.json {
		c.format = document.JSON
	}
	return c, nil
}

// checkGPU refuses flags for GPUs that exclude each other, and completes what they imply.
func (c *config) checkGPU() error {
	switch {
	case c.GPU.Register == "window" && c.GPU.Alloc == "driver":
		return exit.Usagef("--register window wants memory from ncclMemAlloc: leave out --alloc driver")
	case c.GPU.MaxCTAs > 0 && c.GPU.MinCTAs > c.GPU.MaxCTAs:
		return exit.Usagef("--min-ctas %d is more than --max-ctas %d", c.GPU.MinCTAs, c.GPU.MaxCTAs)
	case c.GPU.Register == "window":
		c.GPU.Alloc = "nccl"
	}
	return nil
}

// excluded are the flags that a flag does not go with: a step takes what it measures from its model and its strategy, a
// pattern measures every group once in worlds of its own, and a graph has its buffers fixed.
var excluded = map[string][]string{
	"step": {"sweep", "collective", "minbytes", "maxbytes", "stepfactor", "stepbytes", "elements", "op", "root",
		"placement", "mode", "agg-iters", "run-cycles", "average", "rotate", "pattern", "preflight", "time-limit",
		"like", "cudagraph", "path"},
	"pattern":   {"worlds", "run-cycles", "time-limit", "preflight"},
	"preflight": {"list"},
	"cudagraph": {"rotate"},
}

// checkTogether refuses flags that do not go together, and flags without the one that they belong to.
func checkTogether(f *pflag.FlagSet) (err error) {
	f.Visit(func(fl *pflag.Flag) {
		for _, other := range excluded[fl.Name] {
			if f.Changed(other) {
				err = exit.Usagef("--%s does not go with --%s: leave one of them out", fl.Name, other)
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

// likeNCCLTests sets the defaults of nccl-tests (those of 2025) where the command line has no other value, so that
// results can be compared.
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

// group is the annotation with the section of the help that a flag is in.
const group = "group"

// flagSet adds flags to sections of the help. Names are "long" or "long,s" with a short name.
type flagSet struct {
	*pflag.FlagSet
	section string
}

// value adds a flag whose value a function parses.
func (f *flagSet) value(names, arg, usage string, set func(string) error) {
	long, short, _ := strings.Cut(names, ",")
	f.VarPF(&setter{set: set, kind: arg}, long, short, usage).Annotations = map[string][]string{group: {f.section}}
}

// on adds a flag without a value.
func (f *flagSet) on(names string, to *bool, usage string) {
	long, short, _ := strings.Cut(names, ",")
	f.BoolVarP(to, long, short, false, usage)
	f.Lookup(long).Annotations = map[string][]string{group: {f.section}}
}

// text adds a flag with a text that is not empty.
func (f *flagSet) text(names, arg string, to *string, usage string) {
	f.value(names, arg, usage, func(s string) error { *to = s; return nonEmpty(s) })
}

// choice adds a flag with one of some words.
func (f *flagSet) choice(names, arg string, to *string, usage string, words ...string) {
	f.value(names, arg, usage, func(s string) error { return oneOf(s, to, words...) })
}

// count adds a flag with a whole number of at least that.
func (f *flagSet) count(names string, to *int, least int, usage string) {
	f.value(names, "N", usage, into(atLeast(least), to))
}

func newFlags(c *config) *pflag.FlagSet {
	f := &flagSet{FlagSet: pflag.NewFlagSet("rank", pflag.ContinueOnError)}
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		if name == "rehearse" { // the same flag
			name = "simulate"
		}
		return pflag.NormalizedName(name)
	})
	for _, add := range []struct {
		section string
		flags   func(*config, *flagSet)
	}{{"What to measure", planFlags}, {"How to measure", methodFlags}, {stepSection, stepFlags}, {"NCCL", ncclFlags},
		{"The run", runFlags}, {"Libraries", libraryFlags}, {"About", aboutFlags}} {
		f.section = add.section
		add.flags(c, f)
	}
	return f.FlagSet
}

func planFlags(c *config, f *flagSet) {
	p := &c.Flags
	f.value("backend", "NAMES",
		"auto (NCCL where every rank has a GPU and the library, else MPI), "+strings.Join(backend.Names(), ", "),
		into(backends, &c.Backends))
	f.value("sweep", "NAME|FILE",
		"quick (default), profile, baseline, full, sizes, pattern, or a YAML file; flags win over it",
		func(s string) error { c.Sweep = s; return nil })
	f.value("collective", "LIST",
		"all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, gather, scatter, "+
			"sendrecv, or all",
		list(sweeps.ParseCollectives, &p.Collectives))
	f.value("minbytes,b", "SIZE", "smallest size; K, M, G are powers of 1024 (8 without a sweep)", size(&p.MinBytes))
	f.value("maxbytes,e", "SIZE", "largest size (32M without a sweep)", size(&p.MaxBytes))
	f.value("stepfactor,f", "N",
		"each size is N times the one before (2 without a sweep)",
		value(factor, &p.StepFactor))
	f.value("stepbytes,i", "SIZE", "each size is SIZE larger than the one before", size(&p.StepBytes))
	f.value("elements", "LIST", "elements of one rank's tensor instead of sizes: 1M,4M,16M",
		list(sweeps.ParseElements, &p.Elements))
	f.value("datatype,d", "LIST", "int8, uint8, int32, uint32, int64, uint64, float16, bfloat16, float32, float64, "+
		"float8e4m3, float8e5m2, or all", list(sweeps.ParseTypes, &p.Types))
	f.value("op,o", "LIST", "sum, prod, min, max, avg, mulsum (NCCL's, each input times 2), or all",
		list(sweeps.ParseOps, &p.Ops))
	f.value("root,r", "LIST", "root of broadcast, reduce, gather, scatter; -1 is every rank",
		list(sweeps.ParseRoots, &p.Roots))
	f.value("placement", "LIST", "out (a buffer of its own), in (over the input), or both",
		list(sweeps.ParsePlacements, &p.Placements))
	f.value("worlds", "LIST", "sub-worlds of the first n ranks, one after another", list(sweeps.ParseWorlds, &p.Worlds))
	f.choice("pattern", "NAME", &c.Pattern, "find a weak node or link: pairs (all pairs of nodes, many at a time) or "+
		"halves (of all nodes); without a sweep it measures the sweep pattern", pattern.Kinds...)
}

func methodFlags(c *config, f *flagSet) {
	p := &c.Flags
	f.value("mode", "LIST",
		"throughput (back to back), latency (each alone), or both",
		list(sweeps.ParseModes, &p.Modes))
	f.value("iters,n", "N", "timed operations; without it as many as the precision needs", number(1, &p.Iterations))
	f.value("warmup-iters,w", "N", "operations before timing (5)", number(0, &p.Warmup))
	f.value("agg-iters,m", "N", "operations issued as one (1)", number(1, &p.Aggregate))
	f.value("check,c", "N", "rounds of checking every element; 0 is off (1)", number(0, &p.Check))
	f.value("precision", "P", "target half-width of the 95 % confidence interval of the median (2%)",
		value(sweeps.ParsePercent, &p.Precision))
	f.value("budget", "TIME", "measuring time of one case at most (10s)", value(sweeps.ParseBudget, &p.Budget))
	f.value("time-limit", "TIME", "time of the whole run; the plan is thinned to fit: 5m",
		value(sweeps.ParseDuration, &p.TimeLimit))
	f.count("run-cycles,N", &c.Cycles, 0, "run the sweep N times; 0 is until stopped (soak)")
	f.value("average,a", "N", "whose time throughput counts: 0 rank 0, 1 mean, 2 min, 3 max (3)", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 3 {
			return fmt.Errorf("want 0 (rank 0), 1 (mean), 2 (min) or 3 (max)")
		}
		c.Average = bench.Average(n)
		return nil
	})
	f.value("rotate", "SIZE", "walk through SIZE bytes of buffers, so that caches are cold",
		into(coll.ParseSize, &c.Rotate))
}

func ncclFlags(c *config, f *flagSet) {
	g := &c.GPU
	f.count("cudagraph,G", &g.Graph,
		0,
		"the -n operations (20 without it) as one CUDA graph; with -n it is launched N "+
			"times, without as often as the precision needs")
	f.choice("alloc", "HOW", &g.Alloc, "buffers by driver (cuMemAlloc, the default) or nccl (ncclMemAlloc)",
		"driver", "nccl")
	f.choice("register", "HOW", &g.Register, "none (default), buffer (ncclCommRegister) or window "+
		"(ncclCommWindowRegister, with --alloc nccl)", registrations...)
	f.value("local-register,R", "N", "nccl-tests' name of --register: 0 none, 1 buffer, 2 window, with --alloc nccl",
		func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n > 2 {
				return fmt.Errorf("want 0 (none), 1 (buffer) or 2 (window)")
			}
			if g.Register = registrations[n]; n > 0 {
				g.Alloc = "nccl"
			}
			return nil
		})
	f.count("cta-policy,x", &g.CTAPolicy, 0, "ncclConfig_t's CTAPolicy: 0 default, 1 efficiency, 2 zero CTAs")
	f.count("min-ctas", &g.MinCTAs, 1, "ncclConfig_t's minCTAs: thread blocks of an operation at least")
	f.count("max-ctas", &g.MaxCTAs, 1, "ncclConfig_t's maxCTAs: thread blocks of an operation at most")
	f.choice("like", "TOOL", &c.Like, "nccl-tests: its -n 20, -w 1, -a 1, both placements, ncclMemAlloc and moving "+
		"buffers, to compare results", "nccl-tests")
	f.on("path", &g.Path, "ask NCCL (2.23 and newer) for the algorithm, protocol and channels of each point, by its "+
		"profiler interface")
	f.on("profile-range", &c.Profile,
		"cuProfilerStart and Stop around the timed part of each case, or around all steps "+
			"of a --step (nsys profile --capture-range=cudaProfilerApi)")
	f.on("allow-shared-gpu", &c.ShareGPU, "let several ranks use one GPU; every record states it")
}

// registrations are the values of --register, in the order of nccl-tests' -R.
var registrations = []string{"none", "buffer", "window"}

func runFlags(c *config, f *flagSet) {
	f.text("out", "DIR", &c.Out, "where results go (default ./results)")
	f.on("resume", &c.Resume, "continue the runs in --out: points that are ok are not measured again")
	f.on("list", &c.list, "show the plan and measure nothing")
	f.on("preflight", &c.preflight, "check libraries, hosts, limits and network, and measure nothing; "+
		"exit code 2 on a problem")
	f.value("format", "FORMAT", "the report of --preflight as text (default), markdown or json", c.format.Set)
	f.on("json", &c.json, "the same as --format json")
	f.on("quiet", &c.quiet, "no table")
	setDeadline := into(deadline, &c.Deadline)
	f.value("deadline", "TIME", "name a hang after this long, or ten times what the case should take (default 60s)",
		setDeadline)
	f.value("timeout,T", "SECONDS", "nccl-tests' name for --deadline", setDeadline)
	f.text("campaign", "ID", &c.Campaign, "launches with one ID belong together (also BUSBAR_CAMPAIGN)")
	f.text("block", "LABEL", &c.Block, "launches of one campaign and block were taken in turn, and are compared as "+
		"pairs (also BUSBAR_BLOCK)")
	f.text("variant", "LABEL", &c.Variant, "name of a tuning variant (also BUSBAR_VARIANT)")
}

func libraryFlags(c *config, f *flagSet) {
	f.text("nccl", "PATH", &c.NCCL, "libnccl.so.2 or another library with its functions: a file or its folder")
	f.text("cuda", "PATH", &c.CUDA, "the driver's libcuda.so.1: a file or its folder")
	f.on("simulate", &c.Simulate, "simulate GPUs and NCCL: everything runs, no value is real (also --rehearse)")
	f.text("gloo-iface", "NAME",
		&c.Gloo.Network,
		"network interface of Gloo (default GLOO_SOCKET_IFNAME, else that of "+
			"the route)")
	f.text("mpi", "NAME|PATH", &c.mpi, "auto, openmpi, mpich, or a shim's path")
	f.value("nthreads,t", "1", "accepted as nccl-tests has it: one thread per rank", exactlyOne)
	f.value("ngpus,g", "1", "accepted as nccl-tests has it: one device per rank", exactlyOne)
}

func aboutFlags(c *config, f *flagSet) {
	f.on("version", &c.version, "version and build")
	f.on("help,h", &c.help, "this text")
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
		return 0, fmt.Errorf("the shortest deadline is 1s")
	}
	return d, err
}

func oneOf(s string, to *string, words ...string) error {
	if !slices.Contains(words, s) {
		return coll.Unknown("word", s, words)
	}
	*to = s
	return nil
}

func nonEmpty(s string) error {
	if s == "" {
		return fmt.Errorf("value must not be empty")
	}
	return nil
}

func exactlyOne(s string) error {
	if s != "1" {
		return fmt.Errorf("rank drives one device with one thread; start more ranks (mpirun -np N) instead")
	}
	return nil
}
