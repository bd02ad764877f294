package analysis

import (
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// rowOf is a record of one launch of NCCL on 16 GPUs.
func rowOf(launch string, size int64, seconds float64) result.Row {
	run := &result.Run{ID: launch, Launch: launch, Backend: result.Backend{Name: "nccl", Library: "NCCL"}, World: 16,
		Nodes: 2, RanksPerNode: 8}
	c := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 16}.WithSize(size)
	return result.Row{Run: run, Record: &result.Record{Case: c, Status: result.OK,
		Time: &result.Time{Seconds: seconds, Lo: seconds * 0.99, Hi: seconds * 1.01}}}
}

func TestCurvesOfLaunches(t *testing.T) {
	c := NewCollector()
	add := func(row result.Row, want bool) {
		t.Helper()
		test.EqOp(t, want, c.Add(row), test.Sprint(row.Record))
	}
	for i, launch := range []string{"a", "b", "c"} {
		add(rowOf(launch, 2048, 2+float64(i)), true)
		add(rowOf(launch, 1024, 1), true)
	}
	other := rowOf("a", 1024, 5)
	other.Run.Variant = "tree"
	other.Record.Warnings = notice.Of(
		notice.FromText("two modes: 1 us (50 % of samples) and 9 us (50 %); the median stands for one of them at most"))
	other.Record.Path = &result.Path{Algorithm: "TREE"}
	add(other, true)
	imported := rowOf("log", 1024, 7)
	imported.Run.Imported = &result.Source{Tool: "nccl-tests"}
	add(imported, true)

	wrong := rowOf("a", 4096, 1)
	wrong.Record.Status = result.Wrong
	add(wrong, false)
	group := rowOf("a", 4096, 1)
	group.Record.Group = &result.Group{Hosts: []string{"n1"}}
	add(group, false)
	add(rowOf("a", 4096, 0), false)

	curves := c.Curves()
	var got []string
	for _, curve := range curves {
		got = append(got, curve.Who)
	}
	must.SliceEqOp(t, []string{"nccl, measured by rank", "nccl, measured by nccl-tests", "nccl (tree)"}, got)
	first := curves[0]
	if len(first.Points) != 2 || first.Points[0].SizeBytes != 1024 || len(first.Launches) != 3 {
		t.Fatalf("%+v", first)
	}
	p := first.Points[1]
	if p.Time != (stats.Estimate{Value: 3, Lo: 2, Hi: 4}) || p.Basis != stats.LaunchSpread ||
		!slices.Equal(p.Launches, []float64{2, 3, 4}) {
		t.Errorf("%+v", p)
	}
	test.EqOp(t, 2048./3*30/16, first.BusBW(1))
	if p := curves[2].Points[0]; p.Basis != stats.WithinLaunch || p.Path.Algorithm != "TREE" ||
		p.Warned[Bimodal] != 1 ||
		p.Warned[Drifting] != 0 {
		t.Errorf("%+v", p)
	}
	want := "nccl (tree), all_reduce float32 sum, out-of-place, throughput mode, 16 ranks on 2 nodes"
	test.EqOp(t, want, curves[2].Title())
}
