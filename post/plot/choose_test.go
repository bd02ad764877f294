package plot

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/post/analysis"
)

func names(figs []Figure) []string {
	var n []string
	for _, f := range figs {
		n = append(n, f.Name)
	}
	return n
}

func labels(t *testing.T, figs []Figure, name string) []string {
	t.Helper()
	i := slices.IndexFunc(figs, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no figure %s among %v", name, names(figs))
	}
	var l []string
	for _, c := range figs[i].Curves {
		l = append(l, c.Label)
	}
	return l
}

func TestFiguresOfAPlainSweep(t *testing.T) {
	figs, passed := Figures(quick(4), Options{})
	want := []string{"collectives_busbw_mpi_world4", "collectives_time_mpi_world4", "collectives_latency_mpi_world4",
		"all_reduce_busbw", "all_reduce_time", "all_reduce_latency"}
	if got := names(figs); !slices.Equal(got, want) {
		t.Errorf("figures are %v, want %v", got, want)
	}
	if len(passed) != 1 || !strings.Contains(passed[0], "only one world (4 ranks)") {
		t.Errorf("passed over: %q", passed)
	}
	if got := labels(t, figs, "collectives_busbw_mpi_world4"); len(got) != 9 || got[0] != "all_reduce" ||
		got[8] != "sendrecv" {
		t.Errorf("labels are %v", got)
	}
	if got := labels(t, figs, "all_reduce_latency"); !slices.Equal(
		got,
		[]string{"median", "p99", "p90", "max", "min"},
	) {
		t.Errorf("labels of the distribution are %v", got)
	}
}

func TestFiguresOfACampaign(t *testing.T) {
	figs, passed := Figures(sets()["campaign"], Options{})
	if len(passed) != 0 {
		t.Errorf("passed over: %v", passed)
	}
	want := []string{"gloo 2 ranks", "gloo 4 ranks", "gloo 8 ranks", "mpi 2 ranks", "mpi 4 ranks", "mpi 8 ranks"}
	if got := labels(t, figs, "all_reduce_busbw_in-place"); !slices.Equal(got, want) {
		t.Errorf("labels are %v, want %v", got, want)
	}
	if got := labels(t, figs, "scaling_busbw_mpi"); len(got) != 3 {
		t.Errorf("labels are %v", got)
	}
	for _, f := range figs {
		if len(f.Curves) > maxCurves {
			t.Errorf("%s has %d curves", f.Name, len(f.Curves))
		}
		if !strings.Contains(strings.Join(f.Caption, " "), "up to 4") {
			t.Errorf("%s: caption %q does not say what the bands are", f.Name, f.Caption)
		}
	}
	if n := names(figs); len(slices.Compact(slices.Sorted(slices.Values(n)))) != len(n) {
		t.Errorf("two figures of one name: %v", n)
	}
}

func TestOptions(t *testing.T) {
	figs, _ := Figures(
		quick(4),
		Options{Bandwidths: []Measure{BusBW, AlgBW}, Collectives: []coll.Collective{coll.Gather,
			coll.Broadcast}},
	)
	for _, want := range []string{"collectives_algbw_mpi_world4", "gather_busbw", "broadcast_algbw"} {
		if !slices.Contains(names(figs), want) {
			t.Errorf("no %s among %v", want, names(figs))
		}
	}
	if got := labels(t, figs, "collectives_busbw_mpi_world4"); !slices.Equal(got, []string{"broadcast", "gather"}) {
		t.Errorf("labels are %v", got)
	}
	if figs, _ := Figures(nil, Options{}); figs != nil {
		t.Error("figures of nothing")
	}
}

// A world of one rank has no bus bandwidth: that is said, not drawn as 0.
func TestOneRank(t *testing.T) {
	figs, passed := Figures(fake{backend: "mpi", world: 1}.sweep(64, []coll.Collective{coll.AllReduce}, both[:1],
		coll.OutOfPlace), Options{})
	if slices.Contains(names(figs), "all_reduce_busbw") || !strings.Contains(strings.Join(passed, " "),
		"all_reduce_busbw") {
		t.Errorf("figures %v, passed over %v", names(figs), passed)
	}
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
	want := []XY{
		{X: 1 << 20, Y: 1.048576 * 1.5, Lo: 1.048576 * 1.5 / 2, Hi: 1.048576 * 1.5 * 2},
		{X: 4 << 20, Y: 4.194304 * 1.5, Lo: 4.194304 * 1.5 / 2, Hi: 4.194304 * 1.5 * 2, Gap: true},
	}
	if len(got) != 2 || !near(got[0], want[0]) || !near(got[1], want[1]) {
		t.Errorf("busbw is %v, want %v", got, want)
	}
	if !strings.Contains(strings.Join(figs[0].Caption, " "), "Gaps in a line") {
		t.Errorf("caption %q does not mention the gap", figs[0].Caption)
	}
}

