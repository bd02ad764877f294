package plot

import (
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// measuredBy is all_reduce of one backend in some worlds; those of more than 4 ranks are oversubscribed.
func measuredBy(backend string, rehearsed bool, worlds ...int) (points []Point) {
	for _, w := range worlds {
		f := fake{backend: backend, library: backend + " 1", world: w, rehearsed: rehearsed, edit: func(r *result.Run) {
			if w > 4 {
				r.Warnings = notice.Of(notice.FromText("oversubscribed: too few cores"))
			}
		}}
		two := []coll.Collective{coll.AllReduce, coll.AllGather}
		points = append(points, f.sweep(64<<20, two, both, coll.OutOfPlace)...)
	}
	return points
}

func TestComparison(t *testing.T) {
	figs, passed := Comparison(append(measuredBy("gloo", false, 2, 4, 6), measuredBy("nccl-rehearsal", true, 2, 4)...),
		100<<20)
	must.Eq(t, []string{
		"allreduce_time_vs_datasize", "allreduce_bandwidth_vs_datasize", "allreduce_backend_comparison_100mb",
	}, names(figs))
	must.SliceEmpty(t, passed)
	for _, f := range figs {
		must.True(t, f.Rehearsed)
		must.StrContains(t, caption1(f), "oversubscribed")
	}
	must.Eq(t, "gloo 2 ranks | gloo 4 ranks | gloo 6 ranks | nccl-rehearsal 2 ranks | nccl-rehearsal 4 ranks",
		labels(figs[0]))
	side := figs[2]
	must.Eq(t, "gloo | nccl-rehearsal", labels(side))
	must.Len(t, 3, side.Curves[0].Points)
	must.Eq(t, 4, side.Curves[1].Points[1].X)
	must.StrContains(t, side.Title, "64 MiB")
	must.StrContains(t, caption1(side), "nearest to 100 MiB")
}

// Too many curves for one plot are split by the world.
func TestComparisonOfManyWorlds(t *testing.T) {
	points := append(measuredBy("gloo", false, 2, 4, 6, 8, 16, 32), measuredBy("mpi", false, 2, 4, 6, 8, 16, 32)...)
	figs, _ := Comparison(points, 1<<20)
	must.Len(t, 13, figs)
	must.Len(t, 2, figs[0].Curves)
	must.Eq(t, "allreduce_time_vs_datasize_2-ranks", figs[0].Name)
	must.Len(t, 6, figs[12].Curves[0].Points)
}

func TestSideBySideMissing(t *testing.T) {
	small := fake{backend: "nccl", world: 2}.sweep(1<<20, allReduce, both[:1], coll.OutOfPlace)
	figs, passed := Comparison(append(measuredBy("gloo", false, 2, 4), small...), 64<<20)
	must.Len(t, 1, figs[2].Curves)
	must.Len(t, 1, passed)
	must.StrContains(t, passed[0], "nccl")
}

// A curve over worlds has each world once.
func TestSideBySideLayouts(t *testing.T) {
	spread := fake{backend: "gloo", library: "gloo 1", world: 4, launch: 1, edit: func(r *result.Run) {
		r.Nodes, r.RanksPerNode = 2, 2
	}}
	figs, _ := Comparison(append(measuredBy("gloo", false, 2, 4),
		spread.sweep(64<<20, allReduce, both[:1], coll.OutOfPlace)...), 64<<20)
	must.Len(t, 1, figs[2].Curves)
	must.Len(t, 2, figs[2].Curves[0].Points)
	must.SliceContains(t, figs[2].Caption, fewestNodes)
}

func TestComparisonFallback(t *testing.T) {
	gathered := fake{backend: "mpi", world: 2}.sweep(1024, []coll.Collective{coll.AllGather}, both[:1], coll.OutOfPlace)
	figs, passed := Comparison(gathered, 1<<20)
	must.SliceEmpty(t, figs)
	must.Len(t, 1, passed)
	figs, _ = Comparison(fake{backend: "mpi", world: 1}.sweep(1024, allReduce, both[1:], coll.OutOfPlace), 1<<20)
	must.SliceNotContains(t, names(figs), "allreduce_bandwidth_vs_datasize")
	must.Eq(t, "latency (median)", figs[0].Y.Label)
}
