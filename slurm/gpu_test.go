package slurm

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"busbar/internal/needs"
	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// gpus is a simulated sweep of few points.
var gpus = []string{"--backend", "nccl", "--rehearse", "--collective", "all_reduce", "-b", "1K", "-e", "4K", "-f", "2",
	"--budget", "50ms", "-w", "1"}

// Each rank has its own simulated GPU under srun, with Slurm's bindings.
func TestGPUsUnderSrun(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	restart(t, "TASK=affinity", "CPUS="+strconv.Itoa(min(4, runtime.NumCPU())))
	for name, options := range map[string][]string{
		"closest":  {"--gpus-per-node=4", "--gpu-bind=closest"},
		"single":   {"--gpus-per-node=4", "--gpu-bind=single:1"},
		"per task": {"--gpus-per-task=1"},
	} {
		t.Run(name, func(t *testing.T) {
			onCluster(t)
			awaitIdle(t)
			out := filepath.Join(home, "results", "gpus "+name)
			words := append([]string{"srun", jobLimit, "--ntasks=4", "--nodes=2", "--kill-on-bad-exit=1"}, options...)
			output(t)(asUser(nil, append(append(words, "bin/rank", "--quiet", "--out", out),
				gpus...)...))
			checkGPUs(t, (&job{t: t, out: out}).runs(), 4, 2)
		})
	}
}

// srun without PMI starts ranks that meet over TCP.
func TestSrunWithoutPMI(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	awaitIdle(t)
	out := filepath.Join(home, "results", "tcp")
	words := []string{"srun", jobLimit, "--ntasks=4", "--nodes=2", "--mpi=none", "--kill-on-bad-exit=1", "bin/rank",
		"--quiet", "--allow-shared-gpu", "--out", out}
	output(t)(asUser(nil, append(words, gpus...)...))
	runs := (&job{t: t, out: out}).runs()
	if len(runs) != 1 || runs[0].Run.World != 4 || runs[0].Run.Nodes != 2 || runs[0].End == nil {
		t.Fatalf("%d files: %+v", len(runs), runs)
	}
}

// restart replaces the cluster by one with other settings until the end of the test.
func restart(t *testing.T, settings ...string) {
	t.Helper()
	replace := func(settings ...string) {
		must.NoError(t, start(settings...))
	}
	replace(settings...)
	t.Cleanup(func() { replace("TASK=none") })
}

func checkGPUs(t *testing.T, runs []*result.File, world, nodes int) {
	t.Helper()
	if len(runs) != 1 || !runs[0].Run.Rehearse || runs[0].Run.World != world || runs[0].Run.Nodes != nodes {
		t.Fatalf("%d files: %+v", len(runs), runs)
	}
	seen := map[string]bool{}
	for _, r := range runs[0].Ranks {
		if gpu := r.Host + " " + r.PCI; r.PCI == "" || seen[gpu] {
			t.Errorf("rank %d shares GPU %q", r.Rank, gpu)
		} else {
			seen[gpu] = true
		}
	}
	for _, r := range runs[0].Records {
		if r.Status != result.OK {
			t.Errorf("%v: %s", r.Case, r.Status)
		}
	}
}

// The sweep starts one rank per GPU of the job, for all ways to request GPUs, and every rank sees all GPUs of its node.
func TestSweepOnGPUs(t *testing.T) {
	needs.TestAll(t)
	for _, c := range []struct {
		name    string
		options []string
		world   int
	}{
		{"per node", []string{"--gpus-per-node=2", "--cpus-per-gpu=1"}, 4},
		{"per task", []string{"--ntasks-per-node=2", "--gpus-per-task=1"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := submitWith(t, 2, nil, c.options, gpus...)
			j.ended("COMPLETED", 0, 0)
			runs := j.runs()
			checkGPUs(t, runs, c.world, 2)
			test.EqOp(t, "0,1", runs[0].Run.Environment["CUDA_VISIBLE_DEVICES"])
			_, err := os.Stat(filepath.Join(j.out, "plots"))
			test.NoError(t, err)
		})
	}
}