func near(a, b XY) bool {
	close := func(x, y float64) bool { return x/y > 1-1e-9 && x/y < 1+1e-9 }
	return a.X == b.X && a.Gap == b.Gap && close(a.Y, b.Y) && close(a.Lo, b.Lo) && close(a.Hi, b.Hi)
}

// In a picture of one distribution, min and max are over launches what they say, and no medians.
func TestLaunchesOfADistribution(t *testing.T) {
	var points []Point
	for launch := range 3 {
		points = append(
			points,
			fake{backend: "mpi", world: 2, launch: launch}.sweep(64, []coll.Collective{coll.AllReduce},
				both, coll.OutOfPlace)...)
	}
	figs, _ := Figures(points, Options{})
	f := figs[slices.Index(names(figs), "all_reduce_latency")]
	if got := strings.Join(f.Caption, " "); !strings.Contains(got, "up to 3") ||
		!strings.HasSuffix(got, "min and max: of all together.") {
		t.Errorf("caption %q", got)
	}
}

// Figures that were taken in another way are other curves, with the difference as their labels; alike, they are one.
func TestMethodsApart(t *testing.T) {
	two := []coll.Collective{coll.AllReduce, coll.AllGather}
	for _, c := range []struct {
		name             string
		edit             func(*result.Run)
		labels, overview string // overview: the name of the second, if it is a picture of its own
		latency          int    // curves of latency mode; one is drawn as five
	}{
		{"rotate", func(r *result.Run) {
			r.Method.Rotate = 64 << 20
		}, "warm caches | rotating over 64 MiB", "collectives_busbw_mpi_world4_rotating-over-64-mib", 2},
		{"aggregate", func(r *result.Run) { r.Method.Aggregate = 4 }, "issued alone | issued by 4",
			"collectives_busbw_mpi_world4_issued-by-4", 2},
		{"average", func(r *result.Run) { r.Method.Average = "rank 0" }, "max over ranks | rank 0", "", 5},
		{"version", func(r *result.Run) {
			r.Backend.Version = "4.1.5"
		}, "Open MPI 4.1.4 | Open MPI 4.1.5", "collectives_busbw_mpi_open-mpi-4.1.5_world4", 2},
		{"nothing", func(r *result.Run) { r.Method.Aggregate = 1 }, "all_reduce", "", 5},
	} {
		var points []Point
		for _, world := range []int{2, 4} {
			f := fake{backend: "mpi", library: "Open MPI", world: world, edit: func(r *result.Run) {
				r.Backend.Version = "4.1.4"
			}}
			points = append(points, f.sweep(64<<10, two, both, coll.OutOfPlace)...)
			f.launch, f.edit = 1, func(r *result.Run) { r.Backend.Version = "4.1.4"; c.edit(r) }
			points = append(points, f.sweep(64<<10, two, both, coll.OutOfPlace)...)
		}
		figs, _ := Figures(points, Options{})
		if c.overview != "" && !slices.Contains(names(figs), c.overview) {
			t.Errorf("%s: no %s among %v", c.name, c.overview, names(figs))
		}
		if scaling := strings.NewReplacer("collectives", "scaling", "_world4",
			"").Replace(c.overview); c.overview != "" &&
			!slices.Contains(names(figs), scaling) {
			t.Errorf("%s: no %s among %v", c.name, scaling, names(figs))
		}
		four, _ := Figures(slices.DeleteFunc(points, func(p Point) bool {
			return p.Case.World == 2
		}), Options{Collectives: two[:1]})
		if got := strings.Join(labels(t, four, "all_reduce_busbw"), " | "); got != c.labels {
			t.Errorf("%s: labels are %s", c.name, got)
		}
		if got := labels(t, four, "all_reduce_latency"); len(got) != c.latency {
			t.Errorf("%s: labels of latency mode are %v", c.name, got)
		}
		for _, f := range figs {
			if strings.HasSuffix(f.Name, "_2") {
				t.Errorf("%s: a second figure is called %s", c.name, f.Name)
			}
		}
	}
}

// What is usual is said where nothing else is.
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
			of("gloo", "", coll.OutOfPlace, 0), of("mpi", "", coll.InPlace, 0), of("nccl", "graphs of 20", coll.OutOfPlace, 0),
		},
		"gloo | mpi | mpi rotating over 1 KiB": {of("gloo", "", 0, 0), of("mpi", "", 0, 0), of("mpi", "", 0, 1024)},
	} {
		if got := strings.Join(name(keys), " | "); got != want {
			t.Errorf("labels are %s, want %s", got, want)
		}
	}
}

