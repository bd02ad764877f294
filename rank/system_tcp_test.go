package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/result"
	"busbar/rank/exit"
)

// Every backend but MPI measures in a world that TCP connects.
func TestLaunchOverTCP(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"gloo":       {"--backend", "gloo", "--worlds", "2,3"},
		"simulation": simulated("--collective all --path"),
		"auto":       {"--mode", "latency"},
		"step":       {"--backend", "gloo", "--step", "uniform:4x4K", "--compute", "1ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "simulation" {
				glooShim(t)
			}
			args = append(args, "-d", "float32", "--budget", "50ms", "--out", t.TempDir())
			if name != "step" {
				args = append(args, "-b", "1K", "-e", "16K", "-f", "16")
			}
			rankRun{mpirun: meet, np: 3, args: args}.mustRun(t)
		})
	}
}

// A program that was started alone needs no MPI.
func TestAloneWithoutMPI(t *testing.T) {
	t.Parallel()
	glooShim(t)
	f, _ := rankRun{mpirun: alone, env: []string{"BUSBAR_LIB=" + t.TempDir()},
		args: flags("--backend gloo -b 8 -e 8")}.measured(t)
	if f.Run.World != 1 || f.Records[0].Status != result.OK {
		t.Errorf("%+v", f.Run)
	}
}

// twoHosts is a launch of four ranks on two hosts that are network namespaces.
func twoHosts(t *testing.T, args ...string) rankRun {
	t.Helper()
	script, err := filepath.Abs("testdata/two-hosts.sh")
	if err != nil {
		t.Fatal(err)
	}
	probe := flags("--net --uts --mount --pid --fork true")
	if os.Getuid() != 0 {
		probe = append([]string{"--user", "--map-root-user"}, probe...)
	}
	if out, err := exec.Command("unshare", probe...).CombinedOutput(); err != nil {
		t.Skipf("this system does not allow namespaces: %v: %s", err, out)
	}
	return rankRun{mpirun: alone, program: "bash", args: append([]string{script, "4", compiled(t).rank}, args...)}
}

// Each local rank has a link of its own; the one that is throttled is named.
func TestThrottledRail(t *testing.T) {
	t.Parallel()
	glooShim(t)
	needs.Command(t, "tc", "it throttles a link; make test installs it")
	for _, rail := range []string{"0", "1"} {
		t.Run(rail, func(t *testing.T) {
			t.Parallel()
			l := twoHosts(t, flags("--backend gloo --pattern rails --collective all_reduce -b 256K -e 256K",
				"--mode throughput -n 10 --out", t.TempDir())...)
			l.env = append(l.env, "SLOW_RAIL="+rail)
			has(t, l.mustRun(t).stdout, "rail "+rail+" is slow")
		})
	}
}

// Two network namespaces are two hosts.
func TestTwoHostsOverTCP(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"gloo": {"--backend", "gloo", "--worlds", "2,4"},
		"simulation": simulated("--mode latency")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "gloo" {
				glooShim(t)
			}
			out := t.TempDir()
			twoHosts(t, append(args, "--collective", "all_reduce", "-b", "1K", "-e", "16K", "-f", "16", "--budget",
				"50ms", "--out", out)...).mustRun(t)
			for _, f := range read(t, out) {
				if f.Run.World == 4 && (f.Run.Nodes != 2 || f.Run.RanksPerNode != 2) {
					t.Errorf("%d nodes of %d ranks", f.Run.Nodes, f.Run.RanksPerNode)
				}
				checkWhole(t, f, result.OK)
			}
		})
	}
}

