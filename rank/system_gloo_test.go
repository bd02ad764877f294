package main

import (
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/needs"
	"busbar/internal/result"
)

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
	f, _ := rankRun{np: 3, args: []string{"--backend", "gloo", "--gloo-iface", "lo", "--collective",
		"all_reduce,reduce_scatter", "--elements", "1K,5K", "--mode", "both", "-n", "5"}}.measured(t)
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
