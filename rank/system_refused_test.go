package main

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/needs"
	"busbar/rank/exit"

	"github.com/shoenig/test/must"
)

// refusal is a launch that ends before it measures.
type refusal struct {
	launch rankRun
	each   int    // ranks per node; 0: all on this host
	lacks  string // functions that NCCL lacks
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
	if k.lacks != "" {
		args = append(args, "--nccl", lacking(t, k.lacks))
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
	return append(flags("--simulate --backend nccl"), flags(args...)...)
}

// lacking builds a simulation of NCCL without some of its functions.
func lacking(t *testing.T, symbols string) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.Command("../scripts/rehearsal.sh")
	c.Env = append(os.Environ(), "OUT="+dir, "CFLAGS=-O0", "WITHOUT="+symbols)
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

//go:embed testdata/refused.txt
var refusals string

// A failing launch prints one message and writes nothing. One rank reports command lines and sweeps; rank 0 reports
// environments, libraries and launches.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"file": "",
		"key.yaml": "collectives: [all_reduce]\nsizes:\n  begin: 8\n  edn: 9\n"} {
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	odd := `if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then export BUSBAR_REHEARSAL_VERSION=22105; fi; exec "$0" "$@"`
	versions := rankRun{program: "sh", args: append([]string{"-c", odd, compiled(t).rank}, simulated()...)}
	gemm := flags("--step uniform:4x4K --simulate --compute-kernel gemm")
	windows := append(gemm[:3:3], "--register", "window")
	all := map[string]refusal{
		"command lines differ": {launch: rankRun{np: 1, more: flags(": -np 1", compiled(t).rank, "-c 0")},
			code: exit.Environment, words: []string{`"-c" "0"`}},
		"versions differ": {launch: versions, code: exit.Environment, words: []string{"rank 1 on", "2.21.5",
			"2.27.7"}},
		"no cuBLAS": {launch: rankRun{args: gemm, env: withoutCublas(t)}, code: exit.Environment,
			words: []string{"libcublas.so.12: "}},
		"FMA kernels beside windows": {launch: rankRun{args: windows, env: withoutCublas(t)}, code: exit.Environment,
			words: []string{"--register window", "libcublas.so.12: "}},
	}
	values := map[string]string{"dir": dir, "host": hostName()}
	for _, k := range golden.Table[struct {
		Name, Args, Mpirun, Lacks string
		Code, NP, Each            int
		Words, Env                []string
	}](t, os.Expand(refusals, func(name string) string { return values[name] })) {
		all[k.Name] = refusal{rankRun{mpirun: k.Mpirun, np: k.NP, args: strings.Fields(k.Args), env: k.Env}, k.Each,
			k.Lacks, k.Code, k.Words}
	}
	for name, k := range all {
		t.Run(name, func(t *testing.T) {
			parallelOn(t, k.launch.mpirun)
			k.refused(t)
		})
	}
}

func TestGlooMissingInterface(t *testing.T) {
	glooShim(t)
	refusal{launch: rankRun{args: flags("--backend gloo --gloo-iface nowhere0")}, code: exit.Environment,
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
	o = rankRun{program: lone, args: small(out, "--backend gloo"), env: []string{"BUSBAR_LIB="}}.run(t)
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
			o := rankRun{mpirun: mpirun, args: flags(args), env: []string{"BUSBAR_LIB=/nonexistent"},
				dir: dir}.mustRun(t)
			if strings.Count(o.stdout, want) != 1 || o.stderr != "" {
				t.Errorf("rank %s: want %q once: %s", args, want, o)
			}
			checkNothing(t, dir)
		}
	}
}
