package plan

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/sweeps"
)

// Pattern is the division of this launch by --pattern, equal on all ranks.
type Pattern struct {
	pattern.Shape
	Hosts  []string // the nodes, in the order of their lowest ranks
	Ranks  [][]int  // of the launch, by node
	Rounds []pattern.Round
}

// Divide makes the pattern of a launch. Its errors are usage errors.
func Divide(kind string, ranks []launch.RankFacts) (*Pattern, error) {
	n := &Pattern{}
	for _, f := range ranks {
		i := slices.Index(n.Hosts, f.Host)
		if i < 0 {
			i, n.Hosts, n.Ranks = len(n.Hosts), append(n.Hosts, f.Host), append(n.Ranks, nil)
		}
		n.Ranks[i] = append(n.Ranks[i], f.Rank)
	}
	for i, r := range n.Ranks {
		slices.SortStableFunc(r, func(a, b int) int { return cmp.Compare(ranks[a].LocalRank, ranks[b].LocalRank) })
		if len(r) != len(n.Ranks[0]) {
			return nil, exit.Usagef("--pattern requires the same number of ranks on every node: "+
				"%s has %s, %s has %d",
				n.Hosts[0], units.Count(len(n.Ranks[0]), "rank"), n.Hosts[i], len(r))
		}
	}
	var err error
	n.Shape = pattern.Shape{Kind: kind, Nodes: len(n.Hosts), Each: len(n.Ranks[0])}
	if n.Rounds, err = n.Shape.Rounds(); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return n, nil
}

// patternOf returns the pattern of a launch, nil without --pattern.
func (o *Options) patternOf(s *sweeps.Sweep, ranks []launch.RankFacts) (*Pattern, error) {
	switch {
	case o.Pattern == "":
		return nil, nil
	case len(s.Worlds) > 0:
		return nil, exit.Usagef("--pattern creates its own worlds, and the sweep %s sets worlds: use another sweep",
			sweepName(s))
	case slices.ContainsFunc(s.Parts, func(p sweeps.Part) bool { return slices.ContainsFunc(p.Groups, divided) }):
		return nil, exit.Usagef("--pattern measures groups of nodes, and the sweep %s sets groups: use another sweep",
			sweepName(s))
	}
	return Divide(o.Pattern, ranks)
}

func divided(d coll.Division) bool { return d != "" }

// Members returns the ranks of a group.
func (n *Pattern) Members(group []int) (ranks []int) {
	for _, i := range group {
		if n.OfGPUs() {
			ranks = append(ranks, n.Ranks[i/n.Each][i%n.Each])
			continue
		}
		ranks = append(ranks, n.Ranks[i]...)
	}
	slices.Sort(ranks)
	return ranks
}

// Label names a group in a sentence: "node1+node4", "node1 and 15 more nodes".
func (n *Pattern) Label(group []int) string {
	if len(group) == 2 {
		return n.Group(0, group).Members()
	}
	return fmt.Sprintf("%s and %d more nodes", n.Hosts[group[0]], len(group)-1)
}

// Size returns the world size of a group; all groups have the same.
func (n *Pattern) Size() int { return len(n.Members(n.Rounds[0][0])) }

// Facts returns the pattern for the header.
func (n *Pattern) Facts() *result.Pattern {
	if n == nil {
		return nil
	}
	of := &result.Pattern{Kind: n.Kind, Rounds: len(n.Rounds), Hosts: n.Hosts}
	if n.OfGPUs() {
		of.RanksPerNode = n.Each
	}
	return of
}

// Group returns the group of a record; round 0 is alone.
func (n *Pattern) Group(round int, nodes []int) *result.Group {
	g := pattern.GroupOf(n.Facts(), round, nodes)
	g.RanksPerNode = cmp.Or(g.RanksPerNode, n.Each)
	return g
}

// String returns for example "pairs of 4 nodes: 3 rounds of 2 groups".
func (n *Pattern) String() string {
	return fmt.Sprintf("%s of %s: %s of %s", n.Kind, units.Count(len(n.Hosts), "node"),
		units.Count(len(n.Rounds), "round"), units.Count(len(n.Rounds[len(n.Rounds)-1]), "group"))
}
