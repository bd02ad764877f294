package plot

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// measuredBy is all_reduce of one backend in some worlds.
func measuredBy(backend string, rehearsed bool, worlds ...int) (points []Point) {
	for _, w := range worlds {
		f := fake{backend: backend, library: backend + " 1", world: w, rehearsed: rehearsed, edit: func(r *result.Run) {
			if w > 4 {
				r.Warnings = notice.Of(notice.FromText("oversubscribed: too few cores"))
			}
		}}
		points = append(points, f.sweep(64<<20, []coll.Collective{coll.AllReduce, coll.AllGather},
			[]coll.Mode{coll.Throughput, coll.Latency}, coll.OutOfPlace)...)
	}
	return points
}

func TestComparison(t *testing.T) {
	figs, passed := Comparison(append(measuredBy("gloo", false, 2, 4, 6), measuredBy("nccl-rehearsal", true, 2, 4)...),
		100<<20)
	want := []string{
		"allreduce_time_vs_datasize",
		"allreduce_bandwidth_vs_datasize",
		"allreduce_backend_comparison_100mb",
	}
	if got := names(figs); !slices.Equal(got, want) || passed != nil {
		t.Fatalf("%v, passed %v", got, passed)
	}
	for _, f := range figs {
		if caption := strings.Join(f.Caption, " "); !f.Rehearsed ||
			!strings.Contains(caption, "oversubscribed") {
			t.Errorf("%s: rehearsed %v, %s", f.Name, f.Rehearsed, caption)
		}
		var b bytes.Buffer
		if err := f.WriteSVG(&b); err != nil || b.Len() < 1000 {
			t.Errorf("%s: %d bytes, %v", f.Name, b.Len(), err)
		}
	}
	over := figs[0].Curves
	if len(over) != 5 {
		t.Fatalf("%d curves", len(over))
	}
	if got, want := over[4].Label, "nccl-rehearsal 4 ranks"; got != want {
		t.Errorf("the last curve is %q, want %q", got, want)
	}
	side := figs[2]
	if len(side.Curves) != 2 || len(side.Curves[0].Points) != 3 || len(side.Curves[1].Points) != 2 ||
		side.Curves[1].Points[1].X != 4 {
		t.Errorf("side by side: %+v", side.Curves)
	}
	if side.Title != "all_reduce of 64 MiB: backends side by side" || !strings.HasPrefix(side.Caption[0], "Shaded") ||
		!strings.Contains(strings.Join(side.Caption, " "), "64 MiB is the size measured that is nearest to 100 MiB.") {
		t.Errorf("%q, %v", side.Title, side.Caption)
	}
}

// Too many curves for one picture are split by the world.
func TestComparisonOfManyWorlds(t *testing.T) {
	points := append(measuredBy("gloo", false, 2, 4, 6, 8, 16), measuredBy("mpi", false, 2, 4, 6, 8, 16)...)
	figs, _ := Comparison(points, 1<<20)
	if len(figs) != 11 || len(figs[0].Curves) != 2 || figs[0].Name != "allreduce_time_vs_datasize_2-ranks" {
		t.Errorf("%v", names(figs))
	}
	if last := figs[10]; len(last.Curves[0].Points) != 5 {
		t.Errorf("%s has %d worlds", last.Name, len(last.Curves[0].Points))
	}
}

// A backend that was not measured at the one size is named, not just missing.
func TestSideBySideNamesWhoIsMissing(t *testing.T) {
	small := fake{
		backend: "nccl",
		library: "NCCL 2",
		world:   2,
	}.sweep(
		1<<20,
		[]coll.Collective{coll.AllReduce},
		both[:1],
		coll.OutOfPlace,
	)
	figs, passed := Comparison(append(measuredBy("gloo", false, 2, 4), small...), 64<<20)
	if len(figs[2].Curves) != 1 || len(passed) != 1 || !strings.Contains(passed[0], "nccl") {
		t.Errorf("%d curves, %q", len(figs[2].Curves), passed)
	}
}

// A curve over worlds has each world once.
func TestSideBySideOfSeveralLayouts(t *testing.T) {
	spread := fake{backend: "gloo", library: "gloo 1", world: 4, launch: 1, edit: func(r *result.Run) {
		r.Nodes, r.RanksPerNode = 2, 2
	}}
	points := append(measuredBy("gloo", false, 2, 4), spread.sweep(64<<20, []coll.Collective{coll.AllReduce}, both[:1],
		coll.OutOfPlace)...)
	figs, _ := Comparison(points, 64<<20)
	side := figs[2]
	if len(side.Curves) != 1 || len(side.Curves[0].Points) != 2 || !slices.Contains(side.Caption, fewestNodes) {
		t.Errorf("%+v, %q", side.Curves, side.Caption)
	}
}

func TestComparisonOfNothing(t *testing.T) {
	points := fake{backend: "mpi", library: "x", world: 2}.sweep(1024, []coll.Collective{coll.AllGather},
		[]coll.Mode{coll.Throughput}, coll.OutOfPlace)
	if figs, passed := Comparison(points, 1<<20); figs != nil || len(passed) != 1 {
		t.Errorf("%v, %v", names(figs), passed)
	}
	alone := fake{backend: "mpi", library: "x", world: 1}.sweep(1024, []coll.Collective{coll.AllReduce},
		[]coll.Mode{coll.Latency}, coll.OutOfPlace)
	figs, _ := Comparison(alone, 1<<20)
	if slices.Contains(names(figs), "allreduce_bandwidth_vs_datasize") || figs[0].Y.Label != "latency (median)" {
		t.Errorf("one rank has no bus bandwidth, and only latency was measured: %v", names(figs))
	}
}
