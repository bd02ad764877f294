package listing

import (
	"fmt"
	"strings"
	"time"

	"busbar/internal/units"
	"busbar/rank/launch"
	"busbar/rank/plan"
)

// pattern writes the rounds of a pattern and their time. Nodes have numbers: only a run knows their names.
func (l *list) pattern(started launch.Started) error {
	if started.Size < 1 || started.LocalSize < 1 {
		return fmt.Errorf(
			"--pattern requires a launcher that reports the same number of ranks on each node: " +
				"start --list with the mpirun or srun of the run",
		)
	}
	nodes := make([]launch.RankFacts, started.Size)
	for r := range nodes {
		nodes[r] = launch.RankFacts{Rank: r, Host: fmt.Sprint(r/started.LocalSize + 1)}
	}
	n, err := plan.Divide(l.p.Options.Pattern, nodes)
	if err != nil {
		return err
	}
	l.printf("# %s, %s per node; nodes are numbered in rank order\n", n,
		units.Count(started.LocalSize, "rank"))
	for i, groups := range n.Rounds {
		var members []string
		for _, g := range groups {
			members = append(members, n.Group(0, g).Members())
		}
		l.wrapped(fmt.Sprintf("round %d: ", i+1), strings.Join(members, ", "))
	}
	var shortest, longest time.Duration
	for _, name := range l.p.Backends {
		lo, hi, err := l.world(name, n.Size())
		if err != nil {
			return err
		}
		shortest, longest = shortest+lo, longest+hi
	}
	rounds := time.Duration(len(n.Rounds))
	l.printf("# %s: %s to %s, plus the setup of the groups' worlds and retries of outliers\n",
		units.Count(len(n.Rounds), "round"), roundTime(rounds*shortest), roundTime(rounds*longest))
	return nil
}
