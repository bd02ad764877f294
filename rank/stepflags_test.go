package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/plan"
)

// What is asked for is a point each; what is not asked for has its default.
func TestStepFlags(t *testing.T) {
	c := parse(t, "--step resnet50")
	if o := c.Step; o.Model != "resnet50" || !slices.Equal(o.Buckets, step.Caps()) || o.First != 1<<20 ||
		o.Threads != 1 || o.Kernel != "auto" || o.Poll != 200*time.Microsecond || o.NoTrace {
		t.Errorf("%+v", o)
	}
	c = parse(t,
		"--step my.yaml --bucket 5M,layer,all --first-bucket 2M --strategy ddp,fsdp -d bf16,float32 --progress "+
			"poll,thread "+
			"--poll-interval 1ms --compute 50ms --compute-threads 2 --no-trace")
	if o := c.Step; o.First != 2<<20 || o.Poll != time.Millisecond || o.Compute != 50*time.Millisecond ||
		o.Threads != 2 || !o.NoTrace {
		t.Errorf("%+v", o)
	}
	points := c.StepPoints("mpi")
	if len(points) != 3*2*2*2 {
		t.Fatalf("%d points", len(points))
	}
	for i, p := range points { // groups stand together, in each the caps in their order
		if want := c.Step.Buckets[i%3]; p.Bucket != want || p.Group() != points[i/3*3].Group() {
			t.Errorf("point %d is %s", i+1, p)
		}
	}
	if p := points[0]; p != (step.Point{Strategy: step.DDP, Bucket: 5 << 20, Type: coll.BFloat16,
		Progress: step.Poll}) {
		t.Errorf("the first is %s", p)
	}
}

// Of ways to go on, each backend takes those that it has.
func TestStepWays(t *testing.T) {
	for _, k := range []struct{ line, backend, want string }{
		{"--step uniform", "mpi", "none,poll"},
		{"--step uniform", "gloo", "thread"},
		{"--step uniform", "nccl", ""},
		{"--step uniform --progress thread,poll", "mpi", "thread,poll"},
		{"--step uniform --progress none,thread", "gloo", "thread"},
		{"--step uniform --progress none", backend.Simulation, ""},
	} {
		c := parse(t, k.line)
		var got []step.Progress
		for _, p := range c.StepPoints(k.backend) {
			if p.Progress != "" && !slices.Contains(got, p.Progress) {
				got = append(got, p.Progress)
			}
		}
		if plan.Words(got) != k.want {
			t.Errorf("%s on %s: %s", k.line, k.backend, plan.Words(got))
		}
	}
}

// Each flag that means nothing to a step is refused with what to do instead, and so are those of a step without one.
func TestStepRefusals(t *testing.T) {
	values := map[string]string{"sweep": "quick", "collective": "all_reduce", "op": "sum", "root": "0",
		"placement": "in", "mode": "latency", "average": "1",
		"pattern": "pairs", "time-limit": "1m", "like": "nccl-tests", "preflight": "true",
		"path": "true"}
	for name, instead := range notWithStep {
		value := values[name]
		if value == "" {
			value = "2"
		}
		_, err := parseFlags([]string{"--step", "resnet50", "--" + name + "=" + value}, noEnv)
		if err == nil || exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), "--"+name) ||
			!strings.Contains(err.Error(), instead) {
			t.Errorf("--%s: %v", name, err)
		}
	}
	for line, want := range map[string]string{
		"--bucket 5M":      "--bucket belongs to --step",
		"--no-trace":       "--no-trace belongs to --step",
		"--step=":          "not nothing",
		"--step x -d int8": "int8 is no type of theirs",
		"--step x --strategy fsdp --first-bucket 2M":            "--first-bucket is DDP's",
		"--step x --progress none --poll-interval 1ms":          "does not poll",
		"--step x --bucket 5Q":                                  `"Q" is no unit`,
		"--step x --bucket lyer":                                `did you mean "layer"?`,
		"--step x --strategy dpd":                               `did you mean "ddp"?`,
		"--step x --first-bucket 0":                             "more than 0",
		"--step x --compute 0s":                                 "compute",
		"--step x --compute-threads 0":                          "at least 1",
		"--step x --compute-kernel gem":                         `did you mean "gemm"?`,
		"--step x --progress thread --pattern pairs --list":     "--pattern is not for --step",
		"--step x --compute-kernel fma --register window":       "leave out --register window",
		"--step x --compute-kernel fma -R 2":                    "leave out --register window",
		"--step x --compute-kernel fma --register buffer":       "",
		"--step x --compute-kernel gemm --register window":      "",
		"--step x -n 5 -w 0 -c 0 --resume --quiet --worlds 2,4": "",
	} {
		_, err := parseFlags(strings.Fields(line), noEnv)
		if want == "" && err == nil {
			continue
		}
		if err == nil || exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// What no backend of the run has is refused before anything is opened.
func TestStepBackends(t *testing.T) {
	for _, k := range []struct{ line, backends, want string }{
		{"--step x --progress poll", "gloo", "gloo has thread alone"},
		{"--step x --progress poll", "mpi,gloo", "gloo has thread alone"},
		{"--step x --progress poll,thread", "mpi,gloo", ""},
		{"--step x --progress poll", "nccl", "on a GPU a stream"},
		{"--step x --progress poll", "nccl,mpi", ""},
		{"--step x --poll-interval 1ms", "gloo", "which --backend gloo does not do"},
		{"--step x --poll-interval 1ms", "gloo,nccl", "which --backend gloo,nccl does not do"},
		{"--step x --poll-interval 1ms", "gloo,mpi", ""},
		{"--step x --compute-threads 2", "nccl", "a GPU computes with kernels"},
		{"--step x --compute-threads 2", "nccl,gloo", ""},
		{"--step x --compute-kernel fma", "mpi", "a host computes with --compute-threads"},
		{"--step x --compute-kernel fma", backend.Simulation, ""},
		{"-b 8", "mpi", ""},
	} {
		err := parse(t, k.line).Step.CheckBackends(strings.Split(k.backends, ","))
		if (err == nil) != (k.want == "") ||
			err != nil && (exit.CodeOf(err) != exit.Usage || !strings.Contains(err.Error(), k.want)) {
			t.Errorf("%s on %s: %v", k.line, k.backends, err)
		}
	}
}
