package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
)

func parse(t *testing.T, line string) *config {
	t.Helper()
	c, err := parseFlags(strings.Fields(line), func(string) string { return "" })
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return c
}

// The flags of nccl-tests as people type them.
func TestFlagsOfNCCLTests(t *testing.T) {
	for _, line := range []string{
		"-b8 -e8G -f2 -n20 -w5 -c1 -dfloat -osum -r0 -m1 -a3 -g1 -t1 -T60 -N2",
		"--minbytes 8 --maxbytes=8GiB --stepfactor 2 --iters 20 --warmup_iters 5 --check 1 --datatype float --op sum " +
			"--root 0 --agg-iters 1 --average 3 --ngpus 1 --nthreads 1 --timeout 60s --run_cycles 2",
	} {
		c := parse(t, line)
		p := c.Flags
		if *p.MinBytes != 8 || *p.MaxBytes != 8<<30 || *p.StepFactor != 2 || *p.Iterations != 20 || *p.Warmup != 5 ||
			*p.Check != 1 || p.Types[0] != coll.Float32 || p.Ops[0] != coll.Sum || p.Roots[0] != 0 ||
			*p.Aggregate != 1 || c.Average != bench.Max || c.Deadline != time.Minute || c.Cycles != 2 {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

// What is wrong with a command line is a usage error that names it; an empty word stands for a line that is right.
func TestBadFlags(t *testing.T) {
	lines := map[string]string{
		"-b 1X": "minbytes", "-d flaot": "float", "--backend nclc": `"nccl"`, "--nosuchflag": "--nosuchflag",
		"-z 1":          "-z",
		"--placment in": "--placement", "--stepfactor 1": "at least 2", "-g 2": "more ranks", "-a 4": "want 0",
		"--alloc malloc": "driver", "-R 3": "window", "--deadline 10ms": "1s", "--precision -1": "precision",
		"--budget soon": "budget", "-n 0": "at least 1", "--out=": "out", "word": "word", "-b": "-b",
		"--collective all_reduce,": "empty", "--worlds 0": "worlds", "--elements 1M,2X": "2X",
		"--mode latncy": "latency", "--min-ctas 4 --max-ctas 2": "--max-ctas 2", "-G 1 --rotate 1M": "--rotate",
		"--register window --alloc driver": "--alloc", "--pattern pairs --worlds 2": "--worlds",
		"--pattern pairs --run-cycles 2": "--run-cycles", "--pattern pairs --time-limit 5m": "--time-limit",
		"--pattern pairs --preflight": "--preflight",

		"--preflight --format md": "", "--json": "--preflight", "--preflight --format xml": "xml",
		"--preflight --list": "--list",

		"--bucket 5M": "--step", "--step=": "empty", "--step x -d int8": "int8", "--step x --bucket 5Q": "Q",
		"--step x --strategy fsdp --first-bucket 2M": "DDP", "--step x --first-bucket 0": "first-bucket",
		"--step x --compute 0s": "compute", "--step x --compute-kernel gem": "gemm",
		"--step x --compute-kernel fma -R 2":                    "--register window",
		"--step x --compute-kernel gemm --register window":      "",
		"--step x -n 5 -w 0 -c 0 --resume --quiet --worlds 2,4": "",
	}
	values := map[string]string{"sweep": "quick", "collective": "all_reduce", "op": "sum", "root": "0",
		"placement": "in", "mode": "latency", "average": "1", "pattern": "pairs", "time-limit": "1m",
		"like": "nccl-tests", "preflight": "true", "path": "true"}
	for _, name := range excluded["step"] {
		value, ok := values[name]
		if !ok {
			value = "2"
		}
		lines["--step resnet50 --"+name+"="+value] = "--" + name
	}
	for line, want := range lines {
		_, err := parseFlags(strings.Fields(line), func(string) string { return "" })
		if (err == nil) != (want == "") ||
			err != nil && (exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestBackends(t *testing.T) {
	for _, k := range []struct {
		words, want string
		simulate    bool
		code        int
	}{
		{"", "found", false, 0}, {"mpi nccl", "mpi nccl", false, 0}, {"nccl", "nccl-rehearsal", true, 0},
		{"mpi", "", true, exit.Usage},
	} {
		names, err := backend.Choose(&backend.Options{Backends: strings.Fields(k.words), Simulate: k.simulate},
			func() string { return "found" })
		if exit.CodeOf(err) != k.code || strings.Join(names, " ") != k.want {
			t.Errorf("%q, simulated %v: %v, %v", k.words, k.simulate, names, err)
		}
	}
}

// Every flag is in the help, which is at most 100 columns wide.
func TestHelp(t *testing.T) {
	var b strings.Builder
	writeHelp(&b)
	newFlags(&config{}).VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(b.String(), "--"+f.Name) {
			t.Errorf("the help lacks --%s", f.Name)
		}
	})
	for line := range strings.Lines(b.String()) {
		if len([]rune(line)) > 101 {
			t.Errorf("too wide: %s", line)
		}
	}
}

// Each combination is a point: groups stand together, in each the caps in their order.
func TestStepPoints(t *testing.T) {
	c := parse(t, "--step my.yaml --bucket 5M,layer,all --strategy ddp,fsdp -d bf16,float32")
	for name, progress := range map[string]int{"mpi": 2, "gloo": 1, "nccl": 1} {
		points := c.StepPoints(name)
		if len(points) != 3*2*2*progress {
			t.Fatalf("%d points on %s", len(points), name)
		}
		for i, p := range points {
			if p.Bucket != c.Step.Buckets[i%3] || p.Group() != points[i/3*3].Group() {
				t.Errorf("point %d on %s is %s", i+1, name, p)
			}
		}
	}
	if o := parse(t, "--step resnet50").Step; !slices.Equal(o.Buckets, step.Caps()) || o.First != step.FirstBucket {
		t.Errorf("by default %+v", o)
	}
	fma := parse(t, "--step x --compute-kernel fma").Step
	if fma.CheckBackends([]string{"mpi", "nccl"}) != nil ||
		exit.CodeOf(fma.CheckBackends([]string{"mpi"})) != exit.Usage {
		t.Error("--compute-kernel without a GPU, or not with one")
	}
}
