package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/ranges"
	"busbar/internal/result"
	"busbar/rank/machine"
)

// glooShim skips a test where Gloo's headers are missing, so that make build made no shim.
func glooShim(t *testing.T) {
	t.Helper()
	needs.File(t, filepath.Join(compiled(t).lib, "busbar-gloo.so"),
		"make build makes it where Gloo's headers are (make deps installs them)")
}

// The profile that torch's Gloo cannot do: it has a reduce_scatter too, and the file says whose.
func TestGlooMeasures(t *testing.T) {
	parallel(t)
	glooShim(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 3, args: []string{"--backend", "gloo", "--gloo-iface", "lo", "--collective",
		"all_reduce,all_gather,reduce_scatter", "--elements", "1K,5K", "--mode", "throughput,latency", "-n", "5", "-w",
		"1", "--out", out}}.mustRun(t)
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	checkEnd(t, f, result.Complete, 0)
	if !strings.Contains(filepath.Base(f.Path), "profile_gloo_world3_") || len(f.Records) != 12 {
		t.Errorf("%s has %d records", f.Path, len(f.Records))
	}
	b := f.Run.Backend
	if b.Name != "gloo" || !strings.HasPrefix(b.Library, "Gloo ") || !strings.Contains(b.Path, "libgloo") ||
		b.BuildID == "" {
		t.Errorf("backend %+v", b)
	}
	if notes := strings.Join(b.Notes, "\n"); !strings.Contains(notes,
		"lo, 127.0.0.1 (named); Gloo's thread of rank 0 on CPUs ") {
		t.Errorf("notes %q", notes)
	}
	for _, r := range f.Records {
		notes := strings.Join(r.Notes, "\n")
		want := map[coll.Collective]string{coll.AllReduce: "ring",
			coll.ReduceScatter: "busbar's own ring"}[r.Collective]
		if !strings.Contains(notes, want) {
			t.Errorf("%s: notes %q, want %q", r.Case, notes, want)
		}
	}
}

// The thread of a rank that is bound to one CPU runs on all that the system grants, and the file records them.
func TestGlooThreadIsPlaced(t *testing.T) {
	glooShim(t)
	granted := machine.GrantedCPUs()
	if len(granted) < 2 {
		t.Skip("a thread on one CPU has no choice")
	}
	out := t.TempDir()
	rankRun{mpirun: alone, program: "taskset", args: append([]string{"-c", fmt.Sprint(granted[0]), compiled(t).rank},
		small(out, "--backend", "gloo")...)}.mustRun(t)
	if notes := strings.Join(readOne(t, out).Run.Backend.Notes, "\n"); !strings.Contains(notes,
		"Gloo's thread of rank 0 on CPUs "+ranges.Format(granted)) {
		t.Errorf("notes %q", notes)
	}
}

// With MPI beside it both are measured in turn.
func TestGlooAndMPIInterleaved(t *testing.T) {
	parallel(t)
	glooShim(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: []string{"--backend", "mpi,gloo", "--collective", "all_reduce", "-b", "1K",
		"-e", "4K", "-f", "2", "-n", "5", "--out", out}}.mustRun(t)
	var names []string
	for _, f := range read(t, out) {
		checkWhole(t, f, result.OK)
		names = append(names, f.Run.Backend.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"gloo", "mpi"}) {
		t.Errorf("files of %q", names)
	}
}

func TestGlooIsRefused(t *testing.T) {
	parallel(t)
	glooShim(t)
	out := filepath.Join(t.TempDir(), "results")
	refused(t, rankRun{mpirun: openMPI, np: 2, args: small(out, "--backend", "gloo", "--gloo-iface", "nowhere0")}, out,
		"there is no interface nowhere0", "it has lo")
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
	l := rankRun{mpirun: openMPI, np: 2, program: filepath.Join(lone, "rank"), env: []string{"BUSBAR_LIB="},
		args: small(out, "--backend", "gloo")}
	refused(t, l, out, "busbar-gloo.so")
	for o, words := l.run(t), []string{"make gloo-shim",
		"apt-get install g++ libgloo-dev"}; len(words) > 0; words = words[1:] {
		if !strings.Contains(o.stderr, words[0]) {
			t.Errorf("no %q in %s", words[0], o)
		}
	}
}
