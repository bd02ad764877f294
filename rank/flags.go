package main

import (
	"cmp"
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
var excluded = map[string][]string{
	"step": {"sweep", "collective", "minbytes", "maxbytes", "stepfactor", "stepbytes", "elements", "op", "root",
		"placement", "mode", "groups", "agg-iters", "run-cycles", "average", "rotate", "pattern", "preflight",
		"time-limit", "like", "cudagraph", "algorithms"},
	"pattern":   {"groups", "worlds", "run-cycles", "time-limit", "preflight"},
	"preflight": {"list"},
	"cudagraph": {"rotate"},
}

// checkTogether rejects flags that exclude each other, and flags that lack the flag they require.
func checkTogether(f *pflag.FlagSet) (err error) {
	f.Visit(func(fl *pflag.Flag) {
		for _, other := range excluded[fl.Name] {
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

// flagSet adds flags to sections of the help. Names are "long", or "long,s" with the one-letter name s.
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

// text adds a flag whose value must not be empty.
func (f *flagSet) text(names, arg string, to *string, usage string) {
	f.value(names, arg, usage, func(s string) error { *to = s; return nonEmpty(s) })
}

// choice adds a flag whose value must be one of words.
func (f *flagSet) choice(names, arg string, to *string, usage string, words ...string) {
	f.value(names, arg, usage, func(s string) error { return oneOf(s, to, words...) })
}

// count adds a flag whose value must be an integer of at least minimum.
func (f *flagSet) count(names string, to *int, minimum int, usage string) {
	f.value(names, "N", usage, into(atLeast(minimum), to))
}

// aliases maps earlier names of flags to their documented names.
var aliases = map[string]string{"rehearse": "simulate", "path": "algorithms"}

func newFlags(c *config) *pflag.FlagSet {
	f := &flagSet{FlagSet: pflag.NewFlagSet("rank", pflag.ContinueOnError)}
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		return pflag.NormalizedName(cmp.Or(aliases[name], name))
	})
	for _, add := range []struct {
		section string
		flags   func(*config, *flagSet)
	}{{"What to measure", planFlags}, {"How to measure", methodFlags}, {"The run", runFlags}, {"NCCL", ncclFlags},
		{"nccl-tests compatibility", compatFlags}, {"Libraries", libraryFlags}, {stepSection, stepFlags},
		{"Help", aboutFlags}} {
		f.section = add.section
		add.flags(c, f)
	}
	return f.FlagSet
}

func planFlags(c *config, f *flagSet) {
	p := &c.Flags
	f.value("backend", "LIST", "select "+strings.Join(backend.Names(), ", ")+" or auto (NCCL on GPUs, else MPI)",
		into(backends, &c.Backends))
	f.value("sweep", "NAME|FILE", "run quick, profile, baseline, full, sizes, pattern or a YAML file (quick; custom "+
		"with -b, -e, -f, -i, --elements or --collective)",
		func(s string) error { c.Sweep = s; return nil })
	f.value("collective", "LIST", "select all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, "+
		"gather, scatter, sendrecv, alltoallv or all", list(sweeps.ParseCollectives, &p.Collectives))
	f.value("imbalance", "LIST", "divide alltoallv by even, spread:S (0 to 1, as nccl-tests), hot:K, zipf:A or a FILE "+
		"(matrix of bytes) (even)", imbalances(c))
	f.value("groups", "N[:LAYOUT]", "measure N groups of ranks, each alone and all at once; LAYOUT is contiguous or "+
		"strided (contiguous); tp=8,dp=4: groups of 8 and of 4 ranks at once, with one --collective each", list(sweeps.ParseGroups, &p.Groups))
	f.value("minbytes,b", "SIZE", "set the minimum message size (8)", size(&p.MinBytes))
	f.value("maxbytes,e", "SIZE", "set the maximum message size (32M)", size(&p.MaxBytes))
	f.value("stepfactor,f", "N", "multiply the message size by N at each step (2)", value(factor, &p.StepFactor))
	f.value("stepbytes,i", "SIZE", "add SIZE to the message size at each step", size(&p.StepBytes))
	f.value("elements", "LIST", "set elements per rank instead of message sizes: 1M,4M,16M",
		list(sweeps.ParseElements, &p.Elements))
	f.value("datatype,d", "LIST", "select int8, uint8, int32, uint32, int64, uint64, float16, bfloat16, float32, "+
		"float64, float8e4m3, float8e5m2 or all", list(sweeps.ParseTypes, &p.Types))
	f.value("op,o", "LIST", "select sum, prod, min, max, avg, mulsum (NCCL: input times 2) or all",
		list(sweeps.ParseOps, &p.Ops))
	f.value("root,r", "LIST", "set the root of broadcast, reduce, gather, scatter; -1: every rank",
		list(sweeps.ParseRoots, &p.Roots))
	f.value("placement", "LIST", "select out (out-of-place), in (in-place) or both",
		list(sweeps.ParsePlacements, &p.Placements))
	f.value("worlds", "LIST", "set world sizes; each uses the first ranks of the launch",
		list(sweeps.ParseWorlds, &p.Worlds))
	f.on("fit", &p.Fit, "scale the sizes of a training's --sweep to this world; records note it")
	f.choice("pattern", "NAME", &c.Pattern, "find a slow node or link: pairs (all pairs of nodes) or halves",
		pattern.Kinds...)
}

func methodFlags(c *config, f *flagSet) {
	p := &c.Flags
	f.value("mode", "LIST", "measure throughput (back to back), latency (one at a time) or both",
		list(sweeps.ParseModes, &p.Modes))
	f.value("iters,n", "N", "time N operations (default: enough for --precision)", number(1, &p.Iterations))
	f.value("warmup-iters,w", "N", "run N operations before timing (5)", number(0, &p.Warmup))
	f.value("agg-iters,m", "N", "group N operations into one (1)", number(1, &p.Aggregate))
	f.value("check,c", "N", "check every element in N rounds; 0: off (1)", number(0, &p.Check))
	f.value("precision", "P", "set the target half-width of the 95 % confidence interval (2%)",
		value(sweeps.ParsePercent, &p.Precision))
	f.value("budget", "TIME", "limit the measuring time per case (10s)", value(sweeps.ParseBudget, &p.Budget))
	f.value("time-limit", "TIME", "limit the whole run to TIME; sizes that do not fit are skipped",
		value(sweeps.ParseDuration, &p.TimeLimit))
	f.count("run-cycles,N", &c.Cycles, 0, "run the sweep N times; 0: until stopped (1)")
	f.value("average,a", "N", "combine times of ranks: 0 rank 0 only, 1 mean, 2 minimum, 3 maximum (3)",
		func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n > 3 {
				return fmt.Errorf("value must be 0 (rank 0), 1 (mean), 2 (min) or 3 (max)")
			}
			c.Average = bench.Average(n)
			return nil
		})
	f.value("rotate", "SIZE", "rotate through SIZE bytes of buffers to measure with cold caches",
		into(coll.ParseSize, &c.Rotate))
}

func ncclFlags(c *config, f *flagSet) {
	g := &c.GPU
	f.count("cudagraph,G", &g.Graph, 0, "capture -n operations (20) as a CUDA graph; launch it N times")
	f.choice("alloc", "HOW", &g.Alloc, "allocate with driver (cuMemAlloc, default) or nccl (ncclMemAlloc)",
		"driver", "nccl")
	f.choice("register", "HOW", &g.Register, "register buffers: none (default), buffer (ncclCommRegister) or "+
		"window (ncclCommWindowRegister, implies --alloc nccl)", registrations...)
	f.count("cta-policy,x", &g.CTAPolicy, 0, "set CTAPolicy of ncclConfig_t: 0 default, 1 efficiency, 2 zero CTAs")
	f.count("min-ctas", &g.MinCTAs, 1, "set minCTAs of ncclConfig_t: minimum thread blocks per operation")
	f.count("max-ctas", &g.MaxCTAs, 1, "set maxCTAs of ncclConfig_t: maximum thread blocks per operation")
	f.on("algorithms", &g.Path, "record algorithm, protocol and channels per point (NCCL 2.23 or newer)")
	f.on("profile-range", &c.Profile, "call cuProfilerStart and cuProfilerStop around the timed operations "+
		"(nsys profile --capture-range=cudaProfilerApi)")
	f.on("allow-shared-gpu", &c.ShareGPU, "allow several ranks per GPU; every record notes it")
}

// registrations are the values of --register, in the order of nccl-tests' -R.
var registrations = []string{"none", "buffer", "window"}

// compatFlags adds flags that only repeat those of nccl-tests.
func compatFlags(c *config, f *flagSet) {
	f.choice("like", "TOOL", &c.Like, "use the defaults of nccl-tests: -n 20 -w 1 -a 1, both placements, "+
		"ncclMemAlloc, moving buffers", "nccl-tests")
	f.value("local-register,R", "N", "set --register: 0 none, 1 buffer, 2 window (both with --alloc nccl)",
		func(s string) error {
			n, err := strconv.Atoi(s)
			if err != nil || n < 0 || n > 2 {
				return fmt.Errorf("value must be 0 (none), 1 (buffer) or 2 (window)")
			}
			if c.GPU.Register = registrations[n]; n > 0 {
				c.GPU.Alloc = "nccl"
			}
			return nil
		})
	f.value("timeout,T", "SECONDS", "set --deadline", into(deadline, &c.Deadline))
	f.value("nthreads,t", "1", "accept one thread per rank", exactlyOne)
	f.value("ngpus,g", "1", "accept one device per rank", exactlyOne)
}

func runFlags(c *config, f *flagSet) {
	f.text("out", "DIR", &c.Out, "write results into DIR (./results)")
	f.on("resume", &c.Resume, "continue the runs in --out: skip the points that are ok")
	f.on("list", &c.list, "print the plan and measure nothing")
	f.on("preflight", &c.preflight, "check libraries, hosts, limits and network; measure nothing")
	f.value("format", "FORMAT", "print the --preflight report as text (default), markdown or json", c.format.Set)
	f.on("json", &c.json, "same as --format json")
	f.on("quiet", &c.quiet, "print no table")
	f.value("deadline", "TIME", "report a hang after TIME, or 10 times the expected time of a case if longer (60s)",
		into(deadline, &c.Deadline))
	f.text("campaign", "ID", &c.Campaign, "group launches into campaign ID (or BUSBAR_CAMPAIGN)")
	f.text("block", "LABEL", &c.Block, "compare this launch with those of the same LABEL (or BUSBAR_BLOCK)")
	f.text("variant", "LABEL", &c.Variant, "name the tuning variant (or BUSBAR_VARIANT)")
}

func libraryFlags(c *config, f *flagSet) {
	f.text("nccl", "PATH", &c.NCCL, "load libnccl.so.2 or an NCCL-compatible library from a file or folder")
	f.text("cuda", "PATH", &c.CUDA, "load the driver's libcuda.so.1 from a file or folder")
	f.value("bootstrap", "MODE", "connect the ranks by auto (default), mpi, or tcp without MPI", c.bootstrap.Set)
	f.text("mpi", "NAME|PATH", &c.mpi, "select auto (default), openmpi, mpich or a shim's path")
	f.text("gloo-iface", "NAME", &c.Gloo.Network,
		"set Gloo's network interface (GLOO_SOCKET_IFNAME, else default route)")
	f.on("simulate", &c.Simulate, "simulate GPUs and NCCL; the values are not about hardware")
}

func aboutFlags(c *config, f *flagSet) {
	f.on("version", &c.version, "print version and build")
	f.on("help", &c.help, "print the complete help (-h: the short help)")
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

func oneOf(s string, to *string, words ...string) error {
	if !slices.Contains(words, s) {
		return coll.Unknown("value", s, words)
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
		return fmt.Errorf("rank uses one device and one thread; start more ranks (mpirun -np N)")
	}
	return nil
}
