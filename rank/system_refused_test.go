package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"
	"busbar/rank/exit"

	"github.com/shoenig/test/must"
)

// refusal is a launch that ends before it measures.
type refusal struct {
	launch rankRun
	each   int      // ranks per node; 0: all on this host
	lacks  []string // functions that NCCL lacks
	code   int
	words  []string
}

// refused checks that a launch ends with its exit code and one message with all the words, and writes nothing.
func (k refusal) refused(t *testing.T) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "results")
	l := k.launch
	args := append([]string{"--out", out}, l.args...)
	if l.program == "sh" { // passes its arguments to rank
		args = append(l.args, "--out", out)
	}
	if k.lacks != nil {
		args = append(args, "--nccl", lacking(t, k.lacks...))
	}
	env := append(l.env, killAtOnce)
	if l.args = args; l.more != nil {
		l.more = append(l.more, args...)
	}
	if k.each > 0 {
		l = onNodes(t, l.np, k.each, args...)
	}
	l.env = append(l.env, env...)
	o := l.run(t)
	messages := o.messages()
	if o.code != k.code || len(messages) != 1 || o.stdout != "" {
		t.Fatalf("want exit code %d and one message: %s", k.code, o)
	}
	has(t, o.stderr, k.words...)
	checkNothing(t, out)
}

// simulated returns the flags of a run with simulated CUDA and NCCL.
func simulated(args ...string) []string {
	return append([]string{"--simulate", "--backend", "nccl"}, args...)
}

// lacking builds a simulation of NCCL without some of its functions.
func lacking(t *testing.T, symbols ...string) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("../scripts/rehearsal.sh")
	c.Env = append(os.Environ(), "OUT="+dir, "CFLAGS=-O0", "WITHOUT="+strings.Join(symbols, " "))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "libnccl.so.2")
}

// withoutCublas returns the environment of a simulation without cuBLAS.
func withoutCublas(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	from := filepath.Join(compiled(t).lib, "rehearsal")
	must.NoError(t, os.CopyFS(filepath.Join(dir, "rehearsal"), os.DirFS(from)))
	must.NoError(t, os.Remove(filepath.Join(dir, "rehearsal", "libcublas.so.12")))
	return []string{"BUSBAR_LIB=" + dir + ":" + compiled(t).lib}
}

