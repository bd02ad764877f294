package analysis

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
)

// launchOf makes the run of one backend in one launch; what it took is added to m.
func launchOf(m *Measurements, backend, launch string, seconds float64, interval bool) *result.Run {
	run := &result.Run{ID: backend + launch, Launch: launch, Backend: result.Backend{Name: backend}, World: 2, Nodes: 1,
		RanksPerNode: 2}
	r := &result.Record{N: 1, Status: result.OK, Case: allReduce(1 << 20), Time: &result.Time{Seconds: seconds}}
	if interval {
		r.Time.Lo, r.Time.Hi = seconds*0.99, seconds*1.01
	}
	m.Add(run, r)
	return run
}

func allReduce(size int64) coll.Case {
	return coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.OutOfPlace,
		Mode: coll.Throughput, World: 2}.WithSize(size)
}

// What a ratio stands on follows from the launches: those that both sides share, or else all of each.
func TestRatioOfCells(t *testing.T) {
	shared := func(n int, interval bool) func(*Measurements) {
		return func(m *Measurements) {
			for i := range n {
				launch := string(rune('a' + i))
				common := math.Pow(2, float64(i))
				launchOf(m, "mpi", launch, common, interval)
				launchOf(m, "gloo", launch, 3*common+0.1*float64(i), interval)
			}
		}
	}
	apart := func(n int) func(*Measurements) {
		return func(m *Measurements) {
			for i := range n {
				launchOf(m, "mpi", string(rune('a'+i)), 1+0.1*float64(i), true)
				launchOf(m, "gloo", string(rune('A'+i)), 3+0.1*float64(i), true)
			}
		}
	}
	// Each launch has one side only, but a block has a launch of either; one of them was interrupted and went on.
	blocks := func(m *Measurements) {
		for i := range 3 {
			for side, backend := range []string{"mpi", "gloo"} {
				seconds := float64(1 + 2*side)
				run := launchOf(NewMeasurements(), backend, backend+string(rune('a'+i)), seconds, true)
				run.Campaign, run.Block = "c", string(rune('a'+i))
				for part := range int64(2) {
					run.Launch += "again"
					time := &result.Time{Seconds: seconds * math.Pow(2, float64(i))}
					m.Add(run, &result.Record{N: 1, Status: result.OK, Case: allReduce(1 << (20 - part)), Time: time})
				}
			}
		}
	}
	for name, c := range map[string]struct {
		fill    func(*Measurements)
		basis   stats.Basis
		n       int
		paired  bool
		words   string
		differs bool
	}{
		"one launch": {shared(1, true), stats.WithinLaunch, 1, true,
			"2.96 to 3.04", true},
		"one launch, no interval": {shared(1, false), stats.NoBounds, 1, true, "", false},
		"three blocks":            {blocks, stats.LaunchSpread, 3, true, "3.00 to 3.00", false},
		"three shared": {shared(3, true), stats.LaunchSpread, 3, true, "3.00 to 3.05",
			false},
		"six shared": {shared(6, false), stats.AcrossLaunches, 6, true,
			"3.01 to 3.05", true},
		"one launch of each": {apart(1), stats.WithinLaunch, 1, false,
			"2.96 to 3.04", true},
		"two launches of each": {apart(2), stats.LaunchSpread, 2, false, "2.73 to 3.10",
			false},
		"seven launches of each": {apart(7), stats.AcrossLaunches, 7, false, "", true},
		"shared ones and one more": {func(m *Measurements) {
			shared(1, true)(m)
			launchOf(m, "mpi", "z", 100, true)
		}, stats.WithinLaunch, 1, true, "", true},
	} {
		m := NewMeasurements()
		c.fill(m)
		under := Condition{Case: allReduce(1 << 20), Nodes: 1, PerNode: 2, Aggregate: 1}
		r := Ratio(m.Cells[m.Contenders[1]][under], m.Cells[m.Contenders[0]][under])
		if r.Basis != c.basis || r.N != c.n || r.Paired != c.paired || r.Differs() != c.differs || r.Value < 2.5 ||
			r.Value > 3.1 {
			t.Errorf("%s: %+v", name, r)
		}
		if c.words != "" && fmt.Sprintf("%.2f to %.2f", r.Lo, r.Hi) != c.words {
			t.Errorf("%s: %.2f to %.2f, want %q", name, r.Lo, r.Hi, c.words)
		}
	}
}

// The cycles of a soak are one launch.
func TestCyclesAreOneLaunch(t *testing.T) {
	m := NewMeasurements()
	run := launchOf(m, "mpi", "a", 1, true)
	for i := range 7 {
		m.Add(run, &result.Record{N: 2 + i, Cycle: 2 + i, Status: result.OK, Case: allReduce(1 << 20),
			Time: &result.Time{Seconds: 1 + 0.01*float64(i)}})
	}
	c := m.Cells[m.Contenders[0]][Condition{Case: allReduce(1 << 20), Nodes: 1, PerNode: 2, Aggregate: 1}]
	e, basis := c.Over()
	if basis != stats.WithinLaunch || e.Value < 1.02 || e.Value > 1.03 || e.Lo < 1 || e.Lo > 1.01 || e.Hi < 1.05 ||
		e.Hi > 1.06 {
		t.Errorf("%+v, basis %d", e, basis)
	}
}

// As few words as tell contenders apart.
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
		if name[all[i]] != want {
			t.Errorf("%q, want %q", name[all[i]], want)
		}
	}
}

// What the library was asked for makes another contender: times of both are compared, and never put together.
func TestSettingsKeepTimesApart(t *testing.T) {
	m := NewMeasurements()
	for i, method := range []result.Method{{}, {Graph: 20}, {Config: "minCTAs=2"}} {
		run := &result.Run{Launch: string(rune('a' + i)), Backend: result.Backend{Name: "nccl"}, Method: method,
			World: 2}
		m.Add(run, &result.Record{N: 1, Status: result.OK, Case: allReduce(1 << 20), Time: &result.Time{Seconds: 1}})
	}
	name := Names(m.Contenders)
	var got []string
	for _, who := range m.Contenders {
		got = append(got, name[who])
		for _, c := range m.Cells[who] {
			if len(c.Launches) != 1 {
				t.Errorf("%s: %d launches in one cell", name[who], len(c.Launches))
			}
		}
	}
	if want := []string{"nccl", "nccl (graphs of 20)", "nccl (minCTAs=2)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A time of 0 stands for one that was no number, and no ratio is made of it.
func TestNoTimeOfZero(t *testing.T) {
	m := NewMeasurements()
	if launchOf(m, "mpi", "a", 0, false); len(m.Contenders) != 0 {
		t.Errorf("%+v", m.Contenders)
	}
}