// What holds for all curves of a picture stands under its title, if it is not the usual.
func TestUnusualMethodIsSaid(t *testing.T) {
	f := fake{backend: "mpi", library: "Open MPI 4.1.4", world: 4, edit: func(r *result.Run) {
		r.Method = result.Method{Rotate: 1 << 30, Aggregate: 8, Average: "mean over ranks"}
	}}
	figs, _ := Figures(f.sweep(1024, []coll.Collective{coll.AllReduce}, both, coll.OutOfPlace), Options{})
	if got := strings.Join(figs[0].Subtitle, " · "); !strings.Contains(got,
		"rotating over 1 GiB · issued by 8 · mean over ranks") {
		t.Errorf("subtitle is %s", got)
	}
}

// A percentile that a launch does not claim is no 0.
func TestUnclaimedPercentiles(t *testing.T) {
	at := func(seconds, p90, p99 float64) Point {
		p := Point{Run: fake{backend: "mpi", world: 2}.run()}
		p.Time.Seconds, p.Time.P90, p.Time.P99, p.Time.Min, p.Time.Max = seconds, p90, p99, seconds/2, seconds*2
		return p
	}
	got := newCell([]Point{at(1, 3, 0), at(2, 0, 0), at(3, 4, 0)})
	if want := (cell{n: 3, launches: 1, s: 2, lo: 1, hi: 3, min: 0.5, p90: 3.5, max: 6}); got != want {
		t.Errorf("the cell is %+v, want %+v", got, want)
	}
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
			if strings.Contains(got, word) != slices.Contains(c.want, word) {
				t.Errorf("%+v: %s", c.cells, got)
			}
		}
	}
}

// A launch with many cycles counts as much as one with few.
func TestLaunchesOfCycles(t *testing.T) {
	var points []Point
	for launch, cycles := range [][]float64{{1, 1, 1, 1, 1}, {4}, {9, 5, 7}} {
		run := fake{launch: launch}.run()
		for _, s := range cycles {
			points = append(points, Point{Run: run, Time: result.Time{Seconds: s}})
		}
	}
	if c := newCell(points); c.s != 4 || c.lo != 1 || c.hi != 7 || c.n != 3 || c.launches != 3 {
		t.Errorf("%+v", c)
	}
}

func TestCommonSize(t *testing.T) {
	world := func(n int, sizes ...int64) series {
		s := series{}
		s.World = n
		for _, size := range sizes {
			c := coll.Case{Collective: coll.AllGather, Type: coll.Float32, World: n}.WithSize(size)
			s.cells = append(s.cells, cell{of: c, n: 1, s: 1})
		}
		return s
	}
	got := common([]series{world(2, 1<<10, 1<<20, 1<<22), world(6, 1<<10, 1<<20), world(8, 1<<9, 1<<20)}, true)
	if len(got) != 3 || got[0].of.SizeBytes != 1<<20 || got[1].of.SizeBytes != 1048512 {
		t.Errorf("the largest common size is %v", got)
	}
}

// Every picture of a world whose ranks shared cores says so.
func TestOversubscribedPictures(t *testing.T) {
	figs, _ := Figures(append(measuredBy("gloo", false, 2, 6), measuredBy("mpi", false, 6)...), Options{})
	for _, f := range figs {
		if strings.Contains(f.Name, "world2") {
			continue
		}
		caption := strings.Join(f.Caption, " ")
		if !strings.Contains(caption, "oversubscribed") {
			t.Errorf("%s: %s", f.Name, caption)
		}
	}
}

// A line along points of several launches is said to be one.
func TestLineAlongLaunches(t *testing.T) {
	points := fake{backend: "mpi", world: 2}.sweep(1<<10, []coll.Collective{coll.AllReduce}, both[:1], coll.OutOfPlace)
	for i := range points {
		if points[i].Case.SizeBytes > 64 {
			points[i].Run = fake{backend: "mpi", world: 2, launch: 1}.run()
		}
	}
	figs, _ := Figures(points, Options{})
	if got := figs[0].Caption[len(figs[0].Caption)-1]; got != "Not every point is of the same launches." {
		t.Errorf("%q", figs[0].Caption)
	}
}

// Beside points of a type those of which another tool's file tells none have pictures whose names make none up.
func TestNamesOfUntoldTypes(t *testing.T) {
	points := append(quick(2), quick(4)...)
	for _, p := range quick(2) {
		p.Case.Type = 0
		points = append(points, p)
	}
	figs, _ := Figures(points, Options{})
	names := map[string]bool{}
	for _, f := range figs {
		if strings.Contains(f.Name, "datatype") || names[f.Name] {
			t.Errorf("a picture is called %s; twice: %v", f.Name, names[f.Name])
		}
		names[f.Name] = true
	}
	if !names["all_reduce_busbw"] || !names["all_reduce_busbw_float32"] {
		t.Errorf("%v", names)
	}
}