// A failing launch prints one message and writes nothing. One rank reports command lines and sweeps; rank 0 reports
// environments, libraries and launches.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sweep, file := filepath.Join(dir, "key.yaml"), filepath.Join(dir, "file")
	for path, text := range map[string]string{file: "",
		sweep: "collectives: [all_reduce]\nsizes:\n  begin: 8\n  edn: 9\n"} {
		must.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	args := func(line string, env ...string) rankRun { return rankRun{args: strings.Fields(line), env: env} }
	gpus := func(line string, env ...string) rankRun {
		return rankRun{np: 3, args: simulated(strings.Fields(line)...), env: env}
	}
	single := func(env ...string) rankRun { return rankRun{mpirun: alone, args: []string{"--mpi", "mpich"}, env: env} }
	odd := `if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then export BUSBAR_REHEARSAL_VERSION=22105; fi; exec "$0" "$@"`
	versions := rankRun{program: "sh", args: append([]string{"-c", odd, compiled(t).rank}, simulated()...)}
	steps := func(kernel string) rankRun {
		return args("--step uniform:4x4K --simulate "+kernel, withoutCublas(t)...)
	}
	for name, k := range map[string]refusal{
		"flag": {launch: args("--minbyte 8"), code: exit.Usage, words: []string{"--minbytes"}},
		"sweep file": {launch: args("--sweep " + sweep), code: exit.Usage, words: []string{sweep + ":4:3:",
			"edn", "end"}},
		"sweep": {launch: args("--sweep profil"), code: exit.Usage, words: []string{"profile"}},
		"root":  {launch: args("--collective broadcast -r 7"), code: exit.Usage, words: []string{"7"}},
		"groups": {launch: rankRun{np: 3, args: []string{"--groups", "2"}}, code: exit.Usage, words: []string{
			"2 groups", "world of 3 ranks", "--groups"}},
		"groups of one rank": {launch: args("--groups 2"), code: exit.Usage, words: []string{"1 rank each"}},
		"layout of groups":   {launch: args("--groups 2:both"), code: exit.Usage, words: []string{`"both"`, "strided"}},
		"groups of a world of 1": {launch: rankRun{mpirun: alone, args: []string{"--groups", "2"}}, code: exit.Usage,
			words: []string{"world of 1 rank"}},
		"model": {launch: args("--step resnet5"), code: exit.Usage, words: []string{`"resnet50"`}},
		"graph of MPI": {launch: args("--backend mpi -G 1 -b 8"), code: exit.Usage,
			words: []string{"--cudagraph"}},
		"latency of a graph": {launch: args("--simulate -G 1 --mode latency"), code: exit.Usage, words: []string{"-G"}},

		"one node": {launch: rankRun{np: 2, args: []string{"--pattern", "pairs"}}, each: 2, code: exit.Usage},
		"rails of one node": {launch: rankRun{np: 2, args: []string{"--pattern", "rails"}}, each: 2, code: exit.Usage,
			words: []string{"on one"}},
		"a GPU per node": {launch: rankRun{np: 2, args: []string{"--pattern", "gpus"}}, each: 1, code: exit.Usage,
			words: []string{"--pattern pairs"}},
		"uneven rails": {launch: rankRun{np: 3, args: []string{"--pattern", "rails"}}, each: 2, code: exit.Usage,
			words: []string{"node1 has 2 ranks, node2 has 1"}},
		"three halves": {launch: rankRun{np: 3, args: []string{"--pattern", "halves"}}, each: 1, code: exit.Usage},
		"uneven nodes": {launch: rankRun{np: 3, args: []string{"--pattern", "pairs"}}, each: 2, code: exit.Usage,
			words: []string{"node1 has 2 ranks, node2 has 1"}},
		"worlds of a sweep": {launch: rankRun{np: 2, args: []string{"--pattern", "pairs", "--sweep", "sizes"}}, each: 1,
			code: exit.Usage, words: []string{"sizes"}},

		"Open MPI under MPICH": {launch: rankRun{mpirun: mpich, np: 3, args: []string{"--mpi", "openmpi"}},
			code: exit.Environment, words: []string{"started 3 ranks", "sees a world of 1"}},
		"MPICH under Open MPI": {launch: rankRun{np: 3, args: []string{"--mpi", "mpich"}}, code: exit.Environment,
			words: []string{"started 3 ranks", "sees a world of 1", "--mpi"}},
		"MPI under Slurm": {launch: single("SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_LOCALID=0",
			"SLURM_STEP_NUM_TASKS=7", "SLURM_JOB_ID=1"), code: exit.Environment,
			words: []string{"started 7 ranks", "--mpi=pmi2"}},
		"command lines differ": {launch: rankRun{np: 1, more: []string{":", "-np", "1", compiled(t).rank, "-c", "0"}},
			code: exit.Environment, words: []string{`"-c" "0"`}},
		"no folder": {launch: args("--out " + file), code: exit.Environment, words: []string{file, "--out"}},
		"steps without a folder": {launch: args("--step uniform:4x4K --out " + file), code: exit.Environment,
			words: []string{file}},

		"no driver": {launch: gpus("--cuda /nowhere/libcuda.so.1"), code: exit.Environment,
			words: []string{"/nowhere"}},
		"no library": {launch: gpus("--nccl /nowhere"), code: exit.Environment, words: []string{"/nowhere",
			"--nccl PATH"}},
		"no function": {launch: gpus(""), lacks: []string{"ncclCommInitRank"}, code: exit.Environment,
			words: []string{"ncclCommInitRank"}},
		"no ncclMemAlloc": {launch: gpus("--alloc nccl"), lacks: []string{"ncclMemAlloc"}, code: exit.Environment,
			words: []string{"ncclMemAlloc"}},
		"versions differ": {launch: versions, code: exit.Environment, words: []string{"rank 1 on", "2.21.5", "2.27.7"}},
		"no GPU": {launch: gpus("", "CUDA_VISIBLE_DEVICES="), code: exit.Environment,
			words: []string{"CUDA_ERROR_NO_DEVICE"}},
		"shared GPU": {launch: gpus("", "CUDA_VISIBLE_DEVICES=0"), code: exit.Environment,
			words: []string{"ranks 0, 1, 2 on", "--allow-shared-gpu"}},
		"slices of a GPU": {launch: gpus("", "BUSBAR_REHEARSAL_SLICES=4", "BUSBAR_REHEARSAL_GPUS=4",
			"BUSBAR_REHEARSAL_VERSION=22907"), code: exit.Environment, words: []string{"MIG-", "--allow-shared-gpu"}},
		"another GPU": {launch: gpus("", "BUSBAR_REHEARSAL_FAULT=other-gpu@rank=1", "BUSBAR_REHEARSAL_GPUS=4"),
			code: exit.Environment, words: []string{"rank 1 on " + hostName(), "uses GPU 2", "uses GPU 1"}},
		"no world fits": {launch: args("--worlds 4,8"), code: exit.Environment,
			words: []string{"no world of the plan fits"}},
		"profiler plugin of the user": {launch: gpus("--path", "NCCL_PROFILER_PLUGIN=/opt/theirs.so"),
			code: exit.Environment, words: []string{"/opt/theirs.so"}},
		"no cuBLAS": {launch: steps("--compute-kernel gemm"), code: exit.Environment,
			words: []string{"libcublas.so.12: "}},
		"FMA kernels beside windows": {launch: steps("--register window"), code: exit.Environment,
			words: []string{"--register window", "libcublas.so.12: "}},
	} {
		t.Run(name, func(t *testing.T) {
			parallelOn(t, k.launch.mpirun)
			k.refused(t)
		})
	}
}

