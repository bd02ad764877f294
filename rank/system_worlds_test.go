package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
)

// A hang in a sub-world names its ranks, not those outside.
func TestHangInASubworld(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]struct {
		worlds, fault string
		want          string
		outside       bool
	}{
		"the first": {"2", "hang@rank=1,size=4096,phase=measure",
			"rank: hang: rank 1 on " + hostName() + " is still at iteration", true},
		"init": {"2", "init-hang@rank=1", "the library on rank 0 reports: init: waiting for rank 1", true},
		"the second": {"2,3", "hang@rank=2,size=4096,phase=measure",
			"rank: hang: rank 2 on " + hostName() + " is still at iteration", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			o := rankRun{np: 3, env: []string{"BUSBAR_REHEARSAL_FAULT=" + k.fault},
				args: flags("--rehearse --backend nccl --worlds", k.worlds, "--collective all_reduce -b 4K -e 4K",
					"-n 10 --deadline 2s --out", out)}.run(t)
			if o.code != exit.Hang || !strings.Contains(o.stderr, k.want) ||
				strings.Contains(o.stderr, "rank 2 on "+hostName()+" is outside of the sub-world") != k.outside ||
				strings.Contains(o.stderr, "still in phase "+hang.WaitOutside) {
				t.Errorf("want exit code %d and %q: %s", exit.Hang, k.want, o)
			}
		})
	}
}

// Each library is measured in the worlds that fit its launch and its GPUs; the screen names the others. Only simulated
// results are marked.
func TestWorlds(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		gpus     int
		backends string
		want     []string // backend and world of each file
		shown    string
	}{
		{0, "auto", []string{"mpi 2", "mpi 4"}, "world 6 skipped: "},
		{2, "auto", []string{"nccl-rehearsal 2"}, "world 4 skipped: needs 4 GPUs"},
		{3, "mpi,nccl", []string{"mpi 2", "mpi 4", "nccl-rehearsal 2"},
			"nccl-rehearsal: world 4 skipped: needs 4 GPUs"},
	} {
		out := t.TempDir()
		o := rankRun{np: 4, env: []string{fmt.Sprint("BUSBAR_REHEARSAL_GPUS=", k.gpus)},
			args: small(out, "--simulate --backend", k.backends, "--worlds 2,4,6")}.mustRun(t)
		var got []string
		files := read(t, out)
		for _, f := range files {
			checkWhole(t, f, result.OK)
			got = append(got, fmt.Sprint(f.Run.Backend.Name, " ", f.Run.World))
			if len(f.Ranks) != f.Run.World || f.Run.Rehearse != (f.Run.Backend.Name == backend.Simulation) ||
				f.Run.Launch != files[0].Run.Launch || f.Run.Campaign != files[0].Run.Campaign {
				t.Errorf("%s: %+v", f.Path, f.Run)
			}
		}
		if slices.Sort(got); !slices.Equal(got, k.want) {
			t.Errorf("%d GPUs: %q, want %q", k.gpus, got, k.want)
		}
		has(t, strings.ReplaceAll(o.stdout, "\n# ", " "), k.shown)
	}
}

// A rank outside all worlds needs no GPU, driver or NCCL.
func TestRankWithoutGPU(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	blind := fmt.Sprintf(`if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then export CUDA_VISIBLE_DEVICES=; fi; exec %s "$@"`,
		compiled(t).rank)
	r := rankRun{np: 3, program: "sh",
		args: append([]string{"-c", blind, "sh"}, simulated(endless(out, "--worlds 2,3")...)...)}.start(t)
	r.awaitPoints(out, 1)
	if !r.maps(0, "libnccl.so.2") || r.maps(2, "libnccl.so.2") {
		t.Error("the rank without a GPU has NCCL loaded, or the others have not")
	}
	r.kill()
}
