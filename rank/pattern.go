package main

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/sweeps"
)

// nodePattern is how --pattern divides this launch, equal on all ranks.
type nodePattern struct {
	kind   string
	hosts  []string // the nodes, in the order of their lowest ranks
	ranks  [][]int  // of the launch, by node
	rounds []pattern.Round
}

// checkPattern refuses what does not go with --pattern, as far as flags say.
func (c *config) checkPattern() error {
	switch {
	case c.pattern == "":
	case len(c.plan.Worlds) > 0:
		return exit.Usagef("--pattern makes worlds of nodes by itself, and --worlds makes others: leave one of them out")
	case c.cycles != 1:
		return exit.Usagef("--pattern measures every group once, and again where it is slow: leave out --run-cycles")
	case c.plan.TimeLimit != nil:
		return exit.Usagef("--pattern compares all groups in one plan, which --time-limit would thin: make cases shorter with --budget; --list shows the rounds")
	case c.GPU.Events:
		return exit.Usagef("--pattern compares the times of the host's clock: leave out --events")
	case c.preflight:
		return exit.Usagef("--preflight measures nothing, --pattern included: leave one of them out")
	}
	return nil
}

// divide makes the pattern of a launch. The error is for who typed the command.
func divide(kind string, ranks []launch.RankFacts) (*nodePattern, error) {
	n := &nodePattern{kind: kind}
	for _, f := range ranks {
		i := slices.Index(n.hosts, f.Host)
		if i < 0 {
			i, n.hosts, n.ranks = len(n.hosts), append(n.hosts, f.Host), append(n.ranks, nil)
		}
		n.ranks[i] = append(n.ranks[i], f.Rank)
	}
	for i, r := range n.ranks {
		if len(r) != len(n.ranks[0]) {
			return nil, exit.Usagef("--pattern wants as many ranks on every node, or times could not be compared: %s has %s, %s has %d",
				n.hosts[0], units.Count(len(n.ranks[0]), "rank"), n.hosts[i], len(r))
		}
	}
	var err error
	if n.rounds, err = pattern.Rounds(kind, len(n.hosts)); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return n, nil
}

// agreeOnPattern is the pattern of this launch, nil without --pattern.
func (j *job) agreeOnPattern(s *sweeps.Sweep) (*nodePattern, error) {
	switch {
	case j.cfg.pattern == "":
		return nil, nil
	case len(s.Worlds) > 0:
		return nil, exit.Usagef("--pattern makes worlds of nodes by itself, and the sweep %s has worlds of its own: take another sweep", sweepName(s))
	}
	return divide(j.cfg.pattern, j.ranks)
}

// members are the ranks of a group of nodes.
func (n *nodePattern) members(group []int) (ranks []int) {
	for _, i := range group {
		ranks = append(ranks, n.ranks[i]...)
	}
	slices.Sort(ranks)
	return ranks
}

// label is a group for a sentence: "node1+node4", "node1 and 15 more nodes".
func (n *nodePattern) label(group []int) string {
	if len(group) == 2 {
		return n.hosts[group[0]] + "+" + n.hosts[group[1]]
	}
	return fmt.Sprintf("%s and %d more nodes", n.hosts[group[0]], len(group)-1)
}

// size is the number of ranks in the world of a group; all have one.
func (n *nodePattern) size() int { return len(n.rounds[0][0]) * len(n.ranks[0]) }

// facts are the pattern's line in the header.
func (n *nodePattern) facts() *result.Pattern {
	if n == nil {
		return nil
	}
	return &result.Pattern{Kind: n.kind, Rounds: len(n.rounds), Hosts: n.hosts}
}

// group is what a record says of the nodes that measured it; round 0 is alone.
func (n *nodePattern) group(round int, nodes []int) *result.Group {
	g := &result.Group{Round: round, RanksPerNode: len(n.ranks[0])}
	for _, i := range nodes {
		g.Hosts = append(g.Hosts, n.hosts[i])
	}
	return g
}

// String is "pairs of 4 nodes: 3 rounds of 2 groups".
func (n *nodePattern) String() string {
	return fmt.Sprintf("%s of %s: %s of %s", n.kind, units.Count(len(n.hosts), "node"), units.Count(len(n.rounds), "round"), units.Count(len(n.rounds[0]), "group"))
}

// nearPattern reads the word of --pattern.
func nearPattern(s string, to *string) error {
	if err := oneOf(s, to, pattern.Kinds...); err != nil {
		return fmt.Errorf("%w (groups of nodes that measure at the same time: %s)", err, strings.Join(pattern.Kinds, ", "))
	}
	return nil
}
