package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
)

// Worlds of six ranks follow the GPUs there are: those with a GPU for each rank are measured, larger ones are left out
// and said; where there are none, auto takes MPI and says so, and who asked for NCCL is refused.
func TestWorldsFollowTheGPUs(t *testing.T) {
	t.Parallel()
	worlds := []int{2, 4, 6}
	for _, k := range []struct{ gpus, largest int }{{0, 0}, {1, 0}, {2, 2}, {3, 2}, {4, 4}, {5, 4}, {6, 6}, {8, 6}} {
		for _, name := range []string{"auto", "nccl"} {
			t.Run(fmt.Sprintf("%d GPUs, %s", k.gpus, name), func(t *testing.T) {
				parallel(t)
				out := t.TempDir()
				o := rankRun{mpirun: openMPI, np: 6, env: []string{fmt.Sprintf("BUSBAR_REHEARSAL_GPUS=%d", k.gpus)},
					args: []string{"--rehearse", "--backend", name, "--worlds", "2,4,6", "--collective", "all_reduce",
						"-b", "8", "-e", "16", "-n", "5", "--out", out}}.run(t)
				if k.largest == 0 && name == "nccl" {
					want := map[int]string{0: "CUDA_ERROR_NO_DEVICE", 1: "share one GPU"}[k.gpus]
					if o.code != exit.Environment || !strings.Contains(o.stderr, want) ||
						k.gpus > 0 && !strings.Contains(o.stderr, "--allow-shared-gpu") {
						t.Errorf("want exit code %d and %q: %s", exit.Environment, want, o)
					}
					return
				}
				library, largest := backend.Simulation, k.largest
				if largest == 0 {
					library, largest = "mpi", 6
					if !strings.Contains(o.stderr, "rank: measuring MPI, not NCCL: ") {
						t.Errorf("that MPI is measured is not said: %s", o)
					}
				}
				if o.code != exit.OK {
					t.Fatal(o)
				}
				lacks := fmt.Sprintf("GPUs: the first %d ranks have one each, rank %d on %s has none of its own",
					k.gpus, k.gpus, hostName())
				for _, n := range worlds {
					f := fileOfWorld(t, out, library, n)
					want := result.OK
					if n > largest {
						want = result.Skipped
					}
					checkWhole(t, f, want)
					if want == result.Skipped && (!strings.Contains(f.Records[0].Reason, lacks) || len(f.Ranks) > 0) {
						t.Errorf("world %d has %d ranks and the reason %q, wanted %q", n, len(f.Ranks),
							f.Records[0].Reason, lacks)
					}
					if noted := strings.Contains(strings.Join(f.Run.Backend.Notes, "\n"),
						"worlds adjusted to the GPUs: "); noted != (largest < 6) {
						t.Errorf("the notes of world %d: %q", n, f.Run.Backend.Notes)
					}
				}
				said := strings.Join(strings.Fields(strings.ReplaceAll(o.stdout, "\n#", " ")), " ")
				if largest < 6 && (!strings.Contains(said, "worlds adjusted to the GPUs: 2") ||
					!strings.Contains(said, "world 6: skipped: it needs 6 "+lacks)) {
					t.Errorf("what was left out is not said: %s", o)
				}
			})
		}
	}
}

// With two backends each goes as far as it can; what is rehearsed is marked, and what is measured beside it is not.
func TestEachBackendHasItsWorlds(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 3, env: []string{"BUSBAR_REHEARSAL_GPUS=2"},
		args: []string{"--rehearse", "--backend", "mpi,nccl", "--worlds", "2,3",
			"--collective", "all_reduce", "-b", "8", "-e", "16", "-n", "5", "--out", out}}.mustRun(t)
	for _, k := range []struct {
		backend string
		world   int
		want    result.Status
	}{{"mpi", 2, result.OK}, {"mpi", 3, result.OK}, {backend.Simulation, 2, result.OK},
		{backend.Simulation, 3, result.Skipped}} {
		f := fileOfWorld(t, out, k.backend, k.world)
		checkWhole(t, f, k.want)
		if f.Run.Rehearse != (k.backend == backend.Simulation) {
			t.Errorf("%s says that it is rehearsed: %t", f.Path, f.Run.Rehearse)
		}
	}
}

