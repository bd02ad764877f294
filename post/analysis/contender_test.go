package analysis

import (
	"fmt"
	"math"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"

	"github.com/shoenig/test"
)

// timed is a row of one backend in one launch.
func timed(backend, launch string, seconds float64, interval bool) result.Row {
	run := &result.Run{ID: backend + launch, Launch: launch, Backend: result.Backend{Name: backend}, World: 2, Nodes: 1,
		RanksPerNode: 2}
	r := &result.Record{N: 1, Status: result.OK, Case: allReduce(1 << 20), Time: &result.Time{Seconds: seconds}}
	if interval {
		r.Time.Lo, r.Time.Hi = seconds*0.99, seconds*1.01
	}
	return result.Row{Run: run, Record: r}
}

func allReduce(size int64) coll.Case {
	return coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 2}.WithSize(size)
}

// The basis of a ratio follows from the launches: the common ones, or else all of each.
func TestRatio(t *testing.T) {
	launches := func(n int, interval bool, launchOfB string) (rows []result.Row) {
		for i := range n {
			common, launch := math.Pow(2, float64(i)/8), fmt.Sprint(i)
			rows = append(rows, timed("a", launch, common, interval),
				timed("b", launchOfB+launch, 3*common+0.1*float64(i), interval))
		}
		return rows
	}
	// Each launch has one side only, but a block has a launch of each.
	var blocks []result.Row
	for i, row := range launches(3, true, "b") {
		row.Run.Campaign, row.Run.Block = "c", fmt.Sprint(i/2)
		blocks = append(blocks, row)
	}
	for name, c := range map[string]struct {
		rows    []result.Row
		basis   stats.Basis
		n       int
		paired  bool
		differs bool
	}{
		"one launch":              {launches(1, true, ""), stats.WithinLaunch, 1, true, true},
		"one launch, no interval": {launches(1, false, ""), stats.NoBounds, 1, true, false},
		"three blocks":            {blocks, stats.LaunchSpread, 3, true, false},
		"three shared":            {launches(3, true, ""), stats.LaunchSpread, 3, true, false},
		"six shared":              {launches(6, false, ""), stats.AcrossLaunches, 6, true, true},
		"one launch of each":      {launches(1, true, "b"), stats.WithinLaunch, 1, false, true},
		"two launches of each":    {launches(2, true, "b"), stats.LaunchSpread, 2, false, false},
		"seven of each":           {launches(7, true, "b"), stats.AcrossLaunches, 7, false, true},
	} {
		all := NewCollector()
		for _, row := range c.rows {
			all.Add(row)
		}
		curves := all.Curves()
		r := Ratio(curves[1], 0, curves[0], 0)
		if r.Basis != c.basis || r.N != c.n || r.Paired != c.paired || r.Differs() != c.differs || r.Value < 2.5 ||
			r.Value > 3.3 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// The cycles of a soak are one launch.
func TestCyclesCountAsOneLaunch(t *testing.T) {
	all := NewCollector()
	for i := range 8 {
		all.Add(timed("mpi", "a", 1+0.01*float64(i), true))
	}
	p := all.Curves()[0].Points[0]
	if e := p.Time; p.Basis != stats.WithinLaunch || p.Launches != nil || math.Abs(e.Value-1.035) > 1e-9 ||
		e.Lo < 1 || e.Lo > 1.02 || e.Hi < 1.05 || e.Hi > 1.07 {
		t.Errorf("%+v", p)
	}
}

// Names are as short as uniqueness permits.
func TestContenderNames(t *testing.T) {
	all := []Contender{
		{Backend: "mpi", Library: "Open MPI 4", Device: "cpu"}, {Backend: "mpi", Library: "MPICH 4", Device: "cpu"},
		{Backend: "gloo", Library: "Gloo", Device: "cpu (A)"}, {Backend: "gloo", Library: "Gloo", Device: "cpu (B)"},
		{Backend: "nccl", Library: "NCCL 2.27", Variant: "ring"},
		{Backend: "nccl", Library: "NCCL 2.27", Variant: "tree"},
		{Backend: "ncclx", Library: "X"},
	}
	name := Names(all)
	for i, want := range []string{"mpi (Open MPI 4)", "mpi (MPICH 4)", "gloo (cpu (A))", "gloo (cpu (B))",
		"nccl (ring)",
		"nccl (tree)", "ncclx"} {
		test.EqOp(t, want, name[all[i]])
	}
}

// Requested library options make another contender: the times are compared but never pooled.
func TestSettingsSeparateTimes(t *testing.T) {
	all := NewCollector()
	for i, method := range []result.Method{{}, {Graph: 20}, {Config: "minCTAs=2"}} {
		row := timed("nccl", fmt.Sprint(i), 1, false)
		row.Run.Method = method
		all.Add(row)
	}
	var got []string
	for _, c := range all.Curves() {
		got = append(got, c.Who)
		test.EqOp(t, 1, len(c.Launches), test.Sprint(c.Who))
	}
	test.SliceEqOp(t, []string{"nccl", "nccl (graphs of 20)", "nccl (minCTAs=2)"}, got)
}

// A time of 0 represents NaN, and has no ratio.
func TestZeroTimeHasNoRatio(t *testing.T) {
	if NewCollector().Add(timed("mpi", "a", 0, false)) {
		t.Error("a time of 0 is on a curve")
	}
}