func TestGlooMissingInterface(t *testing.T) {
	glooShim(t)
	refusal{launch: rankRun{args: []string{"--backend", "gloo", "--gloo-iface", "nowhere0"}}, code: exit.Environment,
		words: []string{"nowhere0", "lo"}}.refused(t)
}

// Ranks of different builds may interpret a message differently.
func TestRanksOfDifferentBuilds(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "rank-other")
	c := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.version=other", "-o", other, ".")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	refusal{launch: rankRun{np: 1, more: []string{":", "-np", "2", other}}, code: exit.Environment,
		words: []string{"different builds", "rank 0 on " + hostName()}}.refused(t)
}

// Without the program's shims, the message names the command that builds them.
func TestNoShim(t *testing.T) {
	t.Parallel()
	needs.File(t, filepath.Join(compiled(t).lib, "busbar-gloo.so"), "make build")
	lone := filepath.Join(t.TempDir(), "rank") // no lib beside it
	must.NoError(t, os.Link(compiled(t).rank, lone))
	out := t.TempDir()
	o := rankRun{program: lone, args: small(out), env: []string{"BUSBAR_LIB="}}.run(t)
	if o.code == 0 {
		t.Error(o)
	}
	has(t, o.stderr, "busbar-mpi-openmpi.so", "make mpi-shim MPICC=mpicc.openmpi")
	checkNothing(t, out)
	mpi := filepath.Join(filepath.Dir(lone), "busbar-mpi-openmpi.so")
	must.NoError(t, os.Link(filepath.Join(compiled(t).lib, "busbar-mpi-openmpi.so"), mpi))
	o = rankRun{program: lone, args: small(out, "--backend", "gloo"), env: []string{"BUSBAR_LIB="}}.run(t)
	if o.code != exit.Environment {
		t.Error(o)
	}
	has(t, o.stderr, "busbar-gloo.so", "make gloo-shim")
}

// --help, --version and --list print once, need no MPI, and write nothing.
func TestNothingToMeasure(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--help": "Exit codes", "-h": "Examples", "--step --help": "--bucket",
		"--version": "rank of busbar ", "--list --sweep baseline": "8589934592",
		"--list --step resnet50": "resnet50: 25.56 M parameters in 161 layers",
	} {
		for _, mpirun := range []string{openMPI, alone} {
			dir := t.TempDir()
			o := rankRun{mpirun: mpirun, args: strings.Fields(args), env: []string{"BUSBAR_LIB=/nonexistent"},
				dir: dir}.mustRun(t)
			if strings.Count(o.stdout, want) != 1 || o.stderr != "" {
				t.Errorf("rank %s: want %q once: %s", args, want, o)
			}
			checkNothing(t, dir)
		}
	}
}
