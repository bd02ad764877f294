package plot

import (
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// byName are the figures of points.
func byName(points []Point, o Options) map[string]Figure {
	figs, _ := Figures(points, o)
	all := map[string]Figure{}
	for _, f := range figs {
		all[f.Name] = f
	}
	return all
}

func names(figs []Figure) (names []string) {
	for _, f := range figs {
		names = append(names, f.Name)
	}
	return names
}

func labels(f Figure) string {
	var labels []string
	for _, c := range f.Curves {
		labels = append(labels, c.Label)
	}
	return strings.Join(labels, " | ")
}

func caption1(f Figure) string { return strings.Join(f.Caption, " ") }

var allReduce = []coll.Collective{coll.AllReduce}

func TestChartsOfOneSweep(t *testing.T) {
	figs, passed := Figures(quick(4), Options{})
	must.Eq(t, []string{
		"collectives_busbw_mpi_world4", "collectives_time_mpi_world4", "collectives_latency_mpi_world4",
		"all_reduce_busbw", "all_reduce_time", "all_reduce_latency",
	}, names(figs))
	must.Len(t, 1, passed)
	must.StrContains(t, passed[0], "only one world")
	must.Eq(t, "all_reduce | all_gather | reduce_scatter | broadcast | reduce | alltoall | gather | scatter | "+
		"sendrecv | alltoallv",
		labels(figs[0]))
	must.Eq(t, "median | p99 | p90 | max | min", labels(figs[5]))
}

func TestChartsOfCampaign(t *testing.T) {
	figs, passed := Figures(sets()["campaign"], Options{})
	must.SliceEmpty(t, passed)
	all := map[string]Figure{}
	for _, f := range figs {
		all[f.Name] = f
		must.LessEq(t, maxCurves, len(f.Curves))
		must.StrContains(t, caption1(f), "up to 4")
	}
	must.MapLen(t, len(figs), all)
	must.Eq(t, "gloo 2 ranks | gloo 4 ranks | gloo 8 ranks | mpi 2 ranks | mpi 4 ranks | mpi 8 ranks",
		labels(all["all_reduce_busbw_in-place"]))
	must.Len(t, 3, all["scaling_busbw_mpi"].Curves)
	must.StrHasSuffix(t, "min and max: of all together.",
		caption1(byName(slices.Concat(launches(3)...), Options{})["all_reduce_latency"]))
}

// launches are all_reduce of one world.
func launches(n int) (all [][]Point) {
	for launch := range n {
		all = append(all, fake{backend: "mpi", world: 2, launch: launch}.sweep(64, allReduce, both, coll.OutOfPlace))
	}
	return all
}

func TestOptions(t *testing.T) {
	all := byName(quick(4), Options{
		Bandwidths: []Measure{BusBW, AlgBW}, Collectives: []coll.Collective{coll.Gather, coll.Broadcast},
	})
	must.MapContainsKeys(t, all, []string{"collectives_algbw_mpi_world4", "gather_busbw", "broadcast_algbw"})
	must.Eq(t, "broadcast | gather", labels(all["collectives_busbw_mpi_world4"]))
	must.MapEmpty(t, byName(nil, Options{}))
}

func TestOneRankWithoutBusBandwidth(t *testing.T) {
	figs, passed := Figures(fake{backend: "mpi", world: 1}.sweep(64, allReduce, both[:1], coll.OutOfPlace), Options{})
	must.SliceNotContains(t, names(figs), "all_reduce_busbw")
	must.StrContains(t, strings.Join(passed, " "), "all_reduce_busbw")
}

func TestValues(t *testing.T) {
	c := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 4}.WithSize(1 << 20)
	p := Point{Run: fake{backend: "mpi", world: 4}.run(), Case: c}
	p.Time.Seconds, p.Time.Lo, p.Time.Hi = 1e-3, 0.5e-3, 2e-3
	gap, far := p, p
	gap.Case, gap.Time.Seconds = c.WithSize(2<<20), 0
	far.Case = c.WithSize(4 << 20)
	figs, _ := Figures([]Point{far, gap, p}, Options{})
	got := figs[0].Curves[0].Points
	must.Len(t, 2, got)
	for i, megabytes := range []float64{1.048576, 4.194304} {
		must.Eq(t, i == 1, got[i].Gap)
		must.Eq(t, megabytes*1e6, got[i].X)
		for of, y := range map[float64]float64{1: got[i].Y, 0.5: got[i].Lo, 2: got[i].Hi} {
			must.InDelta(t, of*megabytes*1.5, y, 1e-9)
		}
	}
	must.StrContains(t, caption1(figs[0]), "Gaps in a line")
}

