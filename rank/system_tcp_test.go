package main

import (
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"
)

// Every backend but MPI measures in a world that TCP connects.
func TestLaunchOverTCP(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"gloo":       {"--backend", "gloo", "--worlds", "2,3"},
		"simulation": simulated("--collective", "all", "--path"),
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
		args: []string{"--backend", "gloo", "-b", "8", "-e", "8"}}.measured(t)
	if f.Run.World != 1 || f.Records[0].Status != result.OK {
		t.Errorf("%+v", f.Run)
	}
}

func TestRefusedOverTCP(t *testing.T) {
	single := func(env ...string) rankRun {
		return rankRun{mpirun: alone, args: []string{"--backend", "gloo"}, env: env}
	}
	for name, k := range map[string]refusal{
		"half an environment": {launch: single("RANK=0", "MASTER_ADDR=127.0.0.1"), code: exit.Environment,
			words: []string{"WORLD_SIZE"}},
		"rank beyond the world": {launch: single("RANK=2", "WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1"),
			code: exit.Environment, words: []string{"world size 2"}},
		"unknown name": {launch: single("RANK=0", "WORLD_SIZE=2", "MASTER_ADDR=rank0.invalid", "BUSBAR_TIME_SCALE=0.1"),
			code: exit.Environment, words: []string{"MASTER_ADDR=rank0.invalid"}},
		"backend mpi": {launch: rankRun{mpirun: meet, np: 2, args: []string{"--backend", "mpi"}}, code: exit.Usage,
			words: []string{"--backend mpi requires MPI"}},
	} {
		t.Run(name, func(t *testing.T) {
			parallelOn(t, k.launch.mpirun)
			k.refused(t)
		})
	}
}
