package launch

import (
	"cmp"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/rank/exit"
)

// CheckLaunch detects N one-rank worlds, the result of starting a program with the launcher of another MPI: every
// rank has a world size of 1, and results and files are meaningless. world is MPI's size.
func CheckLaunch(world int, s Started, library string) error {
	if world != 1 || s.Size <= 1 {
		return nil
	}
	remedy := "start it with the mpirun of that MPI, or choose the launcher's own MPI with --mpi"
	slurm, openmpi := strings.Contains(s.Launcher, "srun"), strings.Contains(library, "Open MPI")
	switch {
	case slurm:
		plugin := "pmi2"
		if openmpi {
			plugin = "pmix"
		}
		remedy = "this MPI needs srun --mpi=" + plugin + " (srun --mpi=list shows what this Slurm has), or its own " +
			"mpirun inside the job"
	case openmpi:
		remedy = "start it with Open MPI's mpirun, or run it on the launcher's own MPI with --mpi mpich (make " +
			"mpi-shim builds what that needs)"
	case strings.Contains(s.Launcher, "Open MPI"):
		remedy = "start it with that MPI's own mpirun, or run it on the launcher's own MPI with --mpi openmpi (make " +
			"mpi-shim builds what that needs)"
	}
	return exit.Remedied(remedy, "the launcher (%s) started %d ranks, but MPI (%s) sees a world of 1: these are %d "+
		"one-rank worlds, and nothing was measured",
		cmp.Or(s.Launcher, "unknown"), s.Size, cmp.Or(library, "unknown"), s.Size)
}

// CheckRanks compares what the ranks report of themselves and names those that differ, with what to do. Ranks of
// different builds may speak of different cases; ranks of different libraries measure none of them.
func CheckRanks(ranks []RankFacts) error {
	for _, property := range []struct {
		name, advice string
		of           func(RankFacts) string
	}{
		{"builds of rank", "copy one bin/rank to all hosts", func(r RankFacts) string { return r.Build }},
		{"MPI libraries", "give all hosts the same MPI (check PATH, LD_LIBRARY_PATH and modules there)",
			func(r RankFacts) string { return firstLine(r.MPI) }},
		{"command lines", "start all ranks with the same arguments", func(r RankFacts) string { return r.Command }},
	} {
		if values := Differing(ranks, func(i int) string { return property.of(ranks[i]) }); values != nil {
			return exit.Remedied(property.advice, "the ranks have different %s: %v", property.name, values)
		}
	}
	return nil
}

// Differing are the values that the ranks have, the most frequent first, with who has them; nil if there is one.
func Differing(ranks []RankFacts, of func(i int) string) preflights.RankValues {
	who := map[string][]notice.PlacedRank{}
	for i, r := range ranks {
		who[of(i)] = append(who[of(i)], notice.PlacedRank{Rank: r.Rank, Host: r.Host})
	}
	if len(who) < 2 {
		return nil
	}
	var values preflights.RankValues
	for v, ranks := range who {
		values = append(values, preflights.RankValue{Value: v, Ranks: ranks})
	}
	slices.SortFunc(values, func(a, b preflights.RankValue) int {
		return cmp.Or(cmp.Compare(len(b.Ranks), len(a.Ranks)), cmp.Compare(a.Ranks[0].Rank, b.Ranks[0].Rank))
	})
	return values
}

func firstLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(first)
}

// CompareRanks gathers the ranks' facts and refuses what would make every value meaningless. It returns the facts of
// all ranks on every rank. Collective.
func CompareRanks(c Comm, mine RankFacts) ([]RankFacts, error) {
	facts, err := GatherJSON(c, mine)
	return Share(c, func() ([]RankFacts, error) {
		if err != nil {
			return nil, err
		}
		local := map[string]int{}
		for i := range facts {
			if facts[i].LocalRank < 0 {
				facts[i].LocalRank = local[facts[i].Host]
			}
			local[facts[i].Host]++
		}
		TellHostsApart(facts)
		if err := CheckRanks(facts); err != nil {
			return nil, exit.With(exit.Environment, err)
		}
		return facts, nil
	})
}
