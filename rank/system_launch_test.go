package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/rank/exit"
)

// refused checks a launch that must end before anything is measured: exit code 2, one message with all the words.
func refused(t *testing.T, l rankRun, out string, words ...string) {
	t.Helper()
	l.env = append(slices.Clone(l.env), killAtOnce)
	o := l.run(t)
	said := o.messages()
	if o.code != exit.Environment || len(said) != 1 {
		t.Fatalf("want exit code %d and one message: %s", exit.Environment, o)
	}
	for _, w := range words {
		if !strings.Contains(said[0], w) {
			t.Errorf("no %q in %q", w, said[0])
		}
	}
	if o.stdout != "" {
		t.Errorf("stdout: %s", o.stdout)
	}
	checkNothing(t, out)
}

// The launcher of one MPI starts ranks that use the other: each is a world of its own.
func TestLauncherOfTheOtherMPI(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	for _, l := range []rankRun{
		{mpirun: mpich, np: 3, args: small(out, "--mpi", "openmpi")},
		{mpirun: openMPI, np: 3, args: small(out, "--mpi", "mpich")},
	} {
		refused(t, l, out, "started 3 ranks", "sees a world of 1", "--mpi")
	}
	// As it is under a launcher that cannot be had here.
	hydra := []string{"PMI_SIZE=13", "PMI_RANK=0", "MPI_LOCALNRANKS=13", "MPI_LOCALRANKID=0"}
	refused(t, rankRun{args: small(out), env: hydra}, out, "started 13 ranks", "sees a world of 1")
	srun := []string{"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_STEP_NUM_TASKS=7", "SLURM_JOB_ID=1"}
	refused(t, rankRun{args: small(out, "--mpi", "mpich"), env: srun}, out, "started 7 ranks", "sees a world of 1",
		"--mpi=pmi2")
}

// Ranks of different builds may mean different things by the same words.
func TestRanksOfDifferentBuilds(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "rank-other")
	if said, err := compileRank(other, "other").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, mpirun := range []string{openMPI, mpich} {
		t.Run(mpirun, func(t *testing.T) {
			parallelOn(t, mpirun)
			out := t.TempDir()
			second := append([]string{":", "-np", "2", other}, small(out)...)
			refused(t, rankRun{mpirun: mpirun, np: 1, args: small(out), more: second}, out,
				"different builds", "rank 0 on "+hostName(), "ranks 1 on "+hostName()+", 2 on "+hostName(),
				"copy one bin/rank")
		})
	}
}

func TestRanksOfDifferentCommandLines(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	second := append([]string{":", "-np", "1", compiled(t).rank}, small(out, "-c", "0")...)
	refused(t, rankRun{mpirun: openMPI, np: 1, args: small(out), more: second}, out, "different command lines",
		`"-c" "0"`, "same arguments")
}

// Without the shim of the launcher's MPI the message says how to build it.
func TestNoShim(t *testing.T) {
	parallel(t)
	alone := filepath.Join(t.TempDir(), "rank") // no lib beside it
	if err := os.Link(compiled(t).rank, alone); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for mpirun, words := range map[string][]string{
		openMPI: {"mpirun of Open MPI", "make mpi-shim MPICC=mpicc.openmpi"},
		mpich:   {"mpirun of MPICH", "make mpi-shim MPICC=mpicc.mpich"},
	} {
		o := rankRun{mpirun: mpirun, np: 2, program: alone, args: small(out), env: []string{"BUSBAR_LIB="}}.run(t)
		if o.code == 0 {
			t.Errorf("%s: %s", mpirun, o)
		}
		for _, w := range append(words, "busbar-mpi-"+strings.TrimPrefix(mpirun, "mpirun.")+".so") {
			if !strings.Contains(o.stderr, w) {
				t.Errorf("%s: no %q: %s", mpirun, w, o)
			}
		}
		checkNothing(t, out)
	}
}
