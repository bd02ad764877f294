package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/document"
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

// backendNames are the words for --backend.
var backendNames = []string{"auto", "mpi", "gloo", "nccl", "ncclx"}

// parseFlags reads the command line. The error's text is for a person and names the nearest flag.
func parseFlags(args []string, env func(string) string) (*config, error) {
	c := &config{Options: plan.Defaults(), mpi: "auto"}
	c.Campaign, c.Block, c.Variant = env("BUSBAR_CAMPAIGN"), env("BUSBAR_BLOCK"), env("BUSBAR_VARIANT")
	switch word := env("BUSBAR_SIDE_CHANNEL"); word {
	case "", "on":
	case "off":
		c.noSideChannel = true
	default:
		return nil, exit.Usagef("BUSBAR_SIDE_CHANNEL=%s: it can be on or off", word)
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
		return nil, exit.With(exit.Usage, explainFlag(f, err))
	}
	switch {
	case c.GPU.Graph > 0 && c.Rotate > 0:
		return nil, exit.Usagef("--rotate walks through buffers, and the graph of -G has its buffers fixed: leave one of them out")
	case c.GPU.Register == "window" && c.GPU.Alloc == "driver":
		return nil, exit.Usagef("--register window wants memory from ncclMemAlloc: leave out --alloc driver")
	case c.GPU.MaxCTAs > 0 && c.GPU.MinCTAs > c.GPU.MaxCTAs:
		return nil, exit.Usagef("--min-ctas %d is more than --max-ctas %d", c.GPU.MinCTAs, c.GPU.MaxCTAs)
	case c.GPU.Register == "window":
		c.GPU.Alloc = "nccl"
	}
	if err := c.checkStep(f); err != nil {
		return nil, err
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
	if err := c.checkPattern(); err != nil {
		return nil, err
	}
	return c, c.checkPreflight()
}

// likeNCCLTests sets what nccl-tests measures with by default (its options of 2025), where the command line does not
// say otherwise, so that figures can be set side by side.
func likeNCCLTests(f *pflag.FlagSet) error {
	for _, d := range []struct{ name, value string }{{"iters", "20"}, {"warmup-iters", "1"}, {"average", "1"}, {"mode", "throughput"},
		{"placement", "both"}, {"alloc", "nccl"}} {
		if f.Changed(d.name) {
			continue
		}
		if err := f.Set(d.name, d.value); err != nil {
			return err
		}
	}
	return nil
}

// group names the section of the help that a flag stands in.
const group = "group"

func newFlags(c *config) *pflag.FlagSet {
	f := pflag.NewFlagSet("rank", pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard)
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		if name == "rehearse" { // the same flag
			name = "simulate"
		}
		return pflag.NormalizedName(name)
	})
	in := ""
	add := func(names, arg, usage string, set func(string) error) {
		long, short, _ := strings.Cut(names, ",")
		fl := f.VarPF(&setter{set: set, kind: arg}, long, short, usage)
		fl.Annotations = map[string][]string{group: {in}}
	}
	flag := func(names, usage string, to *bool) {
		long, short, _ := strings.Cut(names, ",")
		f.BoolVarP(to, long, short, false, usage)
		f.Lookup(long).Annotations = map[string][]string{group: {in}}
	}

	in = "What to measure"
	add("backend", "NAMES", "auto (NCCL where every rank has a GPU and the library, else MPI), mpi, gloo, nccl or ncclx", func(s string) (err error) { c.Backends, err = backends(s); return })
	add("sweep", "NAME|FILE", "quick (default), profile, baseline, full, sizes, pattern, or a YAML file; flags win over it", func(s string) error { c.Sweep = s; return nil })
	add("collective", "LIST", "all_reduce, all_gather, reduce_scatter, broadcast, reduce, alltoall, gather, scatter, sendrecv, or all", list(sweeps.ParseCollectives, &c.Flags.Collectives))
	add("minbytes,b", "SIZE", "smallest size; K, M, G are powers of 1024 (8 without a sweep)", size(&c.Flags.MinBytes))
	add("maxbytes,e", "SIZE", "largest size (32M without a sweep)", size(&c.Flags.MaxBytes))
	add("stepfactor,f", "N", "each size is N times the one before (2 without a sweep)", value(factor, &c.Flags.StepFactor))
	add("stepbytes,i", "SIZE", "each size is SIZE larger than the one before", size(&c.Flags.StepBytes))
	add("elements", "LIST", "elements of one rank's tensor instead of sizes: 1M,4M,16M", list(one(coll.ParseSize), &c.Flags.Elements))
	add("datatype,d", "LIST", "int8, uint8, int32, uint32, int64, uint64, float16, bfloat16, float32, float64, float8e4m3, float8e5m2, or all", list(sweeps.ParseTypes, &c.Flags.Types))
	add("op,o", "LIST", "sum, prod, min, max, avg, mulsum (NCCL's, each input times 2), or all", list(sweeps.ParseOps, &c.Flags.Ops))
	add("root,r", "LIST", "root of broadcast, reduce, gather, scatter; -1 is every rank", list(sweeps.ParseRoots, &c.Flags.Roots))
	add("placement", "LIST", "out (a buffer of its own), in (over the input), or both", list(sweeps.ParsePlacements, &c.Flags.Placements))
	add("worlds", "LIST", "sub-worlds of the first n ranks, one after another", list(sweeps.ParseWorlds, &c.Flags.Worlds))

	add("pattern", "NAME", "find a weak node or link: pairs (all pairs of nodes, many at a time) or halves (of all nodes); without a sweep it measures the sweep pattern", func(s string) error { return nearPattern(s, &c.Pattern) })

	in = "How to measure"
	add("mode", "LIST", "throughput (back to back), latency (each alone), or both", list(sweeps.ParseModes, &c.Flags.Modes))
	add("iters,n", "N", "timed operations; without it as many as the precision needs", number(1, &c.Flags.Iterations))
	add("warmup-iters,w", "N", "operations before timing (5)", number(0, &c.Flags.Warmup))
	add("agg-iters,m", "N", "operations issued as one (1)", number(1, &c.Flags.Aggregate))
	add("check,c", "N", "rounds of checking every element; 0 is off (1)", number(0, &c.Flags.Check))
	add("precision", "P", "wanted half width of the 95 % interval of the median (2%)", value(sweeps.ParsePercent, &c.Flags.Precision))
	add("budget", "TIME", "measuring time of one case at most (10s)", value(sweeps.ParseDuration, &c.Flags.Budget))
	add("time-limit", "TIME", "time of the whole run; the plan is thinned to fit: 5m", value(sweeps.ParseDuration, &c.Flags.TimeLimit))
	add("run-cycles,N", "N", "run the sweep N times; 0 is until stopped (soak)", func(s string) (err error) { c.Cycles, err = atLeast(0)(s); return })
	add("average,a", "N", "whose time throughput counts: 0 rank 0, 1 mean, 2 min, 3 max (3)", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 3 {
			return fmt.Errorf("want 0 (rank 0), 1 (mean), 2 (min) or 3 (max)")
		}
		c.Average = bench.Average(n)
		return nil
	})
	add("rotate", "SIZE", "walk through SIZE bytes of buffers, so that caches are cold", func(s string) (err error) { c.Rotate, err = coll.ParseSize(s); return })

	in = stepSection
	addStepFlags(&c.Step, add, flag)

	in = "NCCL"
	add("cudagraph,G", "N", "the -n operations (20 without it) as one CUDA graph; with -n it is launched N times, without as often as the precision needs", func(s string) (err error) { c.GPU.Graph, err = atLeast(0)(s); return })
	add("alloc", "HOW", "buffers by driver (cuMemAlloc, the default) or nccl (ncclMemAlloc)", func(s string) error { return oneOf(s, &c.GPU.Alloc, "driver", "nccl") })
	add("register", "HOW", "none (default), buffer (ncclCommRegister) or window (ncclCommWindowRegister, with --alloc nccl)", func(s string) error { return oneOf(s, &c.GPU.Register, "none", "buffer", "window") })
	add("local-register,R", "N", "nccl-tests' way to say --register: 0 none, 1 buffer, 2 window, with --alloc nccl", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 2 {
			return fmt.Errorf("want 0 (none), 1 (buffer) or 2 (window)")
		}
		if c.GPU.Register = []string{"none", "buffer", "window"}[n]; n > 0 {
			c.GPU.Alloc = "nccl"
		}
		return nil
	})
	flag("events", "time of each operation (or batch) by CUDA events too, beside the host's clock", &c.GPU.Events)
	add("cta-policy,x", "N", "ncclConfig_t's CTAPolicy: 0 default, 1 efficiency, 2 zero CTAs", func(s string) (err error) { c.GPU.CTAPolicy, err = atLeast(0)(s); return })
	add("min-ctas", "N", "ncclConfig_t's minCTAs: thread blocks of an operation at least", func(s string) (err error) { c.GPU.MinCTAs, err = atLeast(1)(s); return })
	add("max-ctas", "N", "ncclConfig_t's maxCTAs: thread blocks of an operation at most", func(s string) (err error) { c.GPU.MaxCTAs, err = atLeast(1)(s); return })
	add("algo", "NAMES", "algorithms that NCCL may take, in its words: ring, tree_ll128, ^nvls (NCCL 2.31 and newer)", func(s string) error { c.GPU.Algorithms = s; return nonEmpty(s) })
	add("like", "TOOL", "nccl-tests: its -n 20, -w 1, -a 1, both placements, ncclMemAlloc and moving buffers, for figures side by side", func(s string) error { return oneOf(s, &c.Like, "nccl-tests") })
	flag("path", "ask NCCL (2.23 and newer) for the algorithm, protocol and channels of each point, by its profiler interface", &c.GPU.Path)
	flag("profile-range", "cuProfilerStart and Stop around the timed part of each case, or around all steps of a --step (nsys profile --capture-range=cudaProfilerApi)", &c.Profile)
	flag("nonblocking", "a non-blocking communicator, for those who train with one", &c.GPU.NonBlocking)
	flag("allow-shared-gpu", "let several ranks use one GPU; every record says so", &c.ShareGPU)

	in = "The run"
	add("out", "DIR", "where results go (default ./results)", func(s string) error { c.Out = s; return nonEmpty(s) })
	flag("resume", "continue what lies in --out: points that are ok are not measured again", &c.Resume)
	flag("list", "show the plan and measure nothing", &c.list)
	flag("preflight", "check libraries, hosts, limits and network, and measure nothing; exit code 2 on a problem", &c.preflight)
	add("format", "FORMAT", "the report of --preflight as text (default), markdown or json", c.format.Set)
	flag("json", "the same as --format json", &c.json)
	flag("quiet", "no table and no progress", &c.quiet)
	add("retry", "N", "measure a point that failed up to N times more (0)", func(s string) (err error) { c.Retry, err = atLeast(0)(s); return })
	add("deadline", "TIME", "name a hang after this long, or ten times what the case should take (default 60s)", func(s string) (err error) { c.Deadline, err = deadline(s); return })
	add("timeout,T", "SECONDS", "nccl-tests' name for --deadline", func(s string) (err error) { c.Deadline, err = deadline(s); return })
	add("campaign", "ID", "launches with one ID belong together (also BUSBAR_CAMPAIGN)", func(s string) error { c.Campaign = s; return nonEmpty(s) })
	add("block", "LABEL", "launches of one campaign and block were taken in turn, and are compared as pairs (also BUSBAR_BLOCK)", func(s string) error { c.Block = s; return nonEmpty(s) })
	add("variant", "LABEL", "name of a tuning variant (also BUSBAR_VARIANT)", func(s string) error { c.Variant = s; return nonEmpty(s) })

	in = "Libraries"
	add("nccl", "PATH", "libnccl.so.2 or another library with its functions: a file or its folder", func(s string) error { c.NCCL = s; return nonEmpty(s) })
	add("cuda", "PATH", "the driver's libcuda.so.1: a file or its folder", func(s string) error { c.CUDA = s; return nonEmpty(s) })
	flag("simulate", "simulate GPUs and NCCL: everything runs, no value is real (also --rehearse)", &c.Simulate)
	add("gloo-iface", "NAME", "network interface of Gloo (default GLOO_SOCKET_IFNAME, else where the route leads)", func(s string) error { c.Gloo.Network = s; return nonEmpty(s) })
	add("gloo-cpus", "WHERE", "where Gloo's thread may run: same (its rank's CPUs), any (all that the system grants), or a list: 0-3,8 (default same, and any for ranks of one CPU where there are enough)", func(s string) error { return backend.ParseGlooCPUs(s, &c.Gloo.CPUs) })
	add("gloo-algo", "NAME", "all_reduce of Gloo by ring (default) or bcube", func(s string) error { return oneOf(s, &c.Gloo.Algorithm, "ring", "bcube") })
	add("mpi", "NAME|PATH", "auto, openmpi, mpich, or a shim's path", func(s string) error { c.mpi = s; return nonEmpty(s) })
	add("nthreads,t", "1", "accepted as nccl-tests has it: one thread per rank", exactlyOne)
	add("ngpus,g", "1", "accepted as nccl-tests has it: one device per rank", exactlyOne)

	in = "About"
	flag("version", "version and build", &c.version)
	f.BoolVarP(&c.help, "help", "h", false, "this text")
	f.Lookup("help").Annotations = map[string][]string{group: {in}}
	return f
}

func backends(s string) ([]string, error) {
	var names []string
	for word := range strings.SplitSeq(s, ",") {
		word = strings.TrimSpace(word)
		found := false
		for _, n := range backendNames {
			found = found || n == word
		}
		if !found {
			return nil, coll.Unknown("backend", word, backendNames)
		}
		names = append(names, word)
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
	for _, w := range words {
		if s == w {
			*to = s
			return nil
		}
	}
	return coll.Unknown("word", s, words)
}

func nonEmpty(s string) error {
	if s == "" {
		return fmt.Errorf("want something, not nothing")
	}
	return nil
}

func exactlyOne(s string) error {
	if s != "1" {
		return fmt.Errorf("rank drives one device with one thread; start more ranks (mpirun -np N) instead")
	}
	return nil
}
