package main

import (
	"fmt"
	"strings"
	"time"

	"busbar/internal/pattern"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/launch"
	"busbar/rank/screen"
	"busbar/sweeps"
)

// listPattern writes the rounds of a pattern and what they cost, as far as the launcher tells of nodes: their names are
// known to a run only.
func listPattern(b *strings.Builder, cfg *config, s *sweeps.Sweep, backends []string, l mpi.Launch) error {
	if l.Size < 1 || l.LocalSize < 1 {
		return fmt.Errorf("--pattern groups nodes, and no launcher says that there are several with as many ranks each: " +
			"put --list behind the mpirun or srun of the run")
	}
	nodes := make([]launch.RankFacts, l.Size)
	for r := range nodes {
		nodes[r] = launch.RankFacts{Rank: r, Host: fmt.Sprint(r/l.LocalSize + 1)}
	}
	n, err := divide(cfg.pattern, nodes)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "# %s, %s per node; nodes are numbered here in the order of ranks\n", n,
		units.Count(l.LocalSize, "rank"))
	for i, groups := range n.rounds {
		var words []string
		for _, g := range groups {
			words = append(words, n.group(0, g).Members())
		}
		prefix := fmt.Sprintf("# round %d: ", i+1)
		for k, line := range screen.Wrap(strings.Join(words, ", "), 80-len(prefix)) {
			if k > 0 {
				prefix = "#" + strings.Repeat(" ", len(prefix)-1)
			}
			fmt.Fprintln(b, prefix+line)
		}
	}
	var least, most time.Duration
	for _, name := range backends {
		lo, hi, err := listWorld(b, cfg, s, name, n.size())
		if err != nil {
			return err
		}
		least, most = least+lo, most+hi
	}
	rounds := time.Duration(len(n.rounds))
	fmt.Fprintf(b, "# %s of that: %s to %s, and making the groups' worlds; what stands out is measured again\n",
		units.Count(len(n.rounds), "round"), roundTime(rounds*least), roundTime(rounds*most))
	if again := pattern.MostAlone(n.kind); again > 0 {
		fmt.Fprintf(b, "# alone, in up to %s: at most %s more; and in up to %s once more: at most %s\n",
			units.Count(again, "group"), roundTime(time.Duration(again)*most),
			units.Count(pattern.MostRepeated(len(n.rounds)), "round"),
			roundTime(time.Duration(pattern.MostRepeated(len(n.rounds)))*most))
	}
	return nil
}