// A rank outside of all worlds needs no GPU, no driver and no NCCL.
func TestARankWithoutAGPUIsLeftOut(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	blind := fmt.Sprintf(`if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then export CUDA_VISIBLE_DEVICES=; fi; exec %s "$@"`,
		compiled(t).rank)
	r := rankRun{mpirun: openMPI, np: 3, program: "sh",
		args: []string{"-c", blind, "sh", "--rehearse", "--backend", "nccl", "--worlds", "2,3",
			"--collective", "all_reduce", "-b", "8", "-e", "16", "-N", "0", "--time-limit", "60s", "--out",
			out}}.start(t)
	r.await("the first record", func() bool {
		paths, _ := filepath.Glob(filepath.Join(out, "profile_nccl-rehearsal_world2_*.txt"))
		return len(paths) == 1 && r.maps(0, "libnccl.so.2")
	})
	if r.maps(2, "libnccl.so.2") {
		t.Error("the rank without a GPU has NCCL loaded")
	}
	r.kill()
	out = t.TempDir()
	o := rankRun{mpirun: openMPI, np: 3, program: "sh",
		args: []string{"-c", blind, "sh", "--rehearse", "--backend", "nccl", "--worlds", "2,3",
			"--collective", "all_reduce", "-b", "8", "-e", "16", "-n", "5", "--out", out}}.mustRun(t)
	checkWhole(t, fileOfWorld(t, out, backend.Simulation, 2), result.OK)
	f := fileOfWorld(t, out, backend.Simulation, 3)
	checkWhole(t, f, result.Skipped)
	if want := "rank 2 on " + hostName() + " sees none ("; !strings.Contains(f.Records[0].Reason, want) {
		t.Errorf("%q is not the reason: %q\n%s", want, f.Records[0].Reason, o)
	}
}

// Who hangs in a sub-world is named, and not those who wait outside of it.
func TestHangInASubworld(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		worlds, fault string
		want          string
		outside       bool
	}{
		"the first": {"2", "hang@rank=1,size=4096,phase=measure",
			"rank: hang: rank 1 on " + hostName() + " is still at iteration", true},
		"init": {"2", "init-hang@rank=1", "the library on rank 0 says: init: waiting for rank 1", true},
		"the second": {"2,3", "hang@rank=2,size=4096,phase=measure",
			"rank: hang: rank 2 on " + hostName() + " is still at iteration", false},
	} {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			out := t.TempDir()
			o := rankRun{mpirun: openMPI, np: 3, env: []string{"BUSBAR_REHEARSAL_FAULT=" + k.fault},
				args: []string{"--rehearse", "--backend", "nccl", "--worlds", k.worlds,
					"--collective", "all_reduce", "-b", "4K", "-e", "4K", "-n", "10", "--deadline", "2s", "--out",
					out}}.run(t)
			if o.code != exit.Hang || !strings.Contains(o.stderr, k.want) ||
				strings.Contains(o.stderr, "rank 2 on "+hostName()+" is outside of the sub-world") != k.outside ||
				strings.Contains(o.stderr, "still in phase "+hang.WaitOutside) {
				t.Errorf("want exit code %d and %q: %s", exit.Hang, k.want, o)
			}
		})
	}
}

// To write down thousands of points that cannot be measured is no hang, however long the other ranks wait.
func TestSkippedWorldThatTakesLong(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2,
		args: []string{"--quiet", "--worlds", "8", "--collective", "all_reduce", "-b", "8", "-e", "128K", "-i", "8",
			"--deadline", hangDeadline, "--out", out}}.run(t)
	if o.code != exit.OK {
		t.Error(o)
	}
}

// fileOfWorld is the one file of a backend and a world.
func fileOfWorld(t *testing.T, out, backend string, world int) *result.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(out, fmt.Sprintf("profile_%s_world%d_*.jsonl", backend, world)))
	if err != nil || len(paths) != 1 {
		t.Fatalf("files of %s in a world of %d: %v %v", backend, world, paths, err)
	}
	f, err := result.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return f
}
