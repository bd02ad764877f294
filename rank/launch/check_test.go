package launch

import (
	"fmt"
	"testing"

	"busbar/rank/exit"

	"github.com/shoenig/test"
)

func TestOneRankWorlds(t *testing.T) {
	for _, c := range []struct {
		world, started    int
		launcher, library string
		want              []string // nil: no error
	}{
		{1, 13, "hydra, the mpirun of MPICH", "Open MPI 4.1.4", []string{"hydra", "13 ranks", "Open MPI 4.1.4",
			"13 one-rank worlds", "--mpi mpich"}},
		{1, 13, "mpirun of Open MPI", "MPICH 4.0.2", []string{"13 ranks", "--mpi openmpi", "MPICH 4.0.2"}},
		{1, 4, "srun", "Open MPI 4.1.4", []string{"4 ranks", "srun --mpi=pmix"}},
		{1, 4, "srun with PMIx", "MPICH 4.0.2", []string{"srun --mpi=pmi2"}},
		{1, 2, "", "", []string{"2 ranks", "unknown"}},
		{1, 2, "a PMIx launcher", "MPICH 4.0.2", []string{"2 ranks", "mpirun of that MPI"}},
		{13, 13, "srun", "MPICH", nil},
		{1, 1, "srun", "MPICH", nil},
		{1, -1, "", "MPICH", nil},
		{4, 8, "mpirun of Open MPI", "Open MPI", nil}, // one of several programs of a launch
	} {
		got := CheckLaunch(c.world, Started{Launcher: c.launcher, Size: c.started}, c.library)
		if (got == nil) != (c.want == nil) {
			t.Errorf("world %d of %d: %v", c.world, c.started, got)
		}
		for _, w := range c.want {
			test.StrContains(t, got.Error(), w, test.Sprint(got))
		}
		if got != nil && exit.FailureOf(got).Parts.Remedy == "" {
			t.Errorf("world %d of %d: no remedy: %v", c.world, c.started, got)
		}
	}
}

func TestCheckRanks(t *testing.T) {
	good := func() []RankFacts {
		var ranks []RankFacts
		for i := range 8 {
			ranks = append(ranks, RankFacts{Rank: i, Host: fmt.Sprintf("node%d", i/4), LocalRank: i % 4, PID: 100 + i%4,
				Build: "b1",
				MPI:   "Open MPI v4.1.4\nmore", Command: `["-b" "8"]`})
		}
		return ranks
	}
	for name, c := range map[string]struct {
		spoil func([]RankFacts)
		want  []string
	}{
		"good":         {func([]RankFacts) {}, nil},
		"second lines": {func(r []RankFacts) { r[3].MPI = "Open MPI v4.1.4\nother" }, nil},
		"build": {func(r []RankFacts) { r[5].Build = "b2" }, []string{"different builds", "rank 5 on node1: b2",
			"2 on node0, 3 on node0 and 3 more: b1", "copy one bin/rank"}},
		"library": {func(r []RankFacts) { r[4].MPI, r[5].MPI = "MPICH 4.0.2", "" },
			[]string{"different MPI", "rank 4 on node1: MPICH 4.0.2", "rank 5 on node1: unknown", "LD_LIBRARY_PATH"}},
		"command":    {func(r []RankFacts) { r[7].Command = `["-b" "16"]` }, []string{"rank 7 on node1", `"16"`}},
		"all differ": {func(r []RankFacts) { spread(r) }, []string{"and 5 more"}},
	} {
		t.Run(name, func(t *testing.T) {
			ranks := good()
			c.spoil(ranks)
			err := CheckRanks(ranks)
			if (err == nil) != (c.want == nil) {
				t.Fatalf("got %v", err)
			}
			for _, w := range c.want {
				test.ErrorContains(t, err, w)
			}
		})
	}
}

func spread(ranks []RankFacts) {
	for i := range ranks {
		ranks[i].Build = fmt.Sprint("b", i)
	}
}