// A launch with another method has other plots.
func TestPlotPerMethod(t *testing.T) {
	two := []coll.Collective{coll.AllReduce, coll.AllGather}
	for overview, edit := range map[string]func(*result.Run){
		"_mpi_world4_rotating-over-64-mib": func(r *result.Run) { r.Method.Rotate = 64 << 20 },
		"_mpi_world4_issued-by-4":          func(r *result.Run) { r.Method.Aggregate = 4 },
		"_mpi_open-mpi-4.1.5_world4":       func(r *result.Run) { r.Backend.Version = "4.1.5" },
		"_mpi_world4":                      func(r *result.Run) { r.Method.Aggregate = 1 },
	} {
		var points []Point
		for _, world := range []int{2, 4} {
			f := fake{backend: "mpi", library: "Open MPI", world: world}
			for f.launch = range 2 {
				f.edit = func(r *result.Run) {
					if r.Backend.Version = "4.1.4"; f.launch == 1 {
						edit(r)
					}
				}
				points = append(points, f.sweep(64<<10, two, both, coll.OutOfPlace)...)
			}
		}
		all := byName(points, Options{})
		must.MapContainsKeys(t, all,
			[]string{"collectives_busbw" + overview, "scaling_busbw" + strings.ReplaceAll(overview, "_world4", "")})
		must.MapNotContainsKey(t, all, "collectives_busbw_mpi_world4_2")
	}
}

// Defaults are named if there is nothing else.
func TestLabelsOfMethods(t *testing.T) {
	way := func(aggregate int, average string, rotate int64) key {
		return key{Condition: analysis.Condition{Aggregate: aggregate, Average: average, Rotate: rotate}}
	}
	of := func(backend, settings string, placement coll.Placement, rotate int64) key {
		who := analysis.Contender{Backend: backend, Settings: settings}
		return key{who, analysis.Condition{Case: coll.Case{Placement: placement}, Rotate: rotate}}
	}
	for want, keys := range map[string][]key{
		"warm caches | warm caches issued by 4 | warm caches mean over ranks | rotating over 1 KiB": {
			way(1, "max over ranks", 0), way(4, "max over ranks", 0), way(1, "mean over ranks", 0),
			way(1, "max over ranks", 1024),
		},
		"default settings | graphs of 20": {{}, of("", "graphs of 20", 0, 0)},
		"gloo | mpi in-place | nccl graphs of 20": {
			of("gloo", "", coll.OutOfPlace, 0), of("mpi", "", coll.InPlace, 0),
			of("nccl", "graphs of 20", coll.OutOfPlace, 0),
		},
		"gloo | mpi | mpi rotating over 1 KiB": {of("gloo", "", 0, 0), of("mpi", "", 0, 0), of("mpi", "", 0, 1024)},
	} {
		must.Eq(t, want, strings.Join(name(keys), " | "))
	}
}

// The nodes are those of the group, and of its world.
func TestNodesOfGroup(t *testing.T) {
	p := Point{Run: &result.Run{World: 8, Nodes: 2, RanksPerNode: 4}, nodes: 1, perNode: 4}
	for want, g := range map[string]coll.Groups{
		"1 node": {}, "1 node of 8 on 2 nodes": {Division: "2:contiguous", Number: 1},
	} {
		p.Case.Groups = g
		must.Eq(t, want, shapeOf(p.key()))
	}
}

