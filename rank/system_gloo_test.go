package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// glooShim puts the shim of Gloo beside the programs under test; without Gloo's headers the test is skipped.
func glooShim(t *testing.T) {
	t.Helper()
	if out, err := buildGlooShim(compiled(t).lib); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(compiled(t).lib, "busbar-gloo.so")); err != nil {
		t.Skip("there is no Gloo here (make deps installs it)")
	}
}

var glooShimOnce sync.Once

func buildGlooShim(lib string) (out []byte, err error) {
	glooShimOnce.Do(func() {
		c := exec.Command("../scripts/gloo-shim.sh", "--if-there")
		c.Env = append(os.Environ(), "OUT="+lib)
		out, err = c.CombinedOutput()
	})
	return out, err
}

// The profile that torch's Gloo cannot do: it has a reduce_scatter too, and the file says whose.
func TestGlooMeasures(t *testing.T) {
	glooShim(t)
	for _, algorithm := range []string{"ring", "bcube"} {
		out := t.TempDir()
		launch{mpirun: openMPI, np: 3, args: []string{"--backend", "gloo", "--gloo-iface", "lo", "--gloo-algo", algorithm, "--collective", "all_reduce,all_gather,reduce_scatter",
			"--elements", "1K,5K", "--mode", "throughput,latency", "-n", "5", "-w", "1", "--out", out}}.mustRun(t)
		f := readOne(t, out)
		checkWhole(t, f, result.OK)
		checkEnd(t, f, result.Complete, 0)
		if !strings.Contains(filepath.Base(f.Path), "profile_gloo_world3_") || len(f.Records) != 12 {
			t.Errorf("%s has %d records", f.Path, len(f.Records))
		}
		b := f.Run.Backend
		if b.Name != "gloo" || !strings.HasPrefix(b.Library, "Gloo ") || !strings.Contains(b.Path, "libgloo") || b.BuildID == "" ||
			strings.Contains(b.Library, "bcube") != (algorithm == "bcube") {
			t.Errorf("backend %+v", b)
		}
		if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes, "lo, 127.0.0.1 (named); Gloo's thread of rank 0 on CPUs ") {
			t.Errorf("notes %q", notes)
		}
		for _, r := range f.Records {
			notes := strings.Join(r.Notes, "\n")
			want := map[coll.Collective]string{coll.AllReduce: algorithm, coll.ReduceScatter: "busbar's own ring"}[r.Collective]
			if !strings.Contains(notes, want) {
				t.Errorf("%s: notes %q, want %q", r.Case, notes, want)
			}
		}
	}
}

// With MPI beside it both are measured in turn.
func TestGlooAndMPIInterleaved(t *testing.T) {
	glooShim(t)
	out := t.TempDir()
	launch{mpirun: openMPI, np: 2, args: []string{"--backend", "mpi,gloo", "--collective", "all_reduce", "-b", "1K", "-e", "4K", "-f", "2", "-n", "5", "--out", out}}.mustRun(t)
	var names []string
	for _, f := range read(t, out) {
		checkWhole(t, f, result.OK)
		names = append(names, f.Run.Backend.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"gloo", "mpi"}) {
		t.Errorf("files of %q", names)
	}
}

func TestGlooRankHangs(t *testing.T) {
	glooShim(t)
	out := t.TempDir()
	r := launch{mpirun: openMPI, np: 3, args: endless(out, "--backend", "gloo", "--deadline", "5s")}.start(t)
	before := r.awaitPoints(out, 3)
	victim := r.pid(1)
	r.signal(1, syscall.SIGSTOP)
	o := r.wait()
	if who := fmt.Sprintf("rank 1 on %s (pid %d)", hostName(), victim); o.code != exitHang || !strings.Contains(o.stderr, who) {
		t.Errorf("want exit code %d and %q: %s", exitHang, who, o)
	}
	f := readOne(t, out)
	checkWhole(t, f, result.OK, result.Timeout)
	checkEnd(t, f, result.Aborted, exitHang)
	checkKept(t, f, before)
}

func TestGlooRankIsKilled(t *testing.T) {
	glooShim(t)
	out := t.TempDir()
	r := launch{mpirun: openMPI, np: 3, args: endless(out, "--backend", "gloo")}.start(t)
	before := r.awaitPoints(out, 3)
	victim := r.pid(2)
	r.signal(2, syscall.SIGKILL)
	o := r.wait()
	if o.code == 0 {
		t.Errorf("exit code 0 though a rank was killed\n%s", o)
	}
	f := readOne(t, out)
	checkEnd(t, f, result.Aborted, exitFailed)
	if who := fmt.Sprintf("rank 2 on %s (pid %d)", hostName(), victim); !strings.Contains(f.End.Reason, who) {
		t.Errorf("the end does not name %s: %s\n%s", who, f.End.Reason, o)
	}
	checkKept(t, f, before)
}

func TestGlooIsRefused(t *testing.T) {
	glooShim(t)
	out := filepath.Join(t.TempDir(), "results")
	refused(t, launch{mpirun: openMPI, np: 2, args: small(out, "--backend", "gloo", "--gloo-iface", "nowhere0")}, out, "there is no interface nowhere0", "it has lo")
	// Programs without the shim: what is beside the MPI's is missing.
	lone := t.TempDir()
	for _, f := range []string{"busbar-mpi-openmpi.so", "rank"} {
		from := filepath.Join(compiled(t).lib, f)
		if f == "rank" {
			from = compiled(t).rank
		}
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(lone, f), b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l := launch{mpirun: openMPI, np: 2, program: filepath.Join(lone, "rank"), env: []string{"BUSBAR_LIB="}, args: small(out, "--backend", "gloo")}
	refused(t, l, out, "busbar-gloo.so")
	for o, words := l.run(t), []string{"make gloo-shim", "apt-get install g++ libgloo-dev"}; len(words) > 0; words = words[1:] {
		if !strings.Contains(o.stderr, words[0]) {
			t.Errorf("no %q in %s", words[0], o)
		}
	}
}

func TestCrowded(t *testing.T) {
	rank := func(machine, cpus string) rankFacts {
		return rankFacts{Host: "host-" + machine, Machine: machine, CPUs: cpus}
	}
	for _, c := range []struct {
		ranks []rankFacts
		want  string
	}{
		{[]rankFacts{rank("a", "0-3"), rank("a", "0-3")}, ""},
		{[]rankFacts{rank("a", "0-1"), rank("a", "2-3")}, ""},
		{[]rankFacts{rank("a", "0"), rank("a", "1")}, "host-a has 2 CPUs for 2 ranks"},
		{[]rankFacts{rank("a", "0-7"), rank("b", "0")}, "host-b has 1 CPU for 1 rank"},
		{[]rankFacts{rank("a", "")}, ""},
	} {
		if got := strings.Join(crowded(c.ranks), ""); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.ranks, got, c.want)
		}
	}
}
