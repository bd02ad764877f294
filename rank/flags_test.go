package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/mpi"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/sweeps"
)

func noEnv(string) string { return "" }

func parse(t *testing.T, line string) *config {
	t.Helper()
	c, err := parseFlags(strings.Fields(line), noEnv)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return c
}

// The flags of nccl-tests as people type them.
func TestFlagsOfNCCLTests(t *testing.T) {
	for _, line := range []string{
		"-b 8 -e 8G -f 2 -n 20 -w 5 -c 1 -d float -o sum -r 0 -m 1 -a 3 -g 1 -t 1 -T 60 -N 2",
		"-b8 -e8G -f2 -n20 -w5 -c1 -dfloat -osum -r0 -m1 -a3 -g1 -t1 -T60 -N2",
		"--minbytes 8 --maxbytes=8G --stepfactor 2 --iters 20 --warmup_iters 5 --check 1 --datatype float --op sum " +
			"--root 0 --agg_iters 1 --average 3 --ngpus 1 --nthreads 1 --timeout 60 --run_cycles 2",
		"--warmup-iters 5 -b 8B -e 8GiB -f 2 -n 20 -c 1 -d float32 -o sum -r 0 --agg-iters 1 -a 3 --timeout 60s " +
			"--run-cycles 2",
	} {
		c := parse(t, line)
		p := c.Flags
		if *p.MinBytes != 8 || *p.MaxBytes != 8<<30 || *p.StepFactor != 2 || *p.Iterations != 20 || *p.Warmup != 5 ||
			*p.Check != 1 ||
			p.Types[0] != coll.Float32 || p.Ops[0] != coll.Sum || p.Roots[0] != 0 || *p.Aggregate != 1 ||
			c.Average != bench.Max ||
			c.Deadline != time.Minute || c.Cycles != 2 {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

func TestBadFlags(t *testing.T) {
	for line, words := range map[string][]string{
		"-b 1X":                           {"1X", "minbytes"},
		"-d flaot":                        {"flaot", "float"},
		"-o sun":                          {`"sum"`},
		"--collective allreduze":          {"all_reduce"},
		"--backend nclc":                  {`"nccl"`},
		"--nosuchflag":                    {"--nosuchflag"},
		"--placment in":                   {"--placement"},
		"--stepfactor 1":                  {"at least 2"},
		"-g 2":                            {"more ranks"},
		"-t 4":                            {"more ranks"},
		"-a 4":                            {"want 0"},
		"-z 1":                            {"--mode latency"},
		"--blocking 1":                    {"--mode latency"},
		"-D 1":                            {"device kernels"},
		"--alloc malloc":                  {"driver", "nccl"},
		"--register twice":                {"none", "buffer", "window"},
		"-R 3":                            {"buffer", "window"},
		"-J x.json":                       {"--out"},
		"--per_iter_timing 1":             {"--mode latency"},
		"--master-port 29501":             {"torch.distributed", "no port"},
		"--device cuda":                   {"torch.distributed", "--backend"},
		"--num_processes 2,4":             {"torch.distributed", "--worlds"},
		"--data-sizes 10":                 {"torch.distributed", "-b 1M"},
		"--deadline 10ms":                 {"1s"},
		"--precision -1":                  {"precision"},
		"--budget soon":                   {"budget"},
		"-n 0":                            {"at least 1"},
		"--out=":                          {"out"},
		"word":                            {"word"},
		"--collective all_reduce,":        {"empty"},
		"--worlds 0":                      {"worlds"},
		"--elements 1M,2X":                {"2X"},
		"-b -8":                           {"-8"},
		"-b 9223372036854775808":          {"9223372036854775808"},
		"-b":                              {"-b"},
		"-f 0":                            {"-f", "0"},
		"--mode latncy":                   {"latency"},
		"--placement inn":                 {`"in"`},
		"--parallel_init 1":               {"every rank initialises"},
		"--min-ctas 4 --max-ctas 2":       {"--min-ctas 4", "--max-ctas 2"},
		"-G 1 --rotate 1M":                {"--rotate", "-G"},
		"--pattern pairs --worlds 2":      {"--worlds makes others"},
		"--pattern pairs --run-cycles 2":  {"leave out --run-cycles"},
		"--pattern pairs --time-limit 5m": {"--time-limit would thin"},
		"--pattern pairs --preflight":     {"--preflight measures nothing"},
	} {
		_, err := parseFlags(strings.Fields(line), noEnv)
		if err == nil {
			t.Errorf("%s is accepted", line)
			continue
		}
		if exit.CodeOf(err) != exit.Usage {
			t.Errorf("%s: exit code %d", line, exit.CodeOf(err))
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q is not in %q", line, w, err)
			}
		}
	}
}

func TestBackends(t *testing.T) {
	auto := func() string { return "what auto found" }
	for _, k := range []struct {
		words    []string
		rehearse bool
		want     string
		code     int
	}{
		{nil, false, "what auto found", 0}, {[]string{"mpi", "nccl"}, false, "mpi nccl", 0},
		{nil, true, "what auto found", 0},
		{[]string{"nccl"}, true, "nccl-rehearsal", 0}, {[]string{"mpi"}, true, "", exit.Usage},
		{[]string{"gloo"}, false, "gloo", 0},
	} {
		names, err := backend.Choose(&backend.Options{Backends: k.words, Simulate: k.rehearse}, auto)
		if exit.CodeOf(err) != k.code || strings.Join(names, " ") != k.want {
			t.Errorf("%v, rehearsed %v: %v, %v", k.words, k.rehearse, names, err)
		}
	}
	_, err := backend.Choose(&backend.Options{Backends: []string{"mpi"}, GPU: backend.NCCLOptions{Graph: 3}}, auto)
	if exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), "--cudagraph") {
		t.Errorf("a flag of NCCL's for MPI: %v", err)
	}
}

func TestExitCodes(t *testing.T) {
	for _, k := range []struct {
		err  error
		code int
	}{
		{nil, 0}, {exit.Usagef("x"), 1}, {&sweeps.Error{File: "f", Line: 1, Err: errors.New("x")}, 1},
		{exit.Environmentf("x"), 2},
		{&result.WriteError{Err: errors.New("x")}, 2}, {&mpi.Error{Op: "MPI_X"}, 5}, {errors.New("x"), 5},
		{fmt.Errorf("wrapped: %w", exit.Usagef("x")), 1},
	} {
		if c := exit.CodeOf(k.err); c != k.code {
			t.Errorf("%v gives %d, wanted %d", k.err, c, k.code)
		}
	}
}

func TestHelpIsWhole(t *testing.T) {
	var b strings.Builder
	writeHelp(&b)
	help := b.String()
	for _, flag := range []string{"--backend", "--sweep", "--minbytes", "-b", "--elements", "--placement", "--worlds",
		"--precision", "--budget", "--time-limit",
		"--run-cycles", "--mode", "--resume", "--list", "--quiet", "--deadline", "--mpi", "--rotate", "Examples",
		"Exit codes", "130, 143", "Signals"} {
		if !strings.Contains(help, flag) {
			t.Errorf("the help lacks %s", flag)
		}
	}
	for _, line := range strings.Split(help, "\n") {
		if len([]rune(line)) > 100 {
			t.Errorf("too wide: %s", line)
		}
	}
}