func TestSubtitleUnusualMethod(t *testing.T) {
	f := fake{backend: "mpi", world: 4, edit: func(r *result.Run) {
		r.Method = result.Method{Rotate: 1 << 30, Aggregate: 8, Average: "mean over ranks"}
	}}
	figs, _ := Figures(f.sweep(1024, allReduce, both, coll.OutOfPlace), Options{})
	must.StrContains(t, strings.Join(figs[0].Subtitle, " · "), "rotating over 1 GiB · issued by 8 · mean over ranks")
}

// A missing percentile is not 0, and a launch with many cycles counts as much as one with few.
func TestCells(t *testing.T) {
	at := func(launch int, seconds, p90 float64) Point {
		p := Point{Run: fake{launch: launch}.run()}
		p.Time = result.Time{Seconds: seconds, P90: p90, Min: seconds / 2, Max: seconds * 2}
		return p
	}
	must.Eq(t, cell{n: 3, launches: 1, s: 2, lo: 1, hi: 3, min: 0.5, p90: 3.5, max: 6},
		newCell([]Point{at(0, 1, 3), at(0, 2, 0), at(0, 3, 4)}))
	must.Eq(t, cell{n: 3, launches: 3, s: 4, lo: 1, hi: 7, min: 0.5, max: 18},
		newCell([]Point{at(0, 1, 0), at(0, 1, 0), at(1, 4, 0), at(2, 9, 0), at(2, 5, 0), at(2, 7, 0)}))
}

func TestCaption(t *testing.T) {
	one, bare := cell{n: 1, launches: 1, s: 2, lo: 1, hi: 3}, cell{n: 1, launches: 1, s: 2, lo: 2, hi: 2}
	many := cell{n: 3, launches: 3, s: 2, lo: 1, hi: 3}
	for _, c := range []struct {
		cells []cell
		want  []string // words that only this caption has
	}{
		{[]cell{bare}, []string{"No interval"}},
		{[]cell{one, bare}, []string{"CI"}},
		{[]cell{many, bare}, []string{"up to 3", "range"}},
		{[]cell{many, one}, []string{"CI", "up to 3", "range"}},
	} {
		got := strings.Join(caption([]series{{cells: c.cells}}), " ")
		for _, word := range []string{"No interval", "CI", "up to 3", "range"} {
			must.Eq(t, slices.Contains(c.want, word), strings.Contains(got, word), must.Sprint(got))
		}
	}
	runs := []*result.Run{{Launch: "a"}, {Launch: "b"}}
	must.StrContains(t, strings.Join(caption([]series{{runs: runs, cells: []cell{bare}}}), " "), "Not every point")
}

func TestCommonSize(t *testing.T) {
	world := func(n int, sizes ...int64) (s series) {
		s.World = n
		for _, size := range sizes {
			c := coll.Case{Collective: coll.AllGather, Type: coll.Float32, World: n}.WithSize(size)
			s.cells = append(s.cells, cell{of: c, n: 1, s: 1})
		}
		return s
	}
	got := common([]series{world(2, 1<<10, 1<<20, 1<<22), world(6, 1<<10, 1<<20), world(8, 1<<9, 1<<20)}, true)
	must.Len(t, 3, got)
	must.Eq(t, 1<<20, got[0].of.SizeBytes)
	must.Eq(t, 1048512, got[1].of.SizeBytes)
}

// Imported points without a type get their own plots.
func TestNamesWithoutType(t *testing.T) {
	points := quick(2)
	for _, p := range quick(2) {
		p.Case.Type = 0
		points = append(points, p)
	}
	all := byName(points, Options{})
	must.MapContainsKeys(t, all, []string{"all_reduce_busbw", "all_reduce_busbw_float32"})
	must.MapNotContainsKey(t, all, "all_reduce_busbw_2")
}
