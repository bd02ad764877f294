package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"github.com/spf13/pflag"
)

func parse(t *testing.T, line string) *config {
	t.Helper()
	c, err := parseFlags(strings.Fields(line), func(string) string { return "" })
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return c
}

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

// Each bad command line is a usage error with the given text; an empty text marks a valid command line.
func TestBadFlags(t *testing.T) {
	lines := map[string]string{}
	for _, k := range golden.Table[struct{ Line, Want string }](t, `
		Line                                                   Want
		-b 1X                                                  minbytes
		-d flaot                                               float
		--backend nclc                                         "\"nccl\""
		--nosuchflag                                           --nosuchflag
		-z 1                                                   -z
		--size 1M                                              -b/-e
		--np 4                                                 mpirun -np 4
		-np 4                                                  mpirun -np 4
		--dtype float                                          --datatype
		--rehears                                              (rank --help
		--threads 2                                            (rank --help
		--placment in                                          --placement
		--stepfactor 1                                         at least 2
		-g 2                                                   more ranks
		-a 4                                                   must be 0
		--alloc malloc                                         driver
		-R 3                                                   window
		--deadline 10ms                                        1s
		--precision -1                                         precision
		--budget soon                                          budget
		-n 0                                                   at least 1
		--out=                                                 out
		word                                                   word
		-b                                                     -b
		--collective all_reduce,                               empty
		--worlds 0                                             worlds
		--elements 1M,2X                                       2X
		--mode latncy                                          latency
		--min-ctas 4 --max-ctas 2                              --max-ctas 2
		-G 1 --rotate 1M                                       --rotate
		--register window --alloc driver                       --alloc
		--pattern pairs --worlds 2                             --worlds
		--pattern pairs --run-cycles 2                         --run-cycles
		--pattern pairs --time-limit 5m                        --time-limit
		--pattern pairs --preflight                            --preflight
		--preflight --format md
		--json                                                 --preflight
		--preflight --format xml                               xml
		--preflight --list                                     --list
		--bucket 5M                                            --step
		--step=                                                empty
		--step x -d int8                                       int8
		--step x --bucket 5Q                                   Q
		--step x --strategy fsdp --first-bucket 2M             ddp
		--step x --first-bucket 0                              first-bucket
		--step x --compute 0s                                  compute
		--step x --compute-kernel gem                          gemm
		--step x --compute-kernel fma -R 2                     --register window
		--step x --compute-kernel gemm --register window
		--step x -n 5 -w 0 -c 0 --resume --quiet --worlds 2,4
	`) {
		lines[k.Line] = k.Want
	}
	values := map[string]string{"sweep": "quick", "collective": "all_reduce", "op": "sum", "root": "0",
		"placement": "in", "mode": "latency", "average": "1", "pattern": "pairs", "time-limit": "1m",
		"like": "nccl-tests", "preflight": "true", "algorithms": "true"}
	for _, name := range strings.Fields(excluded["step"]) {
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

// -h has at most 40 lines, --help has all flags but those of --step, --step --help has these.
func TestHelp(t *testing.T) {
	help := func(line string) string {
		var b strings.Builder
		parse(t, line).writeHelp(&b)
		for line := range strings.Lines(b.String()) {
			if len([]rune(line)) > 101 {
				t.Errorf("more than 100 columns: %s", line)
			}
		}
		return b.String()
	}
	short, full, ofStep := help("-h"), help("--help"), help("--step --help")
	if n := strings.Count(short, "\n"); n > 40 || !strings.Contains(short, "--help") {
		t.Errorf("-h prints %d lines:\n%s", n, short)
	}
	test.EqOp(t, ofStep, help("--step gpt2 --bucket 5M --help"))
	test.StrContains(t, full, "select "+strings.Join(backend.Names(), ", "))
	newFlags(&config{}).VisitAll(func(f *pflag.Flag) {
		row := "--" + f.Name
		if f.Value.Type() != "bool" {
			row += " " + f.Value.Type()
		}
		row = " " + row + " "
		inStep := f.Annotations[group][0] == stepSection
		if strings.Contains(full, "   "+row) == inStep && f.Shorthand == "" ||
			strings.Contains(ofStep, "   "+row) != inStep {
			t.Errorf("%q is missing or in the wrong help", row)
		}
		if f.Shorthand != "" && !strings.Contains(full, "  -"+f.Shorthand+","+row) {
			t.Errorf("--help lacks %q", row)
		}
	})
}

func TestAliasesOfFlags(t *testing.T) {
	for _, line := range []string{"--algorithms --simulate", "--path --rehearse"} {
		if c := parse(t, line); !c.GPU.Path || !c.Simulate {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

// Each combination is a point: one group after another, and in each group the bucket sizes in order.
func TestStepPoints(t *testing.T) {
	c := parse(t, "--step my.yaml --bucket 5M,layer,all --strategy ddp,fsdp -d bf16,float32")
	for name, progress := range map[string]int{"mpi": 2, "gloo": 1, "nccl": 1} {
		points := c.StepPoints(name)
		must.Len(t, 3*2*2*progress, points, must.Sprint(name))
		for i, p := range points {
			if p.Bucket != c.Step.Buckets[i%3] || p.Group() != points[i/3*3].Group() {
				t.Errorf("point %d on %s is %s", i+1, name, p)
			}
		}
	}
	if o := parse(t, "--step resnet50").Step; !slices.Equal(o.Buckets, step.Caps()) || o.First != step.FirstBucket {
		t.Errorf("defaults: %+v", o)
	}
	fma := parse(t, "--step x --compute-kernel fma").Step
	if fma.CheckBackends([]string{"mpi", "nccl"}) != nil ||
		exit.CodeOf(fma.CheckBackends([]string{"mpi"})) != exit.Usage {
		t.Error("--compute-kernel requires a GPU backend")
	}
}
