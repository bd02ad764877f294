package listing

import (
	"fmt"
	"strings"
	"time"

	"busbar/internal/units"
	"busbar/rank/launch"
	"busbar/rank/plan"
)

// pattern writes the rounds of a pattern and what they cost, as far as the launcher tells of nodes: their names are
// known to a run only.
func (l *list) pattern(started launch.Started) error {
	if started.Size < 1 || started.LocalSize < 1 {
		return fmt.Errorf(
			"--pattern groups nodes, and the launcher does not report nodes with the same number of ranks: " +
				"put --list behind the mpirun or srun of the run",
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
	l.printf("# %s, %s per node; nodes are numbered here in the order of ranks\n", n,
		units.Count(started.LocalSize, "rank"))
	for i, groups := range n.Rounds {
		var members []string
		for _, g := range groups {
			members = append(members, n.Group(0, g).Members())
		}
		l.wrapped(fmt.Sprintf("round %d: ", i+1), strings.Join(members, ", "))
	}
	var least, most time.Duration
	for _, name := range l.p.Backends {
		lo, hi, err := l.world(name, n.Size())
		if err != nil {
			return err
		}
		least, most = least+lo, most+hi
	}
	rounds := time.Duration(len(n.Rounds))
	l.printf("# %s of that: %s to %s, and making the groups' worlds; what stands out is measured again\n",
		units.Count(len(n.Rounds), "round"), roundTime(rounds*least), roundTime(rounds*most))
	return nil
}