// A rank that is killed or stopped before all have met is named, or the others state that rank 0 is missing.
func TestMeetingDisturbed(t *testing.T) {
	needs.TestAll(t) // each waits for 30 seconds
	t.Parallel()
	glooShim(t)
	for _, d := range []struct {
		target int
		signal syscall.Signal
		code   int
		words  []string // of the other rank
	}{
		{1, syscall.SIGKILL, exit.Environment, []string{"2 of 3 ranks (1, 2) are not connected to rank 0",
			"joined and exited: rank 1 on"}},
		{1, syscall.SIGSTOP, exit.Environment, []string{"1 of 3 ranks (2) are not connected to rank 0"}},
		{0, syscall.SIGKILL, exit.Environment, []string{"cannot meet rank 0", "connection refused"}},
		{0, syscall.SIGSTOP, exit.Environment, []string{"rank 0 did not report that all ranks have met"}},
		{0, syscall.SIGTERM, exit.Environment, []string{"cannot meet rank 0", "connection refused"}},
	} {
		t.Run(fmt.Sprint(d.signal, " to ", d.target), func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			start := func(rank int) *running {
				return rankRun{mpirun: alone, args: []string{"--backend", "gloo", "--out", t.TempDir()},
					env: []string{
						"WORLD_SIZE=3", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port, fmt.Sprint("RANK=", rank),
						"BUSBAR_TIME_SCALE=0.1"}}.start(t)
			}
			ranks := []*running{start(0), start(1)}
			ranks[0].await("rank 0 to wait for rank 2", func() bool {
				return strings.Contains(ranks[0].outcome().stderr, " for 1 of 3 ranks (2)")
			})
			ranks[d.target].signal(0, d.signal)
			if d.signal == syscall.SIGTERM {
				if o := ranks[d.target].wait(); o.code != 143 {
					t.Errorf("want exit code 143: %s", o)
				}
			}
			o := ranks[1-d.target].wait()
			if o.code != d.code {
				t.Errorf("want exit code %d: %s", d.code, o)
			}
			has(t, o.stderr, d.words...)
		})
	}
}

// Two agents of torchrun start two ranks each. With -r 1 -t 1 PyTorch 1.13 works on Python 3.11: rank's stdout goes
// through the agent.
func TestTorchrun(t *testing.T) {
	needs.Torchrun(t)
	glooShim(t)
	port, out := freePort(t), t.TempDir()
	agent := func(node int) *running {
		return rankRun{mpirun: alone, program: "/usr/bin/python3", args: flags("-m torch.distributed.run",
			"--no_python --nnodes 2 --node_rank", strconv.Itoa(node), "--nproc_per_node 2",
			"--master_addr 127.0.0.1 --master_port", port, "-r 1 -t 1 --log_dir", t.TempDir(),
			compiled(t).rank, "--backend gloo --collective all_reduce -b 1K -e 16K -f 4 --budget 50ms",
			"--out", out)}.start(t)
	}
	for _, a := range []*running{agent(0), agent(1)} {
		if o := a.wait(); o.code != 0 {
			t.Error(o)
		}
	}
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	if f.Run.World != 4 || f.Run.MPI.Launcher != "torchrun" {
		t.Errorf("world %d started by %s", f.Run.World, f.Run.MPI.Launcher)
	}
}

// glooShim skips a test without Gloo's headers, since make build builds no shim then.
func glooShim(t *testing.T) {
	t.Helper()
	needs.File(t, filepath.Join(compiled(t).lib, "busbar-gloo.so"),
		"make build makes it where Gloo's headers are (make deps installs them)")
}

// Records name the algorithm (busbar's own for reduce_scatter); the header names the library and its thread.
func TestGlooMeasures(t *testing.T) {
	t.Parallel()
	glooShim(t)
	f, _ := rankRun{np: 3, args: flags("--backend gloo --gloo-iface lo --collective all_reduce,reduce_scatter",
		"--elements 1K,5K --mode both -n 5")}.measured(t)
	checkWhole(t, f, result.OK)
	if b := f.Run.Backend; b.Name != "gloo" || !strings.Contains(b.Path, "libgloo") || b.BuildID == "" ||
		len(f.Records) != 8 {
		t.Errorf("backend %+v, %d records", b, len(f.Records))
	}
	has(t, strings.Join(f.Run.Backend.Notes, "\n"), "lo, 127.0.0.1", "thread of rank 0 on CPUs ")
	for _, r := range f.Records {
		has(t, strings.Join(r.Notes, "\n"), map[coll.Collective]string{coll.AllReduce: "ring",
			coll.ReduceScatter: "busbar's own ring"}[r.Collective])
	}
}
